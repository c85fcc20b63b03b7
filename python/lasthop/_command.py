"""The native command `lasthop` that came with this package, for what is not done in Python's own process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from typing import Any

from lasthop._error import Error


def path() -> str:
    """Where the command is."""
    name = "lasthop" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user")
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        # Beside a package that stands in a folder of its own (pip install --target).
        str(Path(__file__).parents[1] / "bin"),
        str(Path(sys.executable).parent),
    ]
    for folder in folders:
        found = Path(folder) / name
        if found.is_file():
            return str(found)
    raise Error(
        "the command `lasthop` is not beside this package",
        f"looked in {', '.join(folders)}; install the package again",
    )


def output(arguments: list[str]) -> str:
    """What the command prints; notes and progress go to standard error as they come."""
    child = subprocess.Popen(
        [path(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    told: list[str] = []

    def tell() -> None:
        assert child.stderr is not None
        for line in child.stderr:
            told.append(line)
            sys.stderr.write(line)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        assert child.stdout is not None
        printed = child.stdout.read()
        status = child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
    teller.join()
    if status != 0:
        drawn = "".join(told).strip("\n")
        first = next(
            (line.strip().lstrip("×").strip() for line in told if line.lstrip().startswith(("×", "error"))),
            "",
        )
        raise Error(first or f"`lasthop {arguments[0]}` ended with status {status}", drawn=drawn)
    return printed


def objects(arguments: list[str], report: str | None) -> list[dict[str, Any]]:
    """The objects that a command prints as JSON; its report is kept only at `report`."""
    with tempfile.TemporaryDirectory() as folder:
        page = report or os.path.join(folder, "report.html")
        printed = output([*arguments, "--format", "json", "--report", page])
    return [json.loads(line) for line in printed.splitlines()]
