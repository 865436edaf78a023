"""A stand-in for the Arcade Learning Environment, whose games Gymnasium's stand-in replaces."""
