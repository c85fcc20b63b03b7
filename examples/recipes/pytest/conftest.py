"""A fixture that runs programs behind an emulated path."""

import json
import os
import subprocess
from dataclasses import dataclass

import pytest

LASTHOP = os.environ.get("LASTHOP", "lasthop")
INVALID = 3  # exit status: the machine was too busy for real time
ATTEMPTS = 3


@dataclass(frozen=True)
class Run:
    """Result of a command that ran behind a path."""

    status: int
    stdout: str
    stderr: str
    summary: dict  # content of summary.json: goodput_kbps, lost, duration_s …


@pytest.fixture
def behind(tmp_path):
    """Returns a function `behind(path, command, server=…)`, which runs a command behind a path. The function replaces
    `{server}` in the command by the server's address."""
    if os.geteuid() != 0:
        pytest.skip("a path needs root: sudo pytest")

    def run(path, command, *, server, seed=1):
        for _ in range(ATTEMPTS):
            done = subprocess.run(
                [LASTHOP, "emulate", path, "--seed", str(seed), "--out", tmp_path, "--server", server, "--", *command],
                capture_output=True, text=True, check=False)
            if done.returncode != INVALID:
                summary = json.loads((tmp_path / "summary.json").read_text())
                return Run(done.returncode, done.stdout, done.stderr, summary)
        pytest.skip(f"this machine is too busy to emulate a path: {done.stderr}")

    return run
