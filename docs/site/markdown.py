"""Functions for Markdown: escape text, write tables of contents, read sections of the program's reference."""

import functools
import re
from typing import NamedTuple

from program import lasthop


class Section(NamedTuple):
    """A section of `lasthop help reference`."""

    chapter: str
    title: str
    body: str


@functools.cache
def sections():
    """Returns the sections of `lasthop help reference`, in order."""
    found = []
    for part in re.split(r"(?m)^# ", lasthop("help", "reference"))[1:]:
        chapter, _, text = part.partition("\n")
        for section in re.split(r"(?m)^## ", text)[1:]:
            title, _, body = section.partition("\n")
            found.append(Section(chapter.strip(), title.strip(), body.strip()))
    return found


def rows(body):
    """Returns the rows of a Markdown table, each as a list of cells. The heading is left out."""
    lines = [line for line in body.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[1:]]


def table(head, cells):
    lines = [f"| {' | '.join(row)} |" for row in [head, *cells]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def escaped(text):
    """Escapes the characters that Markdown would interpret, except within code spans."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\<>*_\[\]{}$#])", r"\\\1", part) for part in parts
    )


def cell(text):
    return text.replace("|", "\\|")


def contents(entries, *options):
    """Returns a table of contents (a toctree directive of Sphinx)."""
    return "\n".join(["```{toctree}", *options, "", *entries, "```"])


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
