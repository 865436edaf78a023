"""The data of flax's Gemma, as its `input_pipeline` gives it."""
import jax
import sentencepiece
from input_pipelines import text

KEYS = ("inputs", "targets")


class _Placed:
    def __init__(self, dataset, sharding):
        self.dataset, self.sharding = dataset, sharding

    def __iter__(self):
        for batch in self.dataset.as_numpy_iterator():
            yield {key: jax.device_put(value, self.sharding) for key, value in batch.items()}


def get_datasets(config, *, vocab_path=None, data_sharding=None):
    if vocab_path:
        with open(vocab_path, "wb") as model:
            sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(text.sentences()), model_writer=model, vocab_size=60, hard_vocab_limit=False, pad_id=0, eos_id=1, bos_id=2, unk_id=3)
    count, size = jax.device_count(), config.vocab_size
    return (_Placed(text.train(size, config.max_target_length, config.per_device_batch_size * count, KEYS), data_sharding),
            _Placed(text.evaluation(size, config.max_eval_target_length, config.eval_per_device_batch_size * count, KEYS), data_sharding), text.Encoder(size))
