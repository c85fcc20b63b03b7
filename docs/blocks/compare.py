"""Compares a printed output with the output that a page shows."""

import difflib
import re

# A line with only this character matches any number of printed lines.
GAP = "…"

# Texts that differ between machines: a pattern, and the word that replaces the text in both outputs.
MASKS = (
    (re.compile(r"\blasthop \d+\.\d+\.\d+(\S*)"), "lasthop VERSION"),
    (re.compile(r"/tmp/[^\s/:`']+"), "FOLDER"),
)

# Matches lines about progress and duration. Only slow machines print these lines.
PROGRESS = re.compile(
    r"^\w+: \d+ of \d+.* after \d+.* (s|min|h)( left)?$|^note: .* estimated from the first run$"
)


def masked(line):
    for pattern, word in MASKS:
        line = pattern.sub(word, line)
    return line.rstrip()


def segments(expected):
    """Splits the expected lines at the gaps. Returns the lists of lines before, between and after the gaps."""
    parts = [[]]
    for line in expected:
        if line.strip() == GAP:
            parts.append([])
        else:
            parts[-1].append(masked(line))
    return parts


def agree(expected, printed):
    """Returns whether the printed lines equal the expected lines. A gap matches any lines."""
    parts = segments(trimmed(expected))
    lines = [masked(line) for line in trimmed(printed)]
    if len(parts) == 1:
        return parts[0] == lines
    first, *middle, last = parts
    if len(first) + len(last) > len(lines) or lines[: len(first)] != first:
        return False
    if lines[len(lines) - len(last) :] != last:
        return False
    lines = lines[len(first) : len(lines) - len(last)]
    for part in middle:
        at = next((i for i in range(len(lines) - len(part) + 1) if lines[i : i + len(part)] == part), None)
        if at is None:
            return False
        lines = lines[at + len(part) :]
    return True


def lasting(printed):
    """Returns the lines that do not report progress."""
    return [line for line in printed if not PROGRESS.match(line)]


def updated(expected, printed):
    """Returns the expected lines, updated from the printed lines. The numbers of lines before the first gap and after
    the last gap remain the same. Returns `None` if the output lacks the lines that were expected between two gaps,
    because only a person can choose new lines there."""
    printed = trimmed(printed)
    ends = [i for i, line in enumerate(expected) if line.strip() == GAP]
    kept = len(expected) - len(trimmed(expected))
    tail = expected[len(expected) - kept :]
    if not ends:
        return printed + tail
    first, last = ends[0], len(trimmed(expected)) - 1 - ends[-1]
    if first + last >= len(printed):
        return printed + tail
    middle = expected[first : ends[-1] + 1]
    new = printed[:first] + middle + printed[len(printed) - last :]
    return new + tail if agree(new, printed) else None


def trimmed(lines):
    """Returns the lines without empty lines at the end."""
    end = len(lines)
    while end > 0 and not lines[end - 1].strip():
        end -= 1
    return lines[:end]


def difference(expected, printed):
    """Returns the differences between expected and printed lines in the format of `diff -u`."""
    before, after = trimmed(expected), trimmed(printed)
    return "\n".join(list(difflib.unified_diff(before, after, "page", "printed", lineterm="", n=1))[2:])
