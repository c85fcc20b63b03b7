"""Writes the pages of the commands, from `lasthop COMMAND --help`."""

import re

from markdown import contents, escaped
from program import lasthop, write

# First line of an argument or option in a help text: 2 to 6 blanks, then the name. The description has more blanks.
ENTRY = re.compile(r"^ {2,6}(\S.*)$")


def pages():
    """Writes a page for each command, and an index of these pages. Returns the number of commands."""
    top = lasthop("help")
    commands = _commands(top)
    for name, _ in commands:
        write(f"reference/commands/{name}.md", _page([name], 1))
    lines = [f"* [`lasthop {name}`]({name}.md): {escaped(about)}" for name, about in commands]
    write(
        "reference/commands/index.md",
        "# Commands\n\nPATH is a scenario file, the name of a ready path, or a scenario in one line. "
        "Exit statuses: [exit status](../exit-status.md).\n\n"
        + "\n".join(lines)
        + "\n\n"
        + contents([name for name, _ in commands], ":hidden:")
        + "\n",
    )
    return len(commands)


def _commands(text):
    """Returns the names and summaries of the commands that a help text lists."""
    block = _blocks(text).get("Commands", "")
    found = []
    for line in block.splitlines():
        if match := re.match(r"^  ([a-z-]+) +(\S.*)$", line):
            found.append([match[1], match[2]])
        elif line.strip() and found:
            found[-1][1] += " " + line.strip()
    return [(name, about) for name, about in found if name != "help" or text.startswith("Simulate TCP")]


def _blocks(text):
    """Returns the parts of a help text, by heading. The text before the first heading has an empty heading."""
    parts, name = {"": []}, ""
    for line in text.splitlines():
        if match := re.match(r"^([A-Z][A-Za-z ]*):(?: (.*))?$", line):
            name = match[1]
            parts[name] = [match[2]] if match[2] else []
        else:
            parts[name].append(line)
    return {name: "\n".join(lines) for name, lines in parts.items()}


def _page(path, level):
    text = lasthop("help", "help") if path == ["help"] else lasthop(*path, "--help")
    blocks = _blocks(text)
    heading = "#" * level
    name = " ".join(["lasthop", *path])
    label = "-".join(["command", *path])
    out = [f"({label})=\n{heading} `{name}`" if level > 1 else f"({label})=\n# lasthop {' '.join(path)}"]
    out += [escaped(part.replace("\n", " ")) for part in re.split(r"\n\s*\n", blocks[""].strip())]
    usage = "\n".join(line.strip() for line in blocks["Usage"].splitlines() if line.strip())
    out.append(f"```text\n{usage}\n```")
    for part in blocks:
        if part in ("", "Usage", "Commands"):
            continue
        entries = list(_entries(blocks[part], path))
        if entries:
            out += [f"{heading}# {part}", "\n\n".join(entries)]
    out += [_page([*path, sub], level + 1) for sub, _ in _commands(text) if sub != "help" and len(path) < 3]
    return "\n\n".join(out) + "\n"


def _entries(block, path):
    """Yields a definition of each argument and option. Each definition has an anchor of its own."""
    for entry in re.split(r"\n(?= {2,6}\S)", "\n" + block):
        lines = entry.strip("\n").splitlines()
        if not lines or not ENTRY.match(lines[0]):
            continue
        name, _, same_line = lines[0].strip().partition("   ")
        long = re.search(r"--([\w-]+)", name)
        anchor = "-".join(["option", *path, long[1] if long else re.sub(r"\W+", "", name).lower()])
        if long and long[1] in ("help", "version"):
            continue
        words = "\n".join([same_line.strip(), *(line.strip() for line in lines[1:])]).strip()
        paragraphs = []
        for paragraph in re.split(r"\n\s*\n", words):
            items = re.split(r"\n(?=- )", paragraph)
            paragraphs += [escaped(item.replace("\n", " ")) for item in items if item]
        body = "\n\n  ".join(re.sub(r"^- ", "* ", paragraph) for paragraph in paragraphs) or "–"
        yield f'<span id="{anchor}"></span>`{name}`\n: {body}'
