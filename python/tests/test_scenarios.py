"""Tests scenarios that are built in Python, and their errors: same messages and positions as those of the command."""

import pickle
from pathlib import Path
from typing import Any

import numpy
import pytest

import lasthop
from lasthop import _lasthop

from conftest import Command

BUILT: dict[str, Any] = {
    "title": "one hop",
    "duration": "5 s",
    "link": {
        "wireless": {
            "from": "base",
            "to": "mobile",
            "rate": "2 Mbit/s",
            "one_way_delay": "45 ms",
            "down": {"queue": "50 packets", "channel": {"kind": "iid", "loss": 0.01}},
        }
    },
    "flow": {"bulk": {"from": "base", "to": "mobile", "sender": {"recovery": "sack"}}},
}
TOML = """\
title = "one hop"
duration = "5 s"
[link.wireless]
from = "base"
to = "mobile"
rate = "2 Mbit/s"
one_way_delay = "45 ms"
[link.wireless.down]
queue = "50 packets"
channel = { kind = "iid", loss = 0.01 }
[flow.bulk]
from = "base"
to = "mobile"
[flow.bulk.sender]
recovery = "sack"
"""


def test_a_dict_is_the_same_scenario_as_toml(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TOML)
    built = lasthop.Scenario(BUILT)
    assert built.to_toml() == lasthop.Scenario.from_toml(TOML).to_toml() == lasthop.Scenario(file).to_toml()
    assert lasthop.run(built, runs=2).to_json() == lasthop.run(str(file), runs=2).to_json()
    assert (built.title, built.duration_s, built.flows, built.links) == (
        "one hop",
        5.0,
        ["bulk"],
        ["wireless"],
    )


def test_what_to_toml_says_reads_back() -> None:
    for path in lasthop.ready_paths():
        scenario = lasthop.Scenario(path)
        again = lasthop.Scenario.from_toml(scenario.to_toml())
        assert again.to_toml() == scenario.to_toml()


def test_changes_take_the_types_of_python() -> None:
    changes = {
        "sack": False,
        "recovery": "reno",
        "segment": "1000 bytes",
        "wireless.down.channel.loss": 0.02,
        "runs": numpy.int64(3),
    }
    scenario = lasthop.Scenario(BUILT, set=changes)
    text = scenario.to_toml()
    for line in ("sack = false", "loss = 0.02", "runs = 3"):
        assert line in text
    assert lasthop.Scenario(
        scenario, set={"runs": None, "wireless.down.channel": {"kind": "none"}}
    ).is_deterministic
    assert lasthop.Scenario(BUILT, set={"runs": numpy.float64(2.0)}).to_toml()


@pytest.mark.parametrize(
    "source, change",
    [
        ("umts", "recovry=reno"),
        ("umts", "recovery=renno"),
        ("umts", "wireless.down.rate=-2 Mbit/s"),
        ("umts", "wireless.down.rate=nan"),
        ("umts", "wireless.down.queue=many"),
        ("umtz", ""),
        ("rtt=20ms", ""),
        ("rate=10Mbit/s,rtt=20ms,loss=200%", ""),
        ("nowhere.toml", ""),
    ],
)
def test_errors_are_the_commands(command: Command, source: str, change: str) -> None:
    path, _, value = change.partition("=")
    finished = command("run", source, *(["--set", change] if change else []))
    assert finished.returncode == 2
    with pytest.raises(lasthop.Error) as caught:
        lasthop.run(source, set={path: value} if change else None)
    # The command's message may end with a line `more: …`, which names a page of the documentation. `Error` has no such
    # line.
    said = [line for line in finished.stderr.splitlines() if not line.lstrip().startswith("more: ")]
    assert str(caught.value).strip("\n") == "\n".join(said).strip("\n")
    assert caught.value.line == 1 and caught.value.column


def test_a_file_with_a_mistake_is_shown_with_its_line(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TOML.replace("2 Mbit/s", "2 furlongs"))
    with pytest.raises(lasthop.Error) as caught:
        lasthop.Scenario(file)
    error = caught.value
    assert (error.file, error.line, error.underlined) == (str(file), 6, '"2 furlongs"')
    assert str(error).strip("\n") == command("check", str(file)).stderr.strip("\n")


