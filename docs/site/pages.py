"""Copies the hand-written pages to the prepared source, and adapts their links to the site."""

import os
import re
import shutil

from program import DOCS, ROOT, SOURCE

# Pages in the root of the repository, and their paths on the site.
ROOT_PAGES = {
    "ARCHITECTURE.md": "development/architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "README.md": "index.md",
}

LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def copy():
    """Copies pages, notebooks and pictures. Returns the number of links to files that the site lacks."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    outside = 0
    for path in sorted(DOCS.rglob("*")):
        place = path.relative_to(DOCS)
        if path.is_dir() or place.parts[0] in ("site", "words", "causes", "growth", "loss-cause"):
            continue
        if path.suffix not in (".md", ".ipynb", ".svg", ".png", ".css", ".rst") and path.name != "conf.py":
            continue
        to = SOURCE / place
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            outside += _write(path.read_text(encoding="utf-8"), path, to)
        else:
            shutil.copy(path, to)
    for name, place in ROOT_PAGES.items():
        if name != "README.md":
            outside += _write((ROOT / name).read_text(encoding="utf-8"), ROOT / name, SOURCE / place)
    return outside


def _write(text, of, to):
    """Writes a page. Replaces each link to a file that the site lacks by the file's path in the repository."""
    outside = 0

    def led(match):
        nonlocal outside
        mark, label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        full = os.path.normpath(of.parent / path)
        name = os.path.relpath(full, ROOT)
        if name in ROOT_PAGES:
            place = SOURCE / ROOT_PAGES[name]
        elif name.startswith("docs/") and name.endswith((".md", ".ipynb", ".svg", ".png")):
            place = SOURCE / os.path.relpath(full, DOCS)
        else:
            outside += 1
            return (
                f"{label} (`{name}`)"
                if label.strip("`") not in (name, os.path.basename(name))
                else f"`{name}`"
            )
        return f"{mark}[{label}]({os.path.relpath(place, to.parent)}{'#' + anchor if anchor else ''})"

    code = [match.span() for match in CODE.finditer(text)]
    in_code = lambda at: any(begin < at < end for begin, end in code)
    text = LINK.sub(lambda match: match.group(0) if in_code(match.start()) else led(match), text)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text, encoding="utf-8")
    return outside

