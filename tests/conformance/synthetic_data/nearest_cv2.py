"""A stand-in for OpenCV: images of games are resized to the nearest pixel."""
import numpy as np

INTER_LINEAR = 1


def resize(image, size, interpolation=None):
    rows, columns = (np.arange(new) * old // new for old, new in zip(image.shape, size[::-1]))
    return np.ascontiguousarray(image[np.ix_(rows, columns)])
