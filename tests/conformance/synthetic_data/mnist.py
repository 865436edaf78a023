"""The data of JAX's examples of MNIST, as their `datasets` gives it."""
import numpy as np
import tensorflow_datasets as tfds


def mnist_raw():
    parts = []
    for split in ("train", "test"):
        elements = list(tfds.images("mnist", split))
        parts += [np.stack([element["image"][..., 0] for element in elements]), np.array([element["label"] for element in elements], np.uint8)]
    return parts


def mnist(permute_train=False):
    train_images, train_labels, test_images, test_labels = mnist_raw()
    order = np.random.RandomState(0).permutation(len(train_images)) if permute_train else np.arange(len(train_images))

    def flat(images):
        return images.reshape(len(images), -1) / np.float32(255)

    def one_hot(labels):
        return (labels[:, None] == np.arange(10)).astype(np.float32)

    return flat(train_images)[order], one_hot(train_labels)[order], flat(test_images), one_hot(test_labels)
