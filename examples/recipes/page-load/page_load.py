"""Measures the load time of a page in Chromium behind several paths.

    sudo python3 page_load.py --runs 5 --picture page-load.png cable lte hspa starlink

For each path, prints the mean times until first contentful paint and until the load event, with 95 % intervals. Each
run starts a new browser with an empty cache and has a different seed. If the machine is too busy for real time (exit
status 3), the run is repeated. The program needs Chromium. `--picture` also needs matplotlib.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LASTHOP = os.environ.get("LASTHOP", "lasthop")
CHROMIUM = os.environ.get("CHROMIUM", "chromium")
PAGE = "http://{server}:8000/"
INVALID = 3
ATTEMPTS = 3
# Quantiles of Student's t for 95 % intervals. The keys are numbers of runs.
T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}


def load(path, seed):
    """Loads the page once. Returns the times until first contentful paint and until the load event, s."""
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as profile:
            os.chmod(profile, 0o777)
            browser = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                       f"--user-data-dir={profile}/browser", "--dump-dom", PAGE]
            command = [LASTHOP, "emulate", path, "--seed", str(seed), "--server", f"exec {sys.executable} {HERE}/serve.py", "--"]
            done = subprocess.run(command + browser, capture_output=True, text=True)
        if done.returncode != INVALID:
            break
    found = dict(re.findall(r'data-(load|paint|requests)="([^"]+)"', done.stdout))
    if done.returncode != 0 or len(found) < 3:
        sys.exit(f"{path}, seed {seed}: exit status {done.returncode}\n{done.stderr}")
    return {"path": path, "seed": seed, "requests": int(found["requests"]),
            "paint_s": float(found["paint"]) / 1e3, "load_s": float(found["load"]) / 1e3}


def interval(values):
    """Returns the mean of the values, and the half-width of its 95 % interval."""
    if len(values) < 2:
        return values[0], math.nan
    return statistics.mean(values), T[len(values)] * statistics.stdev(values) / math.sqrt(len(values))


def draw(results, runs, file):
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 1.2 + 0.5 * len(results)), layout="constrained")
    for offset, key, name, marker in [(-0.12, "paint_s", "first contentful paint", "o"), (0.12, "load_s", "load event", "s")]:
        means, halves = zip(*(interval([one[key] for one in each]) for each in results.values()))
        places = [place + offset for place in range(len(results))]
        axes.errorbar(means, places, xerr=halves, fmt=marker, capsize=3, label=name)
    axes.set_yticks(range(len(results)), list(results))
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(f"time since the navigation began, s (means of {runs} runs, 95 % intervals)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()
    figure.savefig(file, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=["cable", "lte", "hspa", "starlink"], metavar="PATH")
    parser.add_argument("--runs", type=int, default=5, choices=range(1, 11), metavar="1..10")
    parser.add_argument("--picture", metavar="FILE", help="also draw a picture")
    parser.add_argument("--json", action="store_true", help="print one line for each run instead of the table")
    options = parser.parse_args()
    results = {}
    if not options.json:
        print(f"{'path':<16} {'first paint, s':>16} {'loaded, s':>16}")
    for path in options.paths:
        results[path] = [load(path, seed) for seed in range(1, options.runs + 1)]
        if options.json:
            for one in results[path]:
                print(json.dumps(one), flush=True)
            continue
        cells = [interval([one[key] for one in results[path]]) for key in ("paint_s", "load_s")]
        print(f"{path:<16} " + " ".join(f"{mean:>7.2f} ± {half:<6.2f}" for mean, half in cells), flush=True)
    if options.picture:
        draw(results, options.runs, options.picture)


if __name__ == "__main__":
    main()