@pytest.mark.parametrize(
    "change, words",
    [
        ({"rate": ["2 Mbit/s"]}, "link.wireless.rate: a list is not expected here"),
        ({"rate": {"2 Mbit/s"}}, "`link.wireless.rate` is {'2 Mbit/s'}: a scenario cannot hold a set"),
        ({"rate": object()}, "a scenario cannot hold a object"),
        ({"rate": float("nan")}, "link.wireless.rate: `nan` does not begin with a number"),
        ({"rate": -2e6}, "link.wireless.rate: "),
        ({"rate": int}, "`int` is not a strategy"),
        ({3: "x"}, "a key is 3: expected text"),
        ({"rte": "2 Mbit/s"}, "rte"),
        ({"one_way_delay": "45"}, "one_way_delay"),
    ],
)
def test_what_python_can_get_wrong(change: dict[Any, Any], words: str) -> None:
    link = {"wireless": {**BUILT["link"]["wireless"], **change}}
    with pytest.raises(lasthop.Error) as caught:
        lasthop.Scenario({**BUILT, "link": link})
    assert words in str(caught.value)
    assert caught.value.help


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"runs": 0}, "`runs` is 0: expected a whole number from 1 to 1000000"),
        ({"runs": "3"}, "`runs` is '3'"),
        ({"runs": True}, "`runs` is True"),
        ({"runs": 2.5}, "`runs` is 2.5"),
        ({"seed": -1}, "`seed` is -1"),
        ({"jobs": 0}, "`jobs` is 0"),
        ({"set": ["recovery=reno"]}, "`set` is ['recovery=reno']: expected a dict"),
        ({"set": {1: "reno"}}, "`set` has the key 1"),
    ],
)
def test_arguments_of_the_wrong_kind(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(lasthop.Error) as caught:
        lasthop.run("umts", **arguments)
    assert words in caught.value.message


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"vary": {}}, "`vary` is {}"),
        ({"vary": {"recovery": "reno"}}, "expected a list of values"),
        ({"vary": {"recovery": []}}, "has no value"),
        ({"vary": {"seed": [1, 2]}}, "`seed` cannot be varied"),
        ({"vary": {"recovery": ["sack", "renno"]}}, "did you mean"),
        ({"vary": {"recovery": ["sack"]}, "metrics": ["goodputt"]}, "there is no metric `goodputt`"),
    ],
)
def test_comparisons_of_the_wrong_kind(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(lasthop.Error) as caught:
        lasthop.compare("umts", **arguments)
    assert words in str(caught.value)


def test_what_was_not_kept_is_said() -> None:
    results = lasthop.run("umts", runs=1, set={"duration": "1 s"})
    with pytest.raises(lasthop.Error, match="events=True"):
        _ = results.events
    with pytest.raises(lasthop.Error, match="there is no column `goodput`"):
        results.flows["goodput"]
    with pytest.raises(lasthop.Error, match="there is no kind"):
        lasthop.mechanisms("colour")


def test_pickles_read_back_and_those_of_another_version_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for scenario in (lasthop.Scenario(BUILT, set={"recovery": "reno"}), lasthop.Scenario.from_toml(TOML)):
        pickled = pickle.dumps(scenario)
        assert pickle.loads(pickled).to_toml() == scenario.to_toml()
    monkeypatch.setattr(_lasthop, "__version__", "9.9.9")
    foreign = pickle.dumps(lasthop.Scenario("umts"))
    monkeypatch.undo()
    with pytest.raises(lasthop.Error, match=r"pickled by lasthop 9\.9\.9"):
        pickle.loads(foreign)


def test_notes_are_warnings() -> None:
    with pytest.warns(UserWarning, match="no queue on the way marks"):
        lasthop.run("rate=10Mbit/s,rtt=20ms,queue=20packets,ecn=true,duration=1s")


def test_a_commands_mistake_is_an_error() -> None:
    with pytest.raises(lasthop.Error, match="hasegawa"):
        lasthop.reproduce("hasegaw")


def test_crosscheck_compares_or_says_what_it_lacks() -> None:
    with pytest.raises(lasthop.Error, match="umts") as caught:
        lasthop.crosscheck("umtss")
    assert caught.value.help
    with pytest.raises(lasthop.Error, match="Re no"):
        lasthop.crosscheck("umts", senders=["Re no"])
    built = {**BUILT, "duration": "1 s"}
    try:
        results = lasthop.crosscheck(built, senders=["lasthop", "cubic"], runs=2, seed=7)
    except lasthop.Error as error:
        # If root, a TUN device or `ip` is missing, or if the machine is busy, the error names the cause and the remedy.
        assert any(what in str(error) for what in ("root", "TUN", "`ip`", "in time")), error
        assert error.help
        return
    assert results.senders == ["lasthop", "kernel, cubic"]
    assert [(row["sender"], row["seed"], row["flow"]) for row in results.flows] == [
        (sender, seed, "bulk") for sender in results.senders for seed in (7, 8)
    ]
    frame = results.to_pandas()
    assert frame.simulated_goodput_kbps[0] == lasthop.run(built, runs=1, seed=7).flows["goodput_kbps"][0]
    assert (frame.emulated_goodput_kbps > 0).all()
    assert list(frame.columns) == results.to_polars().columns


def test_advise_ranks_and_has_rows() -> None:
    advice = lasthop.advise("rate=4Mbit/s,rtt=40ms,queue=200packets,duration=10s", sender="linux-reno", seed=3)
    assert [row["rank"] for row in advice.rows] == list(range(1, len(advice.rows) + 1))
    first = advice.rows[0]
    assert first["score_percent_low"] <= first["score_percent"] <= first["score_percent_high"]
    assert first["short_s_p50"] <= first["short_s_p95"] and "congestion=reno" in first["command"]
    assert list(advice.to_pandas().columns) == advice.to_polars().columns
    with pytest.raises(lasthop.Error, match="linux-cubic"):
        lasthop.advise("umts", sender="nobody")


class Never(lasthop.CongestionControl):
    def on_ack(self, ack: lasthop.Ack) -> None: ...

    def on_loss(self, loss: lasthop.Loss) -> None: ...


def test_crosscheck_takes_no_strategy_in_python() -> None:
    with pytest.raises(lasthop.Error, match="is too slow for real packets"):
        lasthop.crosscheck("umts", set={"congestion": Never})


def test_words_of_a_line_are_keys_of_it() -> None:
    line = "rate=2Mbit/s,rtt=40ms,duration=5s"
    expected = lasthop.run(f"{line},loss=2%", runs=2).flows.to_dict()
    assert lasthop.run(line, set={"loss": "2%"}, runs=2).flows.to_dict() == expected
    assert lasthop.run(f"{line},loss=7%", set={"loss": 0.02}, runs=2).flows.to_dict() == expected
    compared = lasthop.compare(line, vary={"loss": ["1%", "2%"], "rtt": ["40ms", "80ms"]}, runs=2)
    assert compared.paths == ["loss", "rtt"] and len(compared.flows) == 8
    with pytest.raises(lasthop.Error, match="write it after the path: umts,rtt="):
        lasthop.run("umts", set={"rtt": "80ms"})


def test_replicas_of_a_flow_differ() -> None:
    flow = {
        "from": "a",
        "to": "b",
        "count": 4,
        "extra_delay": ["0 s", "50 ms"],
        "sender": {"congestion": {"mix": {"cubic": 0.5, "bbr": 0.5}}},
    }
    link = {"from": "a", "to": "b", "rate": "100 Mbit/s", "one_way_delay": "10 ms"}
    results = lasthop.run({"duration": "5 s", "link": {"l": link}, "flow": {"x": flow}}, runs=1)
    rtts = results.flows["smallest_rtt_ms"]
    assert [rtt > 100 for rtt in rtts] == [False, True, False, True]
    assert 'congestion = { "mix" = { "cubic" = 0.5, "bbr" = 0.5 } }' in results.scenario.to_toml()
