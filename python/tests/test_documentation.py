"""Tests that the notebooks run, and that `docs/blocks/run`, which runs the commands of pages, finds faults."""

import re
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]


# A page with faults. The test lists the lines with a fault; all other lines are correct.
FAULTY = """<!-- set-up
lasthop show umts > mine.toml
-->

```console
$ lasthop check mine.toml
mine.toml: 3 nodes, 2 links, 1 flow; 60 s, 10 runs
$ lasthop --help | head -1
…
$ lasthop check mine.toml
mine.toml: 4 nodes
```

```sh
lasthop check mine.toml
lasthop check umts,loss=many   # exit status 2
lasthop check umts,loss=many
```

<!-- not run: needs root -->
```sh
sudo lasthop doctor
```

```sh
sudo lasthop doctor
```

```
lasthop list
```

Use `lasthop run umts --runs 3`, `lasthop run FILE --pcap FILE` and `lasthop emulate lte -- curl …`, but
not `lasthop run umts --laps 3` or
`lasthop run FILE --laps 3` or
`lasthop run 'lte,speed=3'`.

```python
import lasthop
```

```python
assert lasthop.nothing
```
"""


def test_faults_of_a_page_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(FAULTY, encoding="utf-8")
    ran = subprocess.run([ROOT / "docs/blocks/run", page], capture_output=True, text=True)
    found = re.findall(r"^\S*page\.md:(\d+):", ran.stdout, re.MULTILINE)
    faulty = [
        "mine.toml: 4",
        "many\n```",
        "doctor\n```\n\n```\n",
        "lasthop list\n",
        "not `",
        "FILE --laps",
        "speed",
        "nothing",
    ]
    begins = [FAULTY.index(text) for text in faulty]
    lines = [FAULTY[:begin].count("\n") + 1 for begin in begins]
    lines[0] -= 1  # a faulty output is reported at its command
    assert sorted(map(int, found)) == lines, ran.stdout
    assert ran.returncode == 1
    subprocess.run([ROOT / "docs/blocks/run", "--update", page], capture_output=True)
    assert page.read_text(encoding="utf-8") == FAULTY.replace(
        "4 nodes", "3 nodes, 2 links, 1 flow; 60 s, 10 runs"
    )


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "docs/tutorials/python").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_notebooks_run(notebook: Path, tmp_path: Path) -> None:
    read = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in read.cells), "notebooks must be stored without outputs"
    NotebookClient(read, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown, drawn = [], []
    for cell in read.cells:
        if cell.cell_type == "code":
            drawn.append(len(re.findall(r"\bplot\.\w+\(", cell.source)))
            shown.append(sum("image/png" in output.get("data", {}) for output in cell.outputs))
    assert sum(drawn) > 1
    assert shown == drawn, "figures of each cell"


def test_there_are_four_notebooks() -> None:
    assert len(list((ROOT / "docs/tutorials/python").glob("*.ipynb"))) == 4
