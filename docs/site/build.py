"""Builds the site: prepares the source, runs Sphinx, checks links, tries commands, and prints the processor time."""

import os
import shutil
import subprocess
import sys
import time

import links
import prepare
import try_lines
from program import SITE, SOURCE, WORK


def main():
    began = time.monotonic()
    prepare.main()
    shutil.rmtree(SITE, ignore_errors=True)
    sphinx = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        WORK / "doctrees",
        SOURCE,
        SITE,
    ]
    is_built = subprocess.run(sphinx).returncode == 0
    checks = [is_built, links.main(), try_lines.main()]
    used = os.times()
    cpu = used.user + used.system + used.children_user + used.children_system
    print(f"site: {cpu:.0f} s of CPU, {time.monotonic() - began:.0f} s passed")
    sys.exit(0 if all(checks) else 1)


if __name__ == "__main__":
    main()
