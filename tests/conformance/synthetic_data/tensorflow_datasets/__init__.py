"""A stand-in for TensorFlow's datasets: small ones of the same names and shapes, drawn from fixed seeds, whose labels can be learned."""
import numpy as np
from tensorflow.dataset import Dataset

EXAMPLES = {"train": 1024, "test": 256, "validation": 256}
IMAGES = {"mnist": ((28, 28, 1), 10), "fashion_mnist": ((28, 28, 1), 10), "binarized_mnist": ((28, 28, 1), 10), "cifar10": ((32, 32, 3), 10),
          "imagenet2012": ((224, 224, 3), 1000)}
WORDS = ["first", "citizen", "before", "we", "proceed", "any", "further", "hear", "me", "speak", "you", "are", "all", "resolved", "rather", "to", "die", "than", "famish"]


class Split:
    TRAIN, TEST, VALIDATION = "train", "test", "validation"


def images(name, split):
    """Images of classes: a random pattern for each class, and noise."""
    shape, classes = IMAGES[name]
    patterns = np.random.RandomState(1).randint(0, 200, (min(classes, 10), *shape))
    draw = np.random.RandomState({"train": 2, "test": 3, "validation": 4}[split])
    for i in range(EXAMPLES[split]):
        label = draw.randint(len(patterns))
        image = np.clip(patterns[label] + draw.randint(0, 56, shape), 0, 255).astype(np.uint8)
        if name == "binarized_mnist":
            image = (image > 127).astype(np.uint8)
        yield {"image": image, "label": np.int64(label)}


def text(split):
    draw = np.random.RandomState(len(split))
    return " ".join(WORDS[i] for i in draw.randint(0, len(WORDS), 4000)).encode()


def _dataset(name, split):
    if name == "tiny_shakespeare":
        return Dataset.from_list([{"text": text(split)}])
    if name not in IMAGES:
        raise ValueError(f"the stand-in for tensorflow_datasets has no data set '{name}'; it has {', '.join([*IMAGES, 'tiny_shakespeare'])}")
    return Dataset.from_list(list(images(name, split)))


class _Feature:
    def __init__(self, shape, num_classes):
        self.shape, self.num_classes = shape, num_classes


class _Info:
    def __init__(self, name):
        shape, classes = IMAGES.get(name, ((), 0))
        self.features = {"image": _Feature(shape, classes), "label": _Feature((), classes)}
        self.splits = {split: type("Split", (), {"num_examples": count}) for split, count in EXAMPLES.items()}


class _Builder:
    def __init__(self, name):
        self.name, self.info = name, _Info(name)

    def download_and_prepare(self):
        pass

    def as_dataset(self, split):
        return _dataset(self.name, split)


class _Source(list):
    def __init__(self, name, split):
        super().__init__(_dataset(name, split).start())
        self.dataset_info = _Info(name)


def builder(name):
    return _Builder(name.split(":")[0])


def load(name, split=None, with_info=False, batch_size=None, as_supervised=False, data_dir=None):
    def one(part):
        dataset = _dataset(name, part)
        if as_supervised:
            elements = [(element["image"], element["label"]) for element in dataset.start()]
            dataset = Dataset.from_list(elements)
        return next(dataset.batch(EXAMPLES[part]).start()) if batch_size == -1 else dataset
    splits = list(EXAMPLES) if split is None else split
    loaded = one(splits) if isinstance(splits, str) else {part: one(part) for part in splits} if split is None else [one(part) for part in splits]
    return (loaded, _Info(name)) if with_info else loaded


def data_source(name, split):
    return _Source(name, split) if isinstance(split, str) else [_Source(name, part) for part in split]


def as_numpy(dataset):
    return dataset if isinstance(dataset, dict) else dataset.as_numpy_iterator()
