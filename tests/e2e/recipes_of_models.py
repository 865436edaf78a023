"""Recipes that say for the text for one device what the annotations of a model of tests/models say."""
DDP = {"mesh": {"data": 4}, "batch": "data"}
TENSOR_MESH = {"mesh": {"data": 2, "model": 2}, "batch": "data"}
TENSOR = [
    {"tensor": "params*['wqkv']", "sharding": [None, None, "model", None]},
    {"tensor": "params*['wo']", "sharding": ["model", None, None]},
    {"tensor": "params*.b1", "sharding": ["model"]},
    {"tensor": "params*.w1", "sharding": [None, "model"]},
    {"tensor": "params*.w2", "sharding": ["model", None]},
]
# Layers that are stacked.
STACKED = [{"tensor": rule["tensor"], "sharding": [None, *rule["sharding"]]} for rule in TENSOR]
