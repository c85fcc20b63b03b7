"""Writes the pages of output columns and output formats, from `lasthop help reference`."""

import re

from markdown import rows, sections, slug, table
from program import write

UNITS = {
    "_kbps": "kbit/s",
    "_bytes": "bytes",
    "_packets": "packets",
    "_segments": "segments",
    "_per_s": "1/s",
    "_ms": "ms",
    "_s": "s",
    "_pct": "%",
}
OF = {
    "Metrics of flows": "flow",
    "Rows of completion times": "flow, with percentiles",
    "Metrics of several flows together": "run",
    "Metrics of links": "link",
    "Metrics of links with RLC": "link with RLC",
}


def pages():
    """Writes the pages of columns and of formats. Returns the number of columns."""
    out, count = [], 0
    for part in sections():
        if part.chapter == "Output" and part.title in OF:
            fields = rows(part.body)
            count += len(fields)
            lines = [
                [
                    f'<span id="{slug(field)}"></span>{field}',
                    _unit(field),
                    re.sub(r", (kbit/s|bytes|1/s|ms|s|%)$", "", meaning),
                ]
                for field, meaning, *_ in fields
            ]
            before = part.body.split("\n|")[0].strip()
            out.append(f"## {part.title}\n\n{before}\n\n{table(['column', 'unit', 'meaning'], lines)}")
    write(
        "reference/columns.md",
        "# Columns\n\nRows of the table, columns of `--format csv` and fields of `--format json` have the same names. "
        "You may omit the unit suffix in `--metric` and `--assert`: `goodput` means `goodput_kbps`. "
        "How a number is computed: [What the numbers are](../explanation/what-numbers-mean.md).\n\n"
        + "\n\n".join(out)
        + "\n",
    )
    formats = [part for part in sections() if part.chapter == "Output" and part.title not in OF]
    write(
        "reference/formats.md",
        "# Formats of output\n\nColumns have a page of their own: [Columns](columns.md). "
        "The store of a sweep is an SQLite file: [Sweeps](../how-to/sweep.md#the-file). "
        "Files of transfers (`arrivals`): [What flows carry](../how-to/workloads.md). "
        "Captures are pcapng files; the comment of a lost packet gives the reason for the loss.\n\n"
        + "\n\n".join(f"## {part.title}\n\n{part.body}" for part in formats)
        + "\n",
    )
    return count


def _unit(field):
    name = field.strip("`")
    return next((unit for suffix, unit in UNITS.items() if name.endswith(suffix)), "")
