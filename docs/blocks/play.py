"""Runs the commands and Python blocks of a page, and reports failures and outputs that differ from the page."""

from collections import Counter
from dataclasses import dataclass, field

import commands
import compare
import inline
from folder import ROOT, Folder, python

# Kinds of blocks whose commands are run. Blocks of other kinds show files, messages or other languages.
SHELLS = ("sh", "console")


@dataclass
class Report:
    """Results of a page: number of commands by kind of check, number of unrun blocks by reason, and faults."""

    counts: Counter = field(default_factory=Counter)
    marked: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other):
        self.counts += other.counts
        self.marked += other.marked
        self.faults += other.faults


def play(page, is_run=True, is_updated=False):
    """Checks a page and returns a report. If `is_run` is false, only counts. If `is_updated`, rewrites outputs."""
    return Player(page, is_run, is_updated).play()


class Player:
    def __init__(self, page, is_run, is_updated):
        self.page, self.is_updated = page, is_updated
        self.name = page.path.relative_to(ROOT) if page.path.is_relative_to(ROOT) else page.path
        self.folder = (
            Folder(str(self.name).strip("/").replace("/", "-").removesuffix(".md")) if is_run else None
        )
        self.report = Report()
        self.pythons = []  # Python blocks, which run together at the end
        self.changes = []  # changes of the page: first line, number of lines, new lines

    def play(self):
        if self.folder and self.page.set_up:
            status, lines = self.folder.run("set -e\n" + self.page.set_up)
            if status != 0:
                self.fault(1, "the set-up fails:\n" + "\n".join(lines))
                return self.report
        for block in self.page.blocks:
            if block.kind == "python":
                self.play_python(block)
            elif block.kind in SHELLS:
                self.play_shell(block)
            else:
                for step in commands.of_shell(block) + commands.of_console(block):
                    self.mark(block, step, f"a command without a mark in a block of kind {block.kind!r}")
        self.run_pythons()
        for line, code in self.page.inline:
            if inline.is_command(code):
                self.report.counts["parsed"] += 1
                if self.folder and (text := inline.fault(self.folder, code)):
                    self.fault(line, f"`{code}`\n{text}")
        if self.changes:
            rewrite(self.page, self.changes)
        return self.report

    def fault(self, line, text):
        self.report.faults.append(f"{self.name}:{line}: {text}")

    def mark(self, block, step, text):
        """Counts a command that is not run, by the reason in its block's mark. Reports a fault if no mark exists."""
        if not step.is_lasthop:
            return
        if block.reason:
            self.report.marked[block.reason] += 1
        else:
            self.report.counts["unmarked"] += 1
            self.fault(step.line, f"{text}: {step.command}")

    def play_python(self, block):
        if block.reason:
            self.report.marked[block.reason] += 1
        else:
            self.pythons.append(block)

    def run_pythons(self):
        if not self.pythons:
            return
        name = "run (Python)" if python() else "not run: the Python package is not built"
        self.report.counts[name] += len(self.pythons)
        if self.folder and python() and (failed := self.folder.run_python(self.name, self.pythons)):
            self.fault(*failed)

    def play_shell(self, block):
        is_console = block.kind == "console"
        for step in commands.of_console(block) if is_console else commands.of_shell(block):
            if block.reason or step.is_refused:
                self.mark(block, step, "the command needs a mark `not run`, because it changes the machine")
            elif is_console:
                self.report.counts["compared"] += 1
                self.check_output(step, block)
            elif step.is_lasthop:
                self.report.counts["run"] += 1
                self.check_status(step)

    def check_status(self, step):
        if self.folder is None:
            return
        status, lines = self.folder.run(step.command)
        if status != (step.status or 0):
            self.fault(step.line, f"status {status}: {step.command}\n" + "\n".join(lines[-12:]))

    def check_output(self, step, block):
        if self.folder is None:
            return
        status, lines = self.folder.run(step.command)
        lines = compare.lasting(lines)
        if step.status is not None and status != step.status:
            self.fault(step.line, f"status {status}: {step.command}")
        if compare.agree(step.expected, lines):
            return
        new = compare.updated(step.expected, lines) if self.is_updated else None
        if new is None:
            self.fault(step.line, f"{step.command}\n" + compare.difference(step.expected, lines))
        else:
            self.changes.append((step.output, len(step.expected), [block.indent + line for line in new]))


def rewrite(page, changes):
    for line, count, new in reversed(changes):
        page.text[line - 1 : line - 1 + count] = new
    page.path.write_text("\n".join(page.text), encoding="utf-8")
