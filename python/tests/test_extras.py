"""Tests that a function names the command that installs its optional package, if the package is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

import lasthop

RUN = "lasthop.run('rate=5Mbit/s,rtt=60ms,duration=1s', runs=1)"
CASES = [
    (
        "__import__('lasthop.plot')",
        ["matplotlib"],
        "lasthop.plot needs matplotlib, and matplotlib is not installed",
    ),
    ("__import__('lasthop.plot')", ["numpy"], "lasthop.plot needs matplotlib, and numpy is not installed"),
    (
        f"{RUN}.flows.to_parquet('runs.parquet')",
        ["pyarrow", "polars"],
        "to_parquet needs pyarrow or polars, and neither is installed",
    ),
] + [
    (f"{made}.to_{package}()", [package], f"to_{package} needs {package}, and {package} is not installed")
    for package in ("pandas", "polars")
    for made in (RUN, "lasthop.Reproduction([])", "lasthop.Crosscheck([], '')", "lasthop.Advice([])")
]


@pytest.mark.parametrize(("call", "blocked", "message"), CASES, ids=lambda value: str(value)[:40])
def test_one_sentence_says_what_is_missing_and_how_to_get_it(
    call: str, blocked: list[str], message: str
) -> None:
    program = f"""
import sys
sys.modules.update(dict.fromkeys({blocked!r}))
import lasthop
try:
    {call}
except lasthop.Error as error:
    print(error.message)
    print(error.help)
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    package = message.split()[2].rstrip(",")
    assert finished.stdout.splitlines() == [message, f"pip install {package}"], finished.stderr


def test_an_address_as_executor_leads_to_distributed(tmp_path: Path) -> None:
    with pytest.raises(lasthop.Error) as raised:
        lasthop.sweep("umts", set={}, store=tmp_path / "runs", executor="tcp://scheduler:8786")
    assert raised.value.help is not None and "pip install distributed" in raised.value.help
