"""What several tests share."""

import subprocess
from collections.abc import Callable

import pytest

from lasthop import _command

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs the native command that came with the package."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([_command.path(), *arguments], capture_output=True, text=True)

    return run
