"""Tests that the client fetches 1 MB on LTE within its limit of 2 s, and that the client gives up in time on UMTS."""

import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).with_name("client.py")
SIZE = 1_000_000


@pytest.fixture
def server(tmp_path):
    (tmp_path / "feed").write_bytes(bytes(SIZE))
    return f"exec {sys.executable} -m http.server 8000 --directory {tmp_path}"


def fetch(limit):
    return [sys.executable, str(CLIENT), "http://{server}:8000/feed", str(limit)]


def test_a_megabyte_arrives_on_lte(behind, server):
    run = behind("lte", fetch(2.0), server=server)
    assert run.status == 0, run.stderr
    assert int(run.stdout) == SIZE


def test_on_umts_the_client_gives_up_in_time_and_says_so(behind, server):
    run = behind("umts", fetch(2.0), server=server)
    assert run.status == 1
    assert "given up after 2." in run.stderr
    assert run.summary["acknowledged_bytes"]["down"] < SIZE


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_lossy_link_costs_time_but_no_bytes(behind, server, seed):
    run = behind("rate=20Mbit/s,rtt=40ms,queue=100packets,loss=2%", fetch(5.0), server=server, seed=seed)
    assert run.status == 0, run.stderr
    assert int(run.stdout) == SIZE
    assert run.summary["lost"]["down"]["channel"] > 0
