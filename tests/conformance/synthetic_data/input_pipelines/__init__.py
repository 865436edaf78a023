"""Modules that take the place of an example's `input_pipeline`."""
