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


def output(arguments: list[str]) -> tuple[str, str]:
    """What the command prints, and what it says beside it; that goes to standard error as it comes."""
    child = subprocess.Popen(
        [path(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    told: list[str] = []

    def tell() -> None:
        assert child.stderr is not None
        is_message = False
        for line in child.stderr:
            told.append(line)
            # A message ends the command: the error has it.
            is_message = is_message or line.lstrip().startswith("×")
            if not is_message:
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
        raise _refused("".join(told), f"`lasthop {arguments[0]}` ended with status {status}")
    return printed, "".join(told)


def _refused(told: str, otherwise: str) -> Error:
    """The command's own message as an error: `× what is wrong`, and `help: how to mend it`."""
    message, help = None, None
    for line in told.splitlines():
        words = line.strip()
        if message is None and words.startswith(("×", "error")):
            message = words.removeprefix("×").removeprefix("error:").strip()
        elif help is None and words.startswith("help:"):
            help = words.removeprefix("help:").strip()
    return Error(message or otherwise, help, drawn=told.strip("\n"))


def objects(arguments: list[str], report: str | None) -> list[dict[str, Any]]:
    """The objects that a command prints as JSON; its report is kept only at `report`."""
    with tempfile.TemporaryDirectory() as folder:
        page = report or os.path.join(folder, "report.html")
        printed, _ = output([*arguments, "--format", "json", "--report", page])
    return [json.loads(line) for line in printed.splitlines()]
