"""Datasets as functions that make iterators over NumPy arrays, with the methods of `tf.data.Dataset` that the examples call."""
import itertools

import numpy as np


class Tensor(np.ndarray):
    """An array with the methods of an eager tensor."""

    def numpy(self):
        return np.asarray(self) if self.ndim else self[()]

    _numpy = numpy


def tensor(value):
    return np.asarray(value).view(Tensor)


def _map(function, *trees):
    if isinstance(trees[0], dict):
        return {key: _map(function, *(tree[key] for tree in trees)) for key in trees[0]}
    if isinstance(trees[0], tuple):
        parts = [_map(function, *parts) for parts in zip(*trees)]
        return type(trees[0])(*parts) if hasattr(trees[0], "_fields") else tuple(parts)
    return function(*trees)


def _stack(elements, shapes=None):
    if shapes is None:
        return _map(lambda *arrays: np.stack([np.asarray(array) for array in arrays]), *elements)
    return {key: np.stack([_padded(element[key], shapes[key]) for element in elements]) for key in elements[0]}


def _padded(array, shape):
    array = np.asarray(array)
    return np.pad(array, [(0, int(size) - have) for size, have in zip(np.atleast_1d(shape), array.shape)]) if array.ndim else array


class Dataset:
    def __init__(self, start):
        self.start = start  # makes an iterator from the beginning

    @staticmethod
    def from_list(elements):
        return Dataset(lambda: iter(elements))

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, **_):
        def start():
            for element in generator():
                yield {key: np.asarray(value, output_types[key]) for key, value in element.items()}
        return Dataset(start)

    def map(self, function, **_):
        return Dataset(lambda: (function(_map(tensor, element)) for element in self.start()))

    def concatenate(self, other):
        return Dataset(lambda: itertools.chain(self.start(), other.start()))

    def take(self, count):
        return Dataset(lambda: itertools.islice(self.start(), count))

    def repeat(self, count=None):
        def start():
            for _ in itertools.count() if count in (None, -1) else range(count):
                yield from self.start()
        return Dataset(start)

    def cache(self):
        return self

    def prefetch(self, size):
        return self

    def shuffle(self, size, seed=0, **_):
        """Shuffles blocks of `size` elements, in the same way each time."""
        def start():
            order, elements = np.random.RandomState(seed or 0), self.start()
            while block := list(itertools.islice(elements, size)):
                yield from (block[i] for i in order.permutation(len(block)))
        return Dataset(start)

    def batch(self, size, drop_remainder=False, **_):
        return self.padded_batch(size, None, drop_remainder=drop_remainder)

    def padded_batch(self, batch_size, padded_shapes, drop_remainder=False, **_):
        def start():
            elements = self.start()
            while block := list(itertools.islice(elements, batch_size)):
                if len(block) == batch_size or not drop_remainder:
                    yield _stack(block, padded_shapes)
        return Dataset(start)

    def __iter__(self):
        return (_map(tensor, element) for element in self.start())

    def as_numpy_iterator(self):
        return (_map(lambda value: value if isinstance(value, bytes) else np.asarray(value), element) for element in self.start())
