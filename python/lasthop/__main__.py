"""Makes `python -m lasthop` run the command `lasthop`."""

import os
import subprocess
import sys

from lasthop import _command

if __name__ == "__main__":
    arguments = [_command.path(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(arguments[0], arguments)
    sys.exit(subprocess.call(arguments))
