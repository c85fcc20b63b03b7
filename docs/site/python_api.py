"""Writes the Python API: a copy of the package for Sphinx, and a page with a summary of each name."""

import re
import shutil

from program import PACKAGE, ROOT, write

GROUPS = {
    "Functions": [
        "run",
        "compare",
        "sweep",
        "advise",
        "reproduce",
        "crosscheck",
        "merge",
        "read_store",
        "mechanisms",
        "ready_paths",
    ],
    "Results": [
        "Scenario",
        "Results",
        "Comparison",
        "Sweep",
        "Advice",
        "Crosscheck",
        "Reproduction",
        "Table",
        "Estimate",
        "Error",
    ],
    "Mechanisms of your own": [
        "CongestionControl",
        "AckPolicy",
        "AckSplitting",
        "AdvertisedWindow",
        "LossDiscriminator",
        "Admission",
        "Queue",
        "Slices",
        "Stack",
    ],
    "Arguments of hooks": [
        "Ack",
        "Loss",
        "LostSegment",
        "Arrival",
        "Due",
        "Gap",
        "Packet",
        "PathEstimate",
        "QueueState",
        "Recovered",
        "SenderCounts",
        "Start",
        "UplinkCounts",
        "Backlog",
    ],
}


def pages():
    """Writes the copy of the package and the page of summaries. Returns the number of names on the page."""
    package()
    exported = _exported("__init__.py", "lasthop")
    figures = [f"plot.{name}" for name in _exported("plot.py", "lasthop.plot")]
    known = {name for names in GROUPS.values() for name in names} | {"__version__"}
    groups = {title: [name for name in names if name in exported] for title, names in GROUPS.items()}
    groups["Others"] = sorted(set(exported) - known)
    groups["Figures"] = figures
    out = [
        "# Python API",
        "`pip install .` in a clone builds the package. [Lasthop in Python](../../how-to/python.md) starts from an example.",
    ]
    for title, names in groups.items():
        if names:
            out.append(f"## {title}\n\n" + _summary(names))
    write("reference/python/index.md", "\n\n".join(out) + "\n")
    return sum(map(len, groups.values()))


def _summary(names):
    lines = [".. currentmodule:: lasthop", "", ".. autosummary::", "   :toctree: .", "   :nosignatures:", ""]
    return "\n".join(["```{eval-rst}", *lines, *(f"   {name}" for name in names), "```"])


def _exported(file, module):
    text = (PACKAGE / "lasthop" / file).read_text(encoding="utf-8")
    return re.findall(r'"(\w+)"', re.search(r"__all__ = \[(.*?)\]", text, re.DOTALL)[1])


def package():
    """Copies the package. Replaces the extension module by its stub file, because the extension is not built here."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    copied = PACKAGE / "lasthop"
    shutil.copytree(ROOT / "python/lasthop", copied, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    stub = copied / "_lasthop.pyi"
    version = re.search(r'(?m)^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text())[1]
    text = re.sub(r'^"""\n.*?"""\n', "", stub.read_text(encoding="utf-8"), count=1, flags=re.DOTALL)
    text = text.replace("__version__: Final[str]", f'__version__: Final[str] = "{version}"')
    (copied / "_lasthop.py").write_text("from __future__ import annotations\n" + text, encoding="utf-8")
    stub.unlink()
