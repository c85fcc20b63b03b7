"""Folders in which the commands and Python blocks of pages run. Each page has its own empty folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "blocks"
VENV = ROOT / "target" / "python" / "venv"
LINKING = Lock()
LIMIT = 120  # time limit of a command, or of all Python blocks of a page, s
PYTHON = r"""
import json, sys, traceback
blocks, page = json.load(sys.stdin), {"__name__": "page"}
for block in blocks:
    try:
        exec(compile("\n" * (block["line"] - 1) + block["text"], block["path"], "exec"), page)
    except BaseException:
        print("\0", block["line"], "\0", traceback.format_exc(), sep="", file=sys.stderr)
        sys.exit(1)
"""


def program():
    """Returns the path of the program: `LASTHOP`, or the newer of the release and the debug build."""
    if given := os.environ.get("LASTHOP"):
        return Path(given).resolve()
    built = [ROOT / "target" / profile / "lasthop" for profile in ("release", "debug")]
    built = [path for path in built if path.exists()]
    if not built:
        sys.exit("docs/blocks/run: the program is not built: cargo build")
    return max(built, key=lambda path: path.stat().st_mtime)


def python():
    """Returns the path of a Python interpreter with the package `lasthop`, or `None`."""
    path = VENV / "bin" / "python"
    return path if path.exists() else None


class Folder:
    """Empty folder in which a page's commands run. `PATH` begins with the folder of `lasthop`; `ROOT` is the clone."""

    def __init__(self, name):
        self.path = WORK / name
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        beside = WORK / ".bin"
        beside.mkdir(exist_ok=True)
        link = beside / "lasthop"
        # Several threads run pages at the same time and share the link.
        with LINKING:
            if not link.is_symlink() or link.resolve() != program():
                link.unlink(missing_ok=True)
                link.symlink_to(program())
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LASTHOP_")},
            "PATH": f"{beside}:{os.environ['PATH']}",
            "ROOT": str(ROOT),
            "LASTHOP": str(program()),
            "COLUMNS": "80",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "MPLBACKEND": "agg",
        }

    def run(self, command):
        """Runs a shell command. Returns its exit status, and the lines of its standard output and standard error."""
        shell = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = shell.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.communicate()
            return 124, [f"stopped after {LIMIT} s"]
        text = printed.decode("utf-8", "replace").replace(f"{self.path}/", "").replace(str(self.path), ".")
        return shell.returncode, text.removesuffix("\n").split("\n")

    def run_python(self, path, blocks):
        """Runs Python blocks in one process. Returns the line and the message of the first failure, or `None`."""
        shown = [{"path": str(path), "line": block.line, "text": "\n".join(block.text)} for block in blocks]
        try:
            done = subprocess.run(
                [python(), "-c", PYTHON],
                cwd=self.path,
                env=self.environment,
                input=json.dumps(shown),
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return blocks[0].line, f"stopped after {LIMIT} s"
        if done.returncode == 0:
            return None
        _, line, message = done.stderr.split("\0")
        return int(line), message
