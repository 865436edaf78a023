"""The data of flax's sentence classifier, as its `input_pipeline` gives it: batches of sentences of about one length."""
import numpy as np
from tensorflow.dataset import Dataset

WORDS = 500


class TextDataset:
    def __init__(self, tfds_name, split, vocab_path="vocab.txt"):
        self.vocab, self.seed = range(WORDS), len(split)

    def _elements(self):
        draw = np.random.RandomState(self.seed)
        for i in range(512):
            length, label = draw.randint(8, 25), i % 2
            tokens = np.where(draw.rand(length) < 0.3, 4 + label, draw.randint(6, WORDS, length))
            yield {"token_ids": tokens.astype(np.int64), "length": np.int64(length), "label": np.int64(label)}

    def get_batches(self, batch_size, **_):
        return Dataset(self._elements).padded_batch(batch_size, {"token_ids": 24, "length": (), "label": ()}, drop_remainder=True)

    def get_bucketed_batches(self, batch_size, bucket_size, max_input_length, **_):
        def start():
            for longest in (16, 24):
                short = Dataset(lambda: (e for e in self._elements() if longest - 8 < e["length"] <= longest))
                yield from short.padded_batch(batch_size, {"token_ids": longest, "length": (), "label": ()}, drop_remainder=True).start()
        return Dataset(start)
