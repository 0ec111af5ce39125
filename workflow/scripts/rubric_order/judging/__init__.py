"""Code that asks the judges: the loop over a shard's requests, the response store, devices, engines."""
