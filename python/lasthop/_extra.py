"""Errors about missing packages that only some functions need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lasthop._error import Error


@contextmanager
def needs(function: str, package: str) -> Iterator[None]:
    """Surrounds the imports of a package that only `function` needs (`with needs(…): import …`).

    If a module is missing, raises an `Error` whose help is the command that installs the package.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        raise Error(
            f"{function} needs {package}, and {missing.name} is not installed", f"pip install {package}"
        ) from None
