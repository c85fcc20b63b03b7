"""Finds the texts of the repository: comments, docstrings and strings of Rust and Python, and lines of pages."""

import io
import re
import subprocess
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Pages for contributors. Pages for users are left out.
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md")

TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*)
  | (?P<block>/\*.*?\*/)
  | (?P<raw>b?r(?P<hashes>\#*)"(?P<rawtext>.*?)"(?P=hashes))
  | (?P<string>[bc]?"(?P<text>(?:\\.|[^"\\])*)")
  | (?P<char>b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\])')
  | (?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)


@dataclass
class Place:
    """A text, and the file and the line where it begins."""

    path: str
    line: int
    kind: str  # "comment", "string" or "paragraph"
    text: str


def files(*endings):
    """Returns the paths of all files in Git with one of these endings."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if path.endswith(endings) and (ROOT / path).exists()]


def is_test(path):
    """Returns whether a file contains only tests."""
    return "/tests/" in path or path.startswith(("python/tests", "fuzz")) or path.endswith("tests.rs")


def of_rust(path, source):
    """Returns the blocks of consecutive comment lines in a Rust file, and its string literals outside of tests."""
    places, block = [], None
    tests = source.find("#[cfg(test)]\nmod tests")
    is_data = lambda at: is_test(path) or 0 <= tests < at
    line, at = 1, 0
    for match in TOKEN.finditer(source):
        line += source.count("\n", at, match.start())
        at = match.start()
        token = match.group(0)
        if match.lastgroup == "comment" or match.group("comment"):
            mark = re.match(r"//[/!]?", token).group(0)
            text = token[len(mark) :].strip()
            if block and block[0] == mark and block[1] + 1 == line:
                block[1] = line
                block[2].text += "\n" + text
            else:
                place = Place(path, line, "comment", text)
                places.append(place)
                block = [mark, line, place]
        elif is_data(at):
            continue
        elif match.group("text") is not None:
            places.append(Place(path, line, "string", re.sub(r"\\\n\s*", "", match.group("text"))))
        elif match.group("rawtext") is not None:
            places.append(Place(path, line, "string", match.group("rawtext")))
    return places


def of_python(path, source):
    """Returns the blocks of consecutive comment lines in a Python file, and its string literals with docstrings."""
    places, last = [], None
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("#! ").rstrip()
            if last and last[0] + 1 == token.start[0]:
                last[1].text += "\n" + text
            else:
                last = [0, Place(path, token.start[0], "comment", text)]
                places.append(last[1])
            last[0] = token.start[0]
        elif token.type == tokenize.STRING:
            text = re.sub(r"^[rbfuRBFU]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$", "", token.string)
            kind = "comment" if '"""' in token.string else "string"
            places.append(Place(path, token.start[0], kind, "\n".join(part.strip() for part in text.split("\n"))))
    return places


def of_page(path, source):
    """Returns the lines of a page without headings and code blocks: paragraphs, list items and table rows."""
    source = re.sub(r"^```.*?^```", lambda code: "\n" * code.group(0).count("\n"), source, flags=re.DOTALL | re.MULTILINE)
    places = []
    for match in re.finditer(r"(?:^[^\n]+\n?)+", source, flags=re.MULTILINE):
        line = source.count("\n", 0, match.start()) + 1
        for offset, text in enumerate(match.group(0).splitlines()):
            if not re.match(r"#|\|[-|]+$", text):
                places.append(Place(path, line + offset, "paragraph", text))
    return places


def places():
    """Returns all texts of the repository. The texts of a file are in the order of their lines."""
    found = []
    for path in files(".rs", ".py", ".pyi"):
        source = (ROOT / path).read_text()
        found += of_rust(path, source) if path.endswith(".rs") else of_python(path, source)
    for path in PAGES:
        if (ROOT / path).exists():
            found += of_page(path, (ROOT / path).read_text())
    return found


def sentences(text):
    """Yields the sentences of a text. Splits the text at blank lines, list marks and full stops."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    for part in re.split(r"\n\s*\n|\n\s*[*-] ", "\n" + text):
        part = re.sub(r"^\s*[*#-]+ ", "", part.strip())
        yield from re.split(r"(?<=[.!?]) +(?=[A-Z`\"])", part.replace("\n", " "))
