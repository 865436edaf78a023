"""The errors that callers of the file system catch."""


class NotFoundError(Exception):
    pass
