"""Tests that the installed package starts quickly, has the same command as the source, and has correct types."""

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import lasthop
from lasthop import _command

ROOT = Path(__file__).parents[2]


def best(command: list[str], times: int = 9) -> float:
    """Returns the minimum processor time of several runs, s. The minimum is close to the time on an idle machine."""

    def once() -> float:
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    return min(once() for _ in range(times))


def test_import_takes_less_than_150_ms_and_brings_no_data_frames() -> None:
    alone, both = (best([sys.executable, "-c", line]) for line in ("pass", "import lasthop"))
    assert both - alone < 0.15
    heavy = "import sys, lasthop; print([name for name in ('pandas', 'matplotlib', 'polars', 'pyarrow', 'numpy') if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True).stdout.strip() == "[]"
    )


def test_the_command_starts_within_30_ms() -> None:
    assert best([_command.path(), "--version"]) < 0.03


def test_the_command_is_cargos() -> None:
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "lasthop"
    if not built.is_file():
        pytest.skip("no release build exists beside the package")
    digests = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in (built, _command.path())]
    ours, theirs = (
        subprocess.run(
            [path, "run", "umts", "--runs", "2", "--format", "csv"], capture_output=True, check=True
        ).stdout
        for path in (str(built), _command.path())
    )
    assert ours == theirs
    assert digests[0] == digests[1]
    finished = subprocess.run(
        [sys.executable, "-m", "lasthop", "--version"], capture_output=True, text=True, check=True
    )
    assert finished.stdout.startswith(f"lasthop {lasthop.__version__}")


def test_the_source_distribution_has_all_that_a_build_needs(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a source distribution needs git's list of files")
    build = f"import sys; sys.path.insert(0, 'python/build'); import backend; backend.build_sdist({str(tmp_path)!r})"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [sys.executable, "-c", build], cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    [archive] = tmp_path.glob("lasthop-*.tar.gz")
    with tarfile.open(archive) as packed:
        there = {name.partition("/")[2] for name in packed.getnames()}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    known = {name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()}
    # The source archive contains the whole repository except dot files, and Python's metadata.
    assert {name for name in known - there if not name.startswith(".")} == set()
    for name in ("PKG-INFO", "Cargo.lock", "crates/cli/lab.html", "papers/huang/study.toml", "python/build/backend.py"):
        assert name in there, name


def test_types_hold() -> None:
    """Tests that `mypy --strict` accepts the package, its tests and its generated files."""
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "python/lasthop", "python/tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_stubs_say_what_the_extension_has() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "lasthop._lasthop"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(lasthop.__file__).parent / "py.typed").is_file()


def test_names_of_scenarios_are_the_engines() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "python/build/keys.py")], capture_output=True, text=True, check=True
    )
    assert made.stdout == (ROOT / "python/lasthop/keys.py").read_text(encoding="utf-8"), "make stubs"
