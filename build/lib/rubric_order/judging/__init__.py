"""Asking the judges: the loop of a shard, the response store, devices, engines."""
