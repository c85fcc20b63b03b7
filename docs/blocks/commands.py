"""Splits a block of a page into its commands. `sh` blocks have only commands; `console` blocks also show outputs."""

import re
from dataclasses import dataclass, field

# Matches `lasthop` at the start of a command. `sudo`, `time` and variable assignments may precede the name.
PROGRAM = re.compile(
    r"(?:^|[|;&(]|\bdo|\bthen)\s*(?:(?:\w+=\S*|sudo|time|exec|!)\s+)*lasthop(?:\s|$)", re.MULTILINE
)
# Matches commands that change the machine or take minutes. These commands are never run.
REFUSED = re.compile(
    r"(?:^|[|;&(])\s*(?:sudo|apt|pip|pipx|cargo|make|docker|podman|pacman|dnf|brew)\s", re.MULTILINE
)
# Matches `cargo run`, with which pages build and call the program. The check calls the built `lasthop` instead.
CARGO = re.compile(r"\bcargo run (?:--release|--profile quick) -- ")
STATUS = re.compile(r"#\s*exit status (\d+)\s*$")


@dataclass
class Step:
    """A command of a block, with its expected output."""

    command: str
    line: int
    expected: list[str] = field(default_factory=list)
    output: int = 0  # line of the page at which the expected output begins
    status: int | None = None

    @property
    def is_lasthop(self):
        return bool(PROGRAM.search(self.command))

    @property
    def is_refused(self):
        return bool(REFUSED.search(self.command))


def step(text, line):
    status = STATUS.search(text)
    text = CARGO.sub("lasthop ", text)
    return Step(text, line, status=int(status[1]) if status else None)


def of_shell(block):
    """Returns the steps of an `sh` block: one for each line. A backslash or an open quote adds the next line."""
    steps, held, begin = [], [], 0
    for number, line in enumerate(block.text):
        held.append(line)
        begin = begin if len(held) > 1 else number
        if is_open("\n".join(held)):
            continue
        if text := "\n".join(held).strip():
            steps.append(step(text, block.line + begin))
        held = []
    return steps


def of_console(block):
    """Returns the steps of a `console` block. A step is `$ command`, lines `> …` that continue it, and its output."""
    steps = []
    for number, line in enumerate(block.text, block.line):
        if line.startswith("$ "):
            steps.append(step(line[2:], number))
            steps[-1].output = number + 1
        elif steps and not steps[-1].expected and is_open(steps[-1].command):
            steps[-1] = step(steps[-1].command + "\n" + line.removeprefix("> "), steps[-1].line)
            steps[-1].output = number + 1
        elif steps:
            steps[-1].expected.append(line)
    return steps


def is_open(text):
    """Returns whether a command continues in the next line."""
    quote, escaped, comment = "", False, False
    for index, letter in enumerate(text):
        if comment:
            comment = letter != "\n"
        elif escaped:
            escaped = False
        elif letter == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (index == 0 or text[index - 1].isspace()):
            comment = True
    return bool(quote) or escaped
