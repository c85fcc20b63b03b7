"""Runs the "try it" command of every mechanism and ready path once, with two repetitions.

Reports a command that fails, or that shows no effect of its mechanism.
"""

import re
import shlex
import subprocess
import tempfile

from catalogue import entries, try_line
from program import PROGRAM


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as place:
        for kind, listed in entries().items():
            for entry in listed:
                line = try_line(kind, entry["name"])
                words = [str(PROGRAM), *shlex.split(line)[1:], "--runs", "2", "--set", "duration=20s"]
                done = subprocess.run(words, capture_output=True, text=True, cwd=place, timeout=60)
                count += 1
                without_effect = re.search(
                    rf'= "{entry["name"]}" (classifies losses and )?changes nothing', done.stderr
                )
                if done.returncode or without_effect:
                    failed += 1
                    print(f"site: {line}\n{done.stderr.strip()}\n")
    print(f"site: {count} lines to try, {failed} fail")
    return not failed


if __name__ == "__main__":
    main()
