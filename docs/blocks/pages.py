"""Reads the blocks of code and the inline code of a Markdown page."""

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(?P<indent>[ >]*)(?P<fence>`{3,}|~{3,})\s*(?P<kind>[^\s`]*)[^`]*$")
MARK = re.compile(r"^\s*<!-- not run: (?P<reason>.+?) -->\s*$")
SET_UP = re.compile(r"^<!-- set-up\n(?P<text>.*?)^-->", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass
class Block:
    """Text between fences, or indented text (with `kind` "indented")."""

    kind: str
    line: int  # number of the first line of the text, from 1
    text: list[str]
    reason: str | None = None  # reason for not running the block, from its mark
    indent: str = ""


@dataclass
class Page:
    path: Path
    text: list[str]
    set_up: str = ""
    blocks: list[Block] = field(default_factory=list)
    inline: list[tuple[int, str]] = field(default_factory=list)  # line number and inline code, outside of blocks


def read(path):
    text = path.read_text(encoding="utf-8")
    page = Page(path, text.split("\n"))
    if found := SET_UP.search(text):
        page.set_up = found["text"]
    # Replaces each comment by the same number of line breaks, so that line numbers stay correct. Keeps the marks `not
    # run`, because `reason` reads them.
    bare = COMMENT.sub(lambda it: it[0] if MARK.match(it[0]) else "\n" * it[0].count("\n"), text).split("\n")
    running = list(bare)
    number = 0
    while number < len(bare):
        begin, end, block = fenced(bare, number) or indented(bare, number) or (number, number + 1, None)
        if block:
            block.reason = reason(bare, begin)
            page.blocks.append(block)
            running[begin:end] = [""] * (end - begin)
        number = end
    for number, code in inline(running):
        page.inline.append((number, code))
    return page


def fenced(lines, begin):
    """Returns begin, end (exclusive) and content of the fenced block that starts at line `begin`, or `None`."""
    if not (opened := FENCE.match(lines[begin])):
        return None
    end = begin + 1
    while end < len(lines) and lines[end].strip(" >") != opened["fence"]:
        end += 1
    indent = opened["indent"]
    text = [line.removeprefix(indent) for line in lines[begin + 1 : end]]
    return begin, end + 1, Block(opened["kind"], begin + 2, text, indent=indent)


def indented(lines, begin):
    """Returns the same values as `fenced` for text that follows an empty line and is indented by four blanks."""
    if not lines[begin].startswith("    ") or (begin > 0 and lines[begin - 1].strip()):
        return None
    end = begin
    while end < len(lines) and lines[end].startswith("    "):
        end += 1
    return begin, end, Block("indented", begin + 1, [line[4:] for line in lines[begin:end]], indent="    ")


def reason(lines, begin):
    """Returns the reason in the mark `not run` before a block, or `None`. Empty lines may separate mark and block."""
    before = begin - 1
    while before >= 0 and not lines[before].strip():
        before -= 1
    found = MARK.match(lines[before]) if before >= 0 else None
    return found["reason"] if found else None


def inline(lines):
    """Yields the line number and the text of each inline code. Inline code may continue on the next line."""
    begin = 0
    while begin < len(lines):
        end = begin
        while end < len(lines) and lines[end].strip():
            end += 1
        paragraph = "\n".join(lines[begin:end])
        for found in INLINE.finditer(paragraph):
            yield begin + 1 + paragraph[: found.start()].count("\n"), found["code"].replace("\n", " ").strip()
        begin = end + 1
