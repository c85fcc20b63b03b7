"""Builds the wheel: the Python extension together with the native command `lasthop`.

maturin builds either an extension or programs, not both. But maturin packs the files in `<data>/scripts` as scripts of
the wheel. Therefore cargo builds the command first, and this module copies the command there.
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


# maturin requires that this folder exists in every call.
DATA.mkdir(parents=True, exist_ok=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    add_command()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    add_command()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def add_command():
    """Builds the command and copies it to the folder that maturin packs as scripts."""
    if shutil.which("cargo") is None:
        sys.exit("building lasthop needs Rust, and cargo is not installed: https://rustup.rs")
    subprocess.run(["cargo", "build", "--release", "--package", "lasthop"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    name = "lasthop.exe" if os.name == "nt" else "lasthop"
    scripts = DATA / "scripts"
    shutil.rmtree(DATA, ignore_errors=True)
    scripts.mkdir(parents=True)
    shutil.copy2(target / "release" / name, scripts / name)
