"""Texts of programs: large ones are kept compressed, as NAME.mlir.gz."""
import gzip


def exists(path):
    return path.exists() or packed(path).exists()


def packed(path):
    return path.with_name(path.name + ".gz")


def file(path, folder):
    """`path`, or a copy of it in `folder` where it is kept compressed."""
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / path.name
    copy.write_bytes(gzip.decompress(packed(path).read_bytes()))
    return copy
