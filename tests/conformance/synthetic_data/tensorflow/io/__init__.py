"""The file system of the stand-in: that of Python."""
from . import gfile
