"""The native command `lasthop` of this package, for work outside the Python process."""

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
    """Returns the path of the command's file."""
    name = "lasthop" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_preferred_scheme("user")
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user),
        # The package may be in a separate folder (pip install --target).
        str(Path(__file__).parents[1] / "bin"),
        str(Path(sys.executable).parent),
    ]
    for folder in folders:
        found = Path(folder) / name
        if found.is_file():
            return str(found)
    raise Error(
        "the command `lasthop` of this package is missing",
        f"reinstall the package; searched in {', '.join(folders)}",
    )


def output(arguments: list[str]) -> tuple[str, str]:
    """Runs the command; returns its standard output and standard error. Standard error is also shown as it arrives."""
    child = subprocess.Popen(
        [path(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    messages: list[str] = []

    def read_messages() -> None:
        assert child.stderr is not None
        is_message = False
        for line in child.stderr:
            messages.append(line)
            # Hides the error message at the end (`×`), because the raised `Error` contains this message.
            is_message = is_message or line.lstrip().startswith("×")
            if not is_message:
                sys.stderr.write(line)

    reader = threading.Thread(target=read_messages, daemon=True)
    reader.start()
    try:
        assert child.stdout is not None
        printed = child.stdout.read()
        status = child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        child.wait()
        raise
    reader.join()
    if status != 0:
        raise _refused("".join(messages), f"`lasthop {arguments[0]}` ended with status {status}")
    return printed, "".join(messages)


def _refused(messages: str, otherwise: str) -> Error:
    """Converts the error message that the command printed (`× message`, `help: remedy`) to an error."""
    message, help = None, None
    for line in messages.splitlines():
        words = line.strip()
        if message is None and words.startswith(("×", "error")):
            message = words.removeprefix("×").removeprefix("error:").strip()
        elif help is None and words.startswith("help:"):
            help = words.removeprefix("help:").strip()
    return Error(message or otherwise, help, drawn=messages.strip("\n"))


def objects(arguments: list[str], report: str | None) -> list[dict[str, Any]]:
    """Returns the objects that a command prints as JSON. The command's report is kept only if `report` is a path."""
    with tempfile.TemporaryDirectory() as folder:
        page = report or os.path.join(folder, "report.html")
        printed, _ = output([*arguments, "--format", "json", "--report", page])
    return [json.loads(line) for line in printed.splitlines()]
