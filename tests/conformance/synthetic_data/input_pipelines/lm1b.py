"""The data of flax's language model, as its `input_pipeline` gives it."""
from input_pipelines import text

KEYS = ("inputs", "targets")


def get_datasets(config, *, n_devices, vocab_path=None):
    size = config.vocab_size
    batch, evaluated = config.per_device_batch_size * n_devices, config.get("eval_per_device_batch_size", config.per_device_batch_size) * n_devices
    return (text.train(size, config.max_target_length, batch, KEYS), text.evaluation(size, config.max_eval_target_length, evaluated, KEYS),
            text.evaluation(size, config.max_predict_length, evaluated, KEYS, 3), text.Encoder(size))
