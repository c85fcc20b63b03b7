"""Tests that the Python code in README, the how-tos for Python and the notebooks runs."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize(
    "page", ["README.md", "docs/how-to/python.md", "docs/how-to/own-mechanism-python.md"]
)
def test_what_a_page_shows_runs_from_top_to_bottom(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    shown = blocks(page)
    assert shown
    exec(compile("\n".join(shown), page, "exec"), {"__name__": "page"})


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
