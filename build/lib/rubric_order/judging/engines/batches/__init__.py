"""Requests by the Batch API of an endpoint: the engine, its calls, the form of its files, and what results say."""
