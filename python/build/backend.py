"""Builds the wheel: the Python extension together with the native command `lasthop`.

maturin builds either an extension or programs, not both. But maturin packs all files in `<data>/scripts` as scripts of
the wheel. This module therefore builds the command with cargo first, and copies it to that folder.

The command is built for the same target as the extension: this machine's, or the one in `CARGO_BUILD_TARGET`. With a
file as its argument (`python3 python/build/backend.py FILE`), this module copies a command that was built elsewhere.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).parents[2]
DATA = ROOT / "target" / "python" / "lasthop.data"


# In every call, maturin requires that this folder exists.
DATA.mkdir(parents=True, exist_ok=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    copy_command(build_command())
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    copy_command(build_command())
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def build_command():
    """Builds the command for the same target as the extension. Returns the path of the command."""
    if shutil.which("cargo") is None:
        sys.exit("building lasthop needs Rust, and cargo is not installed: https://rustup.rs")
    subprocess.run(["cargo", "build", "--release", "--package", "lasthop"], cwd=ROOT, check=True)
    target = os.environ.get("CARGO_BUILD_TARGET", "")
    folder = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / target / "release"
    is_for_windows = "windows" in target if target else os.name == "nt"
    return folder / ("lasthop.exe" if is_for_windows else "lasthop")


def copy_command(file):
    """Copies the command to the folder that maturin packs as scripts."""
    scripts = DATA / "scripts"
    shutil.rmtree(DATA, ignore_errors=True)
    scripts.mkdir(parents=True)
    shutil.copy2(file, scripts / file.name)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit("usage: backend.py FILE (the command that the wheel will contain)")
    copy_command(Path(sys.argv[1]))
