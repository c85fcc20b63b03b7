"""An application under test, which fetches a file with a time limit.

    python3 client.py URL SECONDS
"""

import sys
import time
import urllib.request

start = time.monotonic()
try:
    with urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2])) as answer:
        size = 0
        while part := answer.read1(65536):
            size += len(part)
            if time.monotonic() - start > float(sys.argv[2]):
                raise TimeoutError
except OSError as error:
    sys.exit(f"given up after {time.monotonic() - start:.1f} s: {error}")
print(size)
