"""Errors of the package. Their texts are those of the commands `sgdc` and `sgdrun`."""


class Error(Exception):
    """Base of all errors that the package raises by itself."""


class CompileError(Error):
    """A program that the compiler refuses, as `FILE:LINE:COLUMN: error: FOUND; expected EXPECTED; DO THIS`.

    `messages` holds the lines, warnings included."""

    def __init__(self, messages: str):
        self.messages = [line for line in messages.splitlines() if line]
        super().__init__("\n".join(self.messages))


class UsageError(CompileError, ValueError):
    """Options that do not exist, contradict each other or have values that do not parse."""


class CompileWarning(UserWarning):
    """A warning of the compiler."""


class RunNote(UserWarning):
    """A message of a run that is no error, such as where its first state is from."""


class RunError(Error, RuntimeError):
    """A run that ended: `rank 1: program 'main' instruction 2 (copy) at model.py:1:1: ...`."""


class InputError(Error, ValueError):
    """Arguments that do not fit the program: their number, structure, element types or shapes."""


class MissingPackageError(Error, ImportError):
    """A package that a function needs is not installed."""
