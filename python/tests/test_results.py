"""Tests that results equal the command's output, bit for bit, in every form."""

import csv
import io
import json
import sys
from pathlib import Path

import pandas
import polars
import pyarrow  # type: ignore[import-untyped]
import pytest

import lasthop

from conftest import Command

# Together, the scenarios cover random losses, link retransmissions (`umts`, `hasegawa`), several flows, and finite
# transfers, some of which are unfinished.
PATHS = [
    "umts",
    "hasegawa",
    "rate=10Mbit/s,rtt=40ms,queue=20packets,loss=0.5%,count=3,duration=10s",
    "rate=2Mbit/s,rtt=40ms,loss=1%,transfer=1MB,duration=5s",
]


@pytest.mark.parametrize("path", PATHS)
def test_json_is_the_commands_byte_for_byte(command: Command, path: str) -> None:
    results = lasthop.run(path, runs=3, set={"duration": "5 s"})
    printed = command("run", path, "--runs", "3", "--set", "duration=5 s", "--format", "json")
    assert printed.stdout
    assert results.to_json() == printed.stdout
    assert results.summary == [json.loads(line) for line in printed.stdout.splitlines()]


@pytest.mark.parametrize("path", PATHS)
def test_rows_are_the_commands(command: Command, path: str) -> None:
    rows = list(csv.DictReader(io.StringIO(command("run", path, "--runs", "2", "--format", "csv").stdout)))
    table = lasthop.run(path, runs=2).flows
    assert table.column_names == list(rows[0])
    for name in table.column_names:
        parse = str if name == "flow" else lambda text: float(text) if text else None
        # Rust prints a number with the fewest digits that parse to the same number. The values are therefore exactly
        # equal.
        assert table[name] == [parse(row[name]) for row in rows], name


def test_a_comparison_is_the_commands(command: Command) -> None:
    vary = {"recovery": ["sack", "reno"], "ack_counting": ["bytes", "packets"]}
    comparison = lasthop.compare("umts", vary=vary, runs=3, set={"duration": "10 s"})
    arguments = [
        "compare",
        "umts",
        "--vary",
        "recovery=sack,reno",
        "--vary",
        "ack_counting=bytes,packets",
        "--runs",
        "3",
    ]
    printed = command(*arguments, "--set", "duration=10 s", "--format", "json").stdout
    assert comparison.to_json() == printed
    frame = comparison.to_pandas()
    assert list(frame.columns[:5]) == ["recovery", "ack_counting", "flow", "run", "seed"]
    assert len(frame) == 12
    # The runs are paired: each of the four combinations has the seeds 1, 2 and 3.
    assert set(frame.groupby(["recovery", "ack_counting"]).seed.sum()) == {1 + 2 + 3}


