"""Runs what a page shows, and reports what is not as shown."""

from collections import Counter
from dataclasses import dataclass, field

import commands
import compare
import inline
from folder import ROOT, Folder, python

# Blocks of other kinds show files, messages or other languages; a command in one of them is never run.
SHELLS = ("sh", "console")


@dataclass
class Report:
    """Counts of commands and Python blocks by what became of them, and faults with their lines."""

    counts: Counter = field(default_factory=Counter)
    marked: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other):
        self.counts += other.counts
        self.marked += other.marked
        self.faults += other.faults


def play(page, is_run=True, is_updated=False):
    """Report on a page. Without `is_run` only counts; with `is_updated` rewrites outputs in place."""
    report, name = Report(), page.path.relative_to(ROOT)
    folder = Folder(str(name).replace("/", "-").removesuffix(".md")) if is_run else None

    def fault(line, text):
        report.faults.append(f"{name}:{line}: {text}")

    if folder and page.set_up:
        status, lines = folder.run("set -e\n" + page.set_up)
        if status != 0:
            fault(1, "the set-up fails:\n" + "\n".join(lines))
            return report
    pythons, changes = [], []
    for block in page.blocks:
        if block.kind not in (*SHELLS, "python"):
            for step in commands.of_shell(block) + commands.of_console(block):
                if step.is_lasthop:
                    count_unmarked(report, block, step, fault, f"a command in a block of kind {block.kind!r}")
        elif block.kind == "python":
            if block.reason:
                report.marked[block.reason] += 1
            else:
                pythons.append(block)
        else:
            steps = commands.of_console(block) if block.kind == "console" else commands.of_shell(block)
            for step in steps:
                if block.reason and step.is_lasthop:
                    report.marked[block.reason] += 1
                elif step.is_refused and step.is_lasthop:
                    count_unmarked(report, block, step, fault, "needs a mark: it changes the machine")
                elif block.reason or step.is_refused or not (step.is_lasthop or block.kind == "console"):
                    pass
                elif block.kind == "console":
                    report.counts["compared"] += 1
                    if folder:
                        changes += check_output(folder, step, block, fault, is_updated)
                else:
                    report.counts["run"] += 1
                    if folder:
                        check_status(folder, step, fault)
    if pythons:
        report.counts["run (Python)" if python() else "not run: the Python package is not built"] += len(pythons)
        if folder and python() and (failed := folder.run_python(name, pythons)):
            fault(failed[0], failed[1])
    for line, code in page.inline:
        if inline.is_command(code):
            report.counts["parsed"] += 1
            if folder and (text := inline.fault(folder, code)):
                fault(line, f"`{code}`\n{text}")
    if changes:
        rewrite(page, changes)
    return report


def count_unmarked(report, block, step, fault, text):
    if block.reason:
        report.marked[block.reason] += 1
    else:
        report.counts["unmarked"] += 1
        fault(step.line, f"{text}: {step.command}")


def check_status(folder, step, fault):
    status, lines = folder.run(step.command)
    if status != (step.status or 0):
        fault(step.line, f"status {status}: {step.command}\n" + "\n".join(lines[-12:]))


def check_output(folder, step, block, fault, is_updated):
    """Changes of the page (first line, number of lines, new lines): one if the output differs and is updated."""
    status, lines = folder.run(step.command)
    if step.status is not None and status != step.status:
        fault(step.line, f"status {status}: {step.command}")
    lines = compare.lasting(lines)
    if compare.agree(step.expected, lines):
        return []
    new = compare.updated(step.expected, lines) if is_updated else None
    if new is None:
        fault(step.line, f"{step.command}\n" + compare.difference(step.expected, lines))
        return []
    return [(step.output, len(step.expected), [block.indent + line for line in new])]


def rewrite(page, changes):
    for line, count, new in reversed(changes):
        page.text[line - 1 : line - 1 + count] = new
    page.path.write_text("\n".join(page.text), encoding="utf-8")
