"""Fixtures and helpers of the tests."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from lasthop import _command

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def command() -> Command:
    """Runs the native command of the package."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([_command.path(), *arguments], capture_output=True, text=True)

    return run


def not_judged(why: str) -> NoReturn:
    """Skips a test that needs an idle machine. Lists the test in a file, so that `make test` counts it as not judged.

    If the environment has the variable `LASTHOP_JUDGE`, the test fails instead.
    """
    test = os.environ["PYTEST_CURRENT_TEST"].split(" ")[0]
    if "LASTHOP_JUDGE" in os.environ:
        pytest.fail(f"not judged: {why}")
    listed = Path(__file__).resolve().parents[2] / "target/tmp/not-judged.txt"
    listed.parent.mkdir(parents=True, exist_ok=True)
    with listed.open("a") as file:
        file.write(f"{test}: {why}\n")
    pytest.skip(f"not judged: {why}")
