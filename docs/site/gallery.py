"""Draws the pictures of the gallery, and writes its page. Each picture has the command that drew it.

To add a picture, append a `Picture`. If its command has `--figure FILE.svg`, the command writes the picture itself. If
its command has `--report FILE.html`, the picture is the figure of the report whose title is `figure`.
"""

import html
import re
import shlex
import shutil
from typing import NamedTuple

from program import DOCS, SOURCE, WORK, lasthop, write


class Picture(NamedTuple):
    """A picture: its title, the question that it answers, its command, and the title of its figure in a report."""

    title: str
    question: str
    command: str
    figure: str = ""


PICTURES = [
    Picture(
        "Snoop at the base station",
        "Do retransmissions by the base station help a path that loses packets on the air?",
        "lasthop compare wavelan --vary middlebox=none,snoop --report snoop.html",
        "Goodput",
    ),
    Picture(
        "A deep queue",
        "Does the congestion control decide the round-trip time if the queue holds 500 packets?",
        "lasthop compare rate=10Mbit/s,rtt=40ms,queue=500packets --vary congestion=cubic,bbr3 --report deep.html",
        "bulk: round-trip time",
    ),
    Picture(
        "CUBIC and BBRv3 on LTE",
        "Does BBRv3 leave a shorter queue than CUBIC at the base station?",
        "lasthop compare lte --vary congestion=cubic,bbr3 --set duration=20s --report lte.html",
        "wireless down: queue length",
    ),
    Picture(
        "Prague beside CUBIC",
        "Do a scalable and a classic flow share one DualPI2 queue fairly?",
        "lasthop run l4s --set duration=20s --report l4s.html",
        "Goodput",
    ),
    Picture(
        "Recovery, packet by packet",
        "Does Reno recover from four losses in one window without a timeout?",
        "lasthop run drop-patterns --report four.html",
        "Segments and ACKs",
    ),
    Picture(
        "Goodput over time",
        "Is goodput steady on a UMTS path with bit errors and link retransmissions?",
        "lasthop run umts --report umts.html",
        "Goodput",
    ),
]

WIDTH, HEIGHT = 760, 380
FRAME = (74, 46, 664, 270)


def pages():
    """Draws the pictures and completes the page. Returns the number of pictures."""
    place = WORK / "gallery"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (SOURCE / "gallery").mkdir(parents=True, exist_ok=True)
    cards = []
    for picture in PICTURES:
        words = shlex.split(picture.command)
        lasthop(*words[1:], cwd=place)
        made = place / next(
            after for flag, after in zip(words, words[1:]) if flag in ("--report", "--figure")
        )
        name = f"{made.stem}.svg"
        if made.suffix == ".html":
            drawn = cut(made.read_text(encoding="utf-8"), picture.figure)
            (SOURCE / "gallery" / name).write_text(drawn, encoding="utf-8")
        else:
            shutil.copy(made, SOURCE / "gallery" / name)
        cards.append(
            f"## {picture.title}\n\n{picture.question}\n\n![{picture.title}](gallery/{name})\n\n"
            f"```sh\n{picture.command}\n```"
        )
    first = SOURCE / "index.md"
    first.write_text(
        first.read_text(encoding="utf-8").replace(
            "<!-- picture -->", "![Goodput without a middlebox and with Snoop](gallery/snoop.svg)"
        ),
        encoding="utf-8",
    )
    head = (DOCS / "gallery.md").read_text(encoding="utf-8").rstrip()
    write("gallery.md", head + "\n\n" + "\n\n".join(cards) + "\n")
    return len(cards)


def cut(report, title):
    """Returns the text of an SVG file with one figure of a report, in the report's colours for a light background."""
    figures = re.findall(r"<figure.*?</figure>", report, re.DOTALL)
    found = [figure for figure in figures if f'aria-label="{html.escape(title)}"' in figure]
    if not found:
        labels = [
            label for figure in figures for label in re.findall(r'role="img" aria-label="([^"]*)"', figure)
        ]
        raise SystemExit(f"site: the report has no figure {title!r}, only {labels}")
    figure = found[0]
    styles = "".join(re.findall(r"<style>(.*?)</style>", report, re.DOTALL))
    # Copies only the report's CSS rules for colours and plots.
    colours = re.search(r":root \{.*?\n\}", styles, re.DOTALL)[0]
    styles = colours + styles[styles.index(".c0 {") :].split("/* Names of categories")[0]
    marks = re.search(r'<svg class="markers".*?</svg>', report, re.DOTALL)
    area = figure[figure.index('<svg class="area"') :]
    area = area[: _end(area)]
    left, top, width, height = FRAME
    area = area.replace(
        "<svg ",
        f'<svg x="{left}" y="{top}" width="{width}" height="{height}" style="width:{width}px;height:{height}px" ',
        1,
    )
    unit = re.search(r'<p class="y-label">(.*?)</p>', figure)
    across = re.search(r'<p class="x-label">(.*?)</p>', figure)
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="10" y="{top - 12}" class="label">{unit[1] if unit else ""}</text>',
        f'<text x="{left + width}" y="{HEIGHT - 12}" class="label" text-anchor="end">{across[1] if across else ""}</text>',
        '<g class="legend">',
        *_legend(figure, left),
        "</g>",
        area,
    ]
    styles += "\ntext { font: 13px sans-serif; fill: var(--ink); } .label { fill: var(--muted); }"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f"<style><![CDATA[{styles}]]></style>{marks[0] if marks else ''}{''.join(parts)}</svg>\n"
    ).replace("&nbsp;", "\u00a0")


def _end(text):
    """Returns the position after the SVG element with which the text begins."""
    depth = 0
    for match in re.finditer(r"<svg\b[^>]*?(/?)>|</svg>", text):
        depth += -1 if match[0] == "</svg>" else 0 if match[1] else 1
        if depth == 0:
            return match.end()
    raise SystemExit("site: a figure of a report has no end")


def _legend(figure, left):
    """Yields the SVG elements of the legend, whose entries form a row above the picture."""
    listed = re.search(r'<ul class="legend">(.*?)</ul>', figure, re.DOTALL)
    at = left + 60
    for entry in re.findall(r"<li[^>]*>(.*?)</li>", listed[1], re.DOTALL) if listed else []:
        mark = re.match(r"(<svg.*?</svg>)?(.*)", entry, re.DOTALL)
        words = re.sub(r"<[^>]*>", "", mark[2]).strip()
        if mark[1]:
            yield mark[1].replace("<svg ", f'<svg x="{at}" y="12" ', 1)
            at += 38
        yield f'<text x="{at}" y="24">{words}</text>'
        at += 8 * len(html.unescape(words)) + 22
