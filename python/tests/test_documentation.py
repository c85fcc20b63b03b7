"""Tests that the notebooks run. `docs/blocks/run` runs the Python code of README and docs."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]


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
