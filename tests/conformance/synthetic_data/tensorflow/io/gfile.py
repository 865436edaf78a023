"""Files of this machine, under TensorFlow's names."""
import glob as _glob
import os
import shutil

GFile = open
exists, isdir, listdir, remove, stat = os.path.exists, os.path.isdir, os.listdir, os.remove, os.stat
glob, rmtree = _glob.glob, shutil.rmtree


def makedirs(path):
    os.makedirs(path, exist_ok=True)


def copy(source, target, overwrite=False):
    shutil.copy(source, target)


def rename(source, target, overwrite=False):
    os.replace(source, target)
