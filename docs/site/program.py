"""Runs the program `lasthop`, and defines the folders of the site's files."""

import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
WORK = ROOT / "target/docs"
SOURCE = WORK / "source"
PACKAGE = WORK / "package"
SITE = ROOT / "target/site"
PROGRAM = Path(os.environ.get("LASTHOP", ROOT / "target/release/lasthop")).resolve()


@functools.cache
def lasthop(*arguments, cwd=None):
    """Runs `lasthop` with these arguments, and returns its standard output. Raises an error if the command fails."""
    done = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "100"}
    )
    if done.returncode:
        raise SystemExit(
            f"site: lasthop {' '.join(arguments)} ends with {done.returncode}: {done.stderr.strip()}"
        )
    return done.stdout


def write(path, text):
    """Writes a generated page below the prepared source."""
    place = SOURCE / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
