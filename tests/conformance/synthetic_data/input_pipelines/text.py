"""Batches of tokens in place of data sets of text: sentences of a first-order chain, packed as the examples pack them."""
import numpy as np
from tensorflow.dataset import Dataset, tensor


class Encoder:
    """An encoder of words by their lengths; only its size matters."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def vocab_size(self):
        return self.vocabulary

    def tokenize(self, text):
        return tensor(np.array([3 + len(word) for word in text.split()] + [2], np.int32))

    def detokenize(self, tokens):
        return tensor(np.array(" ".join(map(str, tokens)).encode(), object))

    def pad_id(self):
        return 0


def sequences(vocabulary, length, seed, count=512):
    draw = np.random.RandomState(seed)
    for _ in range(count):
        tokens = np.zeros(length, np.int64)
        size = draw.randint(length // 2, length)
        tokens[0] = draw.randint(3, vocabulary)
        for i in range(1, size):
            tokens[i] = 3 + (tokens[i - 1] * 7 + draw.randint(3)) % (vocabulary - 3)
        tokens[size] = 2
        yield tokens


def sentences(count=200):
    draw = np.random.RandomState(0)
    return ["".join(chr(97 + i % 26) if i else " " for i in draw.randint(0, 40, 60)) for _ in range(count)]


def packed(vocabulary, length, seed, keys):
    """Elements with tokens, positions and segments: two sentences in each."""
    for tokens in sequences(vocabulary, length, seed):
        half, used = length // 2, tokens > 0
        segments = np.where(np.arange(length) < half, 1, 2) * used
        positions = np.where(np.arange(length) < half, np.arange(length), np.arange(length) - half) * used
        yield {name: value for key in keys for name, value in ((key, tokens), (f"{key}_segmentation", segments), (f"{key}_position", positions))}


def train(vocabulary, length, batch, keys):
    return Dataset(lambda: packed(vocabulary, length, 1, keys)).repeat().batch(batch)


def evaluation(vocabulary, length, batch, keys, seed=2):
    return Dataset(lambda: ({key: tokens for key in keys} for tokens in sequences(vocabulary, length, seed, 64))).batch(batch, drop_remainder=True)
