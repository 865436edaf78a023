"""The data of flax's translation model, as its `input_pipeline` gives it."""
from input_pipelines import lm1b


def get_wmt_datasets(config, *, n_devices, reverse_translation=True, vocab_path=None):
    return lm1b.get_datasets(config, n_devices=n_devices)