def test_classes_are_the_commands(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "classes.toml"
    link = '[link.l]\nfrom = "a"\nto = "b"\nrate = "10 Mbit/s"\none_way_delay = "10 ms"\n'
    many = '[flow.many]\nfrom = "a"\nto = "b"\ncount = 3\nstart_spread = "100 ms"\n'
    one = '[flow.one]\nfrom = "a"\nto = "b"\n'
    path.write_text(f'title = "classes"\nduration = "5 s"\n{link}{many}{one}')
    results = lasthop.run(path, runs=2)
    printed = command("run", str(path), "--runs", "2", "--classes", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert results.classes.column_names == list(rows[0])
    for name in results.classes.column_names:
        parse = str if name == "class" else lambda text: float(text) if text else None
        assert results.classes[name] == [parse(row[name]) for row in rows], name
    # The class `many` must have the sum and the mean of its three flows.
    goodputs = [results.mean("goodput_kbps", f"many.{number}") for number in (1, 2, 3)]
    mean, total = results.mean("goodput_kbps", "many"), results.mean("total_goodput_kbps", "many")
    assert mean is not None and total is not None and all(goodputs)
    assert mean.mean == pytest.approx(sum(one.mean for one in goodputs if one) / 3)
    assert total.mean == pytest.approx(sum(results.flows["delivered_bytes"][:3]) * 8 / 5 / 1e3, rel=0.2)
    with pytest.raises(lasthop.Error, match="no flow `few`"):
        results.mean("goodput_kbps", "few")
    compared = lasthop.compare(path, vary={"l.down.queue": ["5 packets", "50 packets"]}, runs=2)
    assert set(compared.classes["class"]) == {"many", "one"} and len(compared.classes) == 8


def test_events_are_the_commands_trace(command: Command, tmp_path: Path) -> None:
    line = "rate=2Mbit/s,rtt=40ms,queue=10packets,loss=2%,duration=5s"
    for source in (line, "drop-patterns"):
        file = tmp_path / "trace.jsonl"
        assert command("run", source, "--runs", "1", "--trace", str(file)).returncode == 0
        expected = [json.loads(line) for line in file.read_text().splitlines()]
        table = lasthop.run(source, runs=1, events=True).events
        for row in expected:
            if "sack" in row:
                row["sack"] = [end for block in row["sack"] for end in block]
        columns = table.to_dict()
        rows = [
            {name: value for name, value in zip(columns, values, strict=True) if value is not None}
            for values in zip(*columns.values(), strict=True)
        ]
        assert rows == expected


def test_samples_are_the_commands(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "samples.csv"
    command("run", "umts", "--runs", "1", "--samples", str(file))
    with file.open() as opened:
        rows = list(csv.DictReader(opened))
    results = lasthop.run("umts", runs=1, samples=True)
    samples, queues = results.samples, results.queues
    assert samples["time_s"] == [float(row["time_s"]) for row in rows]
    for name in samples.column_names[2:]:
        assert samples[name] == [float(row[name]) if row[name] else None for row in rows], name
    down = [at for at, link in enumerate(queues["link"]) if link == "wireless.down"]
    waiting = queues["queue_packets"]
    assert [waiting[at] for at in down] == [int(row["wireless.down.queue_packets"]) for row in rows]


def test_tables_are_given_away_without_a_copy() -> None:
    table = lasthop.run("umts", runs=5, set={"duration": "2 s"}).flows
    ours, again = pyarrow.table(table), pyarrow.table(table)

    def addresses(of: pyarrow.Table) -> list[int]:
        return [part.address for column in of.columns for part in column.chunk(0).buffers() if part]

    assert addresses(ours) == addresses(again)
    assert ours.schema.field("goodput_kbps").metadata[b"doc"].decode() == table.doc("goodput_kbps")
    assert pyarrow.schema(table) == ours.schema
    # The Arrow data must remain valid after the table is deleted.
    first = ours.column("goodput_kbps").to_pylist()
    del table, again
    assert ours.column("goodput_kbps").to_pylist() == first


def test_frames_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    results = lasthop.run("rate=2Mbit/s,rtt=40ms,loss=1%,transfer=1MB,duration=5s", runs=3)
    frame = results.to_pandas()
    assert (
        frame.goodput_kbps.tolist()
        == results.to_polars()["goodput_kbps"].to_list()
        == results.flows["goodput_kbps"]
    )
    assert polars.DataFrame(results).equals(results.to_polars())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    pandas.testing.assert_frame_equal(results.to_pandas(), frame, check_dtype=False, check_column_type=False)


def test_means_are_the_summarys() -> None:
    results = lasthop.run("umts", runs=3)
    mean = results.mean("goodput_kbps")
    assert mean is not None and mean.runs == 3 and mean.ci95 is not None
    goodputs = results.flows["goodput_kbps"]
    assert mean.mean == pytest.approx(sum(goodputs) / 3, rel=1e-12)
    assert mean.ci95[0] < mean.mean < mean.ci95[1]
    one = lasthop.run("umts", runs=1).mean("goodput_kbps")
    assert one is not None and one.ci95 is None
    assert results.mean("completed_s") is None
    with pytest.raises(lasthop.Error, match="did you mean `goodput_kbps`"):
        results.mean("goodput_kbs")


def test_any_number_of_threads_gives_the_same() -> None:
    one, several = (lasthop.run("umts", runs=4, jobs=jobs).to_json() for jobs in (1, 3))
    assert one == several


def test_a_deterministic_scenario_runs_once() -> None:
    assert lasthop.run("rate=10Mbit/s,rtt=20ms,queue=20packets,duration=2s").runs == 1


def test_varied_numbers_are_numbers() -> None:
    vary: dict[str, list[object]] = {"loss": [0.001, 0.02, 0.003], "burst": [1, 20, 5], "queue": ["5 packets", "20 packets"], "up_loss": [0, "1%"]}
    compared = lasthop.compare("rate=1Mbit/s,loss=1%", vary=vary, runs=1, set={"duration": "1 s"})
    frame = compared.to_pandas()
    assert [str(frame[key].dtype) for key in ("loss", "burst")] == ["float64", "int64"]
    assert sorted(frame.loss.unique()) == [0.001, 0.003, 0.02]
    assert sorted(frame.burst.unique()) == [1, 5, 20], "numbers are sorted by size, not as text"
    assert set(frame["queue"]) == {"5 packets", "20 packets"}
    assert set(frame["up_loss"]) == {"0", "1%"}, "one value with a unit makes the column text"
    assert compared.links["loss"] == compared.links.to_pandas().loss.to_list()


def test_what_changes_nothing_is_noted_once(command: Command) -> None:
    line = "rate=1Mbit/s,loss=1%,duration=1s"
    with pytest.warns(UserWarning, match='ack_splitting = "split" changes nothing') as warned:
        compared = lasthop.compare(line, vary={"ack_splitting": ["once", "split"]}, runs=1)
    assert len(warned) == len(compared.notes) == 1
    printed = command("compare", line, "--vary", "ack_splitting=once,split", "--runs", "1", "--format", "json").stdout
    assert compared.to_json() == printed
    assert [one["x"]["ack_splitting"] for one in compared.summary] == ["once", "split"]
    with pytest.warns(UserWarning, match="share of 1 is 100 %"):
        lost = lasthop.run(line, set={"loss": 1}, runs=1)
    assert lost.mean("goodput_kbps") == lasthop.Estimate(0.0, None, 1)
    assert json.loads(lost.to_json().splitlines()[-1])["note"] == lost.scenario.notes[0]


@pytest.mark.parametrize("path", ["lte", "wifi-edge", "starlink", "nr-mmwave"])
@pytest.mark.filterwarnings("ignore:link")
def test_loss_is_the_same_in_the_line_set_and_varied(path: str) -> None:
    short = {"duration": "3 s"}
    line = lasthop.run(f"{path},loss=10%", runs=1, set=short).flows.to_dict()
    assert lasthop.run(path, runs=1, set={"loss": 0.1, **short}).flows.to_dict() == line
    varied = lasthop.compare(path, runs=1, vary={"loss": [0.1, 0.2]}, set=short).to_pandas()
    assert varied.goodput_kbps[0] == line["goodput_kbps"][0]


def test_notebooks_see_tables() -> None:
    results = lasthop.run("umts", runs=2)
    assert "<td>goodput_kbps</td>" in results._repr_html_()
    assert "1 of 1 rows" in lasthop.run("umts", runs=1).flows._repr_html_()
    assert "goodput bulk" in repr(results)


def test_a_paper_is_the_commands(command: Command) -> None:
    reproduction = lasthop.reproduce("rfc9438", quick=True)
    printed = command("reproduce", "rfc9438", "--quick", "--format", "json", "--report", "/dev/null")
    expected = [json.loads(line) for line in printed.stdout.splitlines()]
    assert expected
    assert reproduction.items == expected
    assert len(reproduction.to_pandas()) == len(reproduction.to_polars()) == len(expected)
