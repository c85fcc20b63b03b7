#!/usr/bin/env python3
"""Prints the steps per CPU second of sessions and environments, on a path of 10 Mbit/s and 60 ms at 95 % of its rate.

    python python/benches/steps.py [--quick]

A step has 60 ms of virtual time, or the RTT of the idle path. CPU times are the best of three. Environments on several
threads are also measured in wall-clock time.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy

import lasthop
import lasthop.gym

PATH = "rate=10Mbit/s,rtt=60ms,congestion=external"
NAME = "lasthop/CongestionControl-v0"
PACE = 9.5e6
OPTIONS: dict[str, Any] = {"path": PATH, "rate_bounds": (PACE, PACE), "time_limit_s": 36_000}


def measured(name: str, count: int, work: Callable[[], object], unit: str = "steps") -> None:
    """Prints the best of three measurements of `work`, which has `count` steps."""
    cpu, wall = [], []
    for _ in range(3):
        before = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - before[0])
        wall.append(time.perf_counter() - before[1])
    print(
        f"{name:56} {count / min(cpu):10,.0f} {unit}/CPU s {count / min(wall):10,.0f} {unit}/s"
        f" {1e6 * min(cpu) / count:8.1f} us CPU",
        flush=True,
    )


def session(count: int) -> Callable[[], object]:
    it = lasthop.Session(f"{PATH},duration=36000s", seed=1, link_delays=False)
    it.steer(pacing_bps=PACE, cwnd_bytes=150_000)
    it.run_for(1)

    def work() -> None:
        for _ in range(count):
            it.steer(pacing_bps=PACE, cwnd_bytes=150_000)
            it.run_for(0.06)
            it.look()

    return work


def single(count: int, **options: Any) -> Callable[[], object]:
    env = gymnasium.make(NAME, **OPTIONS, **options)
    env.reset(seed=1)
    action = numpy.zeros(1, numpy.float32)

    def work() -> None:
        for _ in range(count):
            env.step(action)

    return work


def vector(count: int, environments: int, threads: int | None) -> Callable[[], object]:
    envs = gymnasium.make_vec(
        NAME, num_envs=environments, vectorization_mode="vector_entry_point", threads=threads, **OPTIONS
    )
    envs.reset(seed=1)
    actions = numpy.zeros((environments, 1), numpy.float32)

    def work() -> None:
        for _ in range(count // environments):
            envs.step(actions)

    return work


def resets(count: int, **options: Any) -> Callable[[], object]:
    env = gymnasium.make(NAME, path=PATH, **options)
    env.reset(seed=1)

    def work() -> None:
        for _ in range(count):
            env.reset()

    return work


def resets_with_text(count: int) -> Callable[[], object]:
    env = gymnasium.make(NAME)
    rates = iter(range(1, 10**9))

    def work() -> None:
        for _ in range(count):
            env.reset(options={"path": f"rate={10_000_000 + next(rates)}bit/s,rtt=60ms,congestion=external"})

    return work


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    n = 2_000 if parser.parse_args().quick else 20_000
    measured("Session: steer, run_for, look", n, session(n))
    measured("gymnasium.make, aurora", n, single(n))
    measured("gymnasium.make, full", n, single(n, observation="full"))
    measured("gymnasium.make, one CUBIC flow beside", n // 2, single(n // 2, beside="cubic"))
    for environments in (16, 256):
        for threads in (1, 2):
            measured(
                f"make_vec, {environments} environments, threads={threads}",
                2 * n,
                vector(2 * n, environments, threads),
            )
    measured("reset, same path", n // 10, resets(n // 10), "resets")
    ranges = {
        "rate": (5e6, 20e6),
        "rtt": (0.03, 0.1),
        "queue": ("20 packets", "100 packets"),
        "loss": (0, 0.02),
    }
    measured("reset, path drawn from ranges", n // 10, resets(n // 10, ranges=ranges), "resets")
    measured("reset, path from new text", n // 20, resets_with_text(n // 20), "resets")


if __name__ == "__main__":
    main()
