"""Checks commands in running text: the program must know the command and its flags, and accept its PATH argument."""

import re
import shlex
from functools import cache

from commands import PROGRAM

# Commands whose first argument is a PATH: a scenario file, a ready path or a one-line scenario.
WITH_PATH = ("run", "compare", "sweep", "advise", "emulate", "crosscheck", "check", "show", "lab", "endpoint")
# Matches placeholders, which readers replace: a word in capitals, `…`, or an empty value after `=`.
PLACEHOLDER = re.compile(r"(?<![\w/.-])[A-Z][A-Z_]*[A-Z](?![\w/])|(?<![\w/.=-])[A-Z](?![\w/:])|…|=$")
FLAG = re.compile(r"(?<!\S)--[a-z][a-z-]*")


def is_command(code):
    return bool(PROGRAM.match(code)) and len(words(code)) > 1


def words(code):
    """Returns the words of a command, from `lasthop` to the first pipe or redirection, or to `--`."""
    try:
        split = shlex.split(code)
    except ValueError:
        return []
    if "lasthop" not in split:
        return []
    split = split[split.index("lasthop") :]
    end = next((i for i, word in enumerate(split) if re.fullmatch(r"[|;&<>]+|\d?>.*|--", word)), len(split))
    return split[:end]


def fault(folder, code):
    """Returns a message about an error in a command. Returns `None` if the command is valid."""
    called = words(code)
    if PLACEHOLDER.search(code):
        return unknown_flag(folder, called)
    status, lines = folder.run(shlex.join([*called, "--help"]))
    # A page may name a flag without its value, as in `lasthop run --set`.
    if status != 0 and not lines[0].startswith("error: a value is required for"):
        return "\n".join(lines)
    return path_fault(folder, called)


def unknown_flag(folder, called):
    """Returns the same as `fault` for a command with placeholders. Checks only the command's name and its flags."""
    names = []
    for word in called[1:]:
        if not re.fullmatch(r"[a-z][a-z-]*", word) or help_of(folder, (*names, word)) is None:
            break
        names.append(word)
    text = help_of(folder, tuple(names))
    if text is None or (not names and re.fullmatch(r"[a-z][a-z-]*", called[1])):
        return f"there is no command `{called[1]}`"
    for flag in FLAG.findall(" ".join(called)):
        if not re.search(rf"(?<![\w-]){flag}(?![\w-])", text):
            return f"`lasthop {' '.join(names)}` has no flag `{flag}`"
    return None


@cache
def help_of(folder, names):
    status, lines = folder.run(shlex.join(["lasthop", *names, "--help"]))
    return "\n".join(lines) if status == 0 else None


def path_fault(folder, called):
    command, *rest = called[1:]
    if command not in WITH_PATH or not rest or rest[0].startswith("-") or rest[0].endswith(".toml"):
        return None
    if f"Usage: lasthop {command} {rest[0]}" in (help_of(folder, (command, rest[0])) or ""):
        return None  # the word is a subcommand, as in `emulate set`, not a path
    sets = [
        f"--set={rest[i + 1]}" for i, word in enumerate(rest[:-1]) if word == "--set" and command != "sweep"
    ]
    status, lines = folder.run(shlex.join(["lasthop", "check", rest[0], *sets]))
    return "\n".join(lines) if status != 0 else None
