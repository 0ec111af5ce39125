"""Requests over the Batch API of an endpoint: the engine, calls, the form of files, and responses from results."""
