"""`lasthop/Video-v0`: adaptive video streaming over a simulated path."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy
from gymnasium import spaces
from numpy.typing import NDArray

from lasthop._error import Error
from lasthop.gym._checks import names, number, whole
from lasthop.gym._video_ladder import BITRATES_KBPS, Ladder, Qoe
from lasthop.gym._video_paths import Paths, PathSource, RangeSource
from lasthop.session import Session

Observation: TypeAlias = NDArray[numpy.float32]

MOST_MBPS = 100_000.0
"""Upper bound of a throughput in an observation, Mbit/s."""
MB = 1e6


class Video(gymnasium.Env[Observation, numpy.int64]):
    """A client that plays a video while it downloads the next chunks. A step is a chunk; the action is its quality.

    The client requests a chunk over a connection of the path, waits for its last byte, and appends the chunk to its
    buffer, which playback empties. If the buffer has no room for a further chunk, the client waits before its next
    request. The connection stays open, and is idle meanwhile: after the wait, cwnd restarts (RFC 5681 §4.1).

    Model, after Yin, Jindal, Sekar and Sinopoli (SIGCOMM 2015, §3.1; from memory) and the program of Pensieve (Mao,
    Netravali and Alizadeh, SIGCOMM 2017; `sim/env.py`):

        rebuffer_s = max(download_s - buffer_s, 0)
        buffer_s   = max(buffer_s - download_s, 0) + chunk_s
        wait_s     = max(buffer_s - max_buffer_s, 0), which is then subtracted from buffer_s
        reward     = q(R_n) - mu * rebuffer_s - smoothness * |q(R_n) - q(R_n-1)|

    `download_s` is the virtual time from the request to the response's last byte; for the first chunk, the handshake
    included. Pensieve's program waits for multiples of 500 ms; this client waits exactly.

    `terminated` is true after the last chunk, `truncated` at the time limit. A chunk that is incomplete at the time limit
    has no quality and no change of quality in the reward, but its rebuffering.

    `reset(seed=…)` determines this episode and all further episodes; the run of this episode has the seed `seed`.
    `reset(options={"path": …})` runs one episode on this path, without `ranges`.

    Observation (float32, in this order):

    | feature | unit | range |
    |---|---|---|
    | `quality_mbps`: bit rate of the last chunk, 0 before the first | Mbit/s | 0 to the highest bit rate |
    | `buffer_s`: video in the buffer | s | 0 to `max_buffer_s` |
    | `chunks_left`: chunks that are not requested | | 0 to `chunks` |
    | `throughput_mbps_1` …: size of a chunk over its download time, newest last, 0 if none | Mbit/s | 0 to 100,000 |
    | `download_s_1` …: download times, newest last, 0 if none | s | 0 to `time_limit_s` |
    | `next_mb_0` …: size of the next chunk in each quality, 0 after the last | MB | 0 to the largest size |

    `info` has after a step: `time_s` (virtual time), `chunk` (index), `quality` (index), `bitrate_kbps`, `bytes`,
    `is_complete`, `download_s`, `throughput_kbps`, `startup_s` (rebuffering of the first chunk), `rebuffer_s` (rebuffering of
    the other chunks), `wait_s`, `buffer_s`, and the terms of the reward with their signs, `qoe_quality`, `qoe_rebuffer` and
    `qoe_smoothness`. After `reset`: `time_s`, `buffer_s`, `seed` (of the run) and `path` (title of the scenario).
    """

    metadata: dict[str, Any] = {"render_modes": []}
    render_mode = None

    def __init__(
        self,
        *,
        path: PathSource = "umts",
        set: Mapping[str, object] | None = None,
        ranges: Mapping[str, RangeSource] | None = None,
        flow: str | None = None,
        bitrates_kbps: Sequence[float] = BITRATES_KBPS,
        utilities: Sequence[float] | None = None,
        chunk_s: float = 4.0,
        chunks: int | None = None,
        size_spread: float = 0.0,
        sizes: Sequence[Sequence[int]] | None = None,
        max_buffer_s: float = 60.0,
        mu: float = 4.3,
        smoothness: float = 1.0,
        startup: bool = True,
        history: int = 8,
        start_s: float = 0.0,
        time_limit_s: float = 1200.0,
    ) -> None:
        """Makes the environment.

        `path`: a ready path, a file, a one-line scenario, a dict or a `Scenario`, or a list of them, from which each episode
        draws one. `set` changes values of each path: `{"congestion": "bbr3"}`, `{"flow.bulk.kind": "quic"}`. Nagle's
        algorithm is off unless `set` has `nagle`. `ranges` has keys of
        the scenario language, and the bounds from which each episode draws the key's value: `{"rate": ("1 Mbit/s",
        "6 Mbit/s", "log")}`. Bare numbers of `rate`, `rtt` and `queue` are bit/s, s and packets. `flow`: the flow that
        carries the video, by default the first flow.

        `bitrates_kbps`, `chunk_s` and `chunks` (48): the video, by default Pensieve's. `utilities`: q(R) of each
        bit rate, by default the bit rate in Mbit/s. `size_spread`: see `Ladder`. `sizes`: a row for each chunk,
        with the bytes in each quality.

        `max_buffer_s`: largest buffer (60 s in Pensieve's program). `mu`: penalty of a second of rebuffering (4.3 in
        QoE_lin). `startup`: whether the download time of the first chunk counts as rebuffering. It does in Pensieve's
        program, and in Yin et al. §3.1 with the same weight (from memory). `history`: chunks in the observation
        (8 in Pensieve's program). `start_s`: virtual time at which the flow begins and the client requests the first chunk;
        other flows may begin earlier. `time_limit_s`: virtual time at the end of an episode, s.
        """
        self._ladder = Ladder.checked(bitrates_kbps, utilities, chunk_s, chunks, size_spread, sizes)
        self._qoe = Qoe(number("mu", mu, 0), number("smoothness", smoothness, 0))
        self._max_buffer_s = number("max_buffer_s", max_buffer_s, 0)
        if self._max_buffer_s < self._ladder.chunk_s:
            raise Error(
                f"max_buffer_s = {max_buffer_s!r}: a chunk of {self._ladder.chunk_s:g} s does not fit",
                "give at least chunk_s",
            )
        self._counts_startup = bool(startup)
        self._history = whole("history", history, 1, 1000)
        self._time_limit_s = number("time_limit_s", time_limit_s, 0, 1e6, above=True)
        start = number("start_s", start_s, 0)
        if start >= self._time_limit_s:
            raise Error(f"start_s = {start_s!r}: expected less than time_limit_s", f"{self._time_limit_s:g} s")
        self._paths = Paths(path, set, ranges, flow, start, self._time_limit_s)
        self._session: Session | None = None

        qualities = len(self._ladder.bitrates_kbps)
        self._features, self._high = self._layout()
        self.observation_space = spaces.Box(numpy.zeros_like(self._high), self._high, dtype=numpy.float32)
        self.action_space = spaces.Discrete(qualities)

    @property
    def bitrates_kbps(self) -> tuple[float, ...]:
        """Bit rate of each quality, kbit/s."""
        return self._ladder.bitrates_kbps

    @property
    def history(self) -> int:
        """Number of chunks in the observation."""
        return self._history

    @property
    def features(self) -> list[str]:
        """Names of the values of an observation."""
        return list(self._features)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode, at the virtual time `start_s`, before the first request."""
        super().reset(seed=seed)
        source = names("options", options or {}, ["path"]).get("path")
        run = int(self.np_random.integers(2**63)) if seed is None else int(seed) % 2**63
        if source is None:
            self._session, self._flow = self._paths.begin(run)
        else:
            self._session, self._flow = self._paths.session(self._paths.made(source), run)
        self._sizes = self._ladder.sizes(run)
        self._chunk = 0
        self._last: int | None = None
        self._buffer_s = 0.0
        self._throughputs = deque([0.0] * self._history, self._history)
        self._downloads = deque([0.0] * self._history, self._history)
        info = {"time_s": self._session.time_s, "buffer_s": 0.0, "seed": run, "path": self._session.scenario.title}
        return self._observation(), info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Downloads the next chunk in the quality `action`, and waits while the buffer is full."""
        session = self._session
        if session is None:
            raise Error("no episode is under way", "call reset")
        quality = self._checked(action)
        size, began_s = self._sizes[self._chunk][quality], session.time_s
        session.ask(size, flow=self._flow)
        is_complete = session.run_until(response=True, flow=self._flow)
        download_s = session.time_s - began_s
        stall_s = max(download_s - self._buffer_s, 0.0)
        self._buffer_s = max(self._buffer_s - download_s, 0.0)
        startup_s, rebuffer_s = (stall_s, 0.0) if self._chunk == 0 else (0.0, stall_s)
        counted_s = rebuffer_s + (startup_s if self._counts_startup else 0.0)
        value = self._ladder.utilities[quality]
        last = None if self._last is None else self._ladder.utilities[self._last]
        parts = self._qoe.parts(value, last, counted_s) if is_complete else self._qoe.parts(0.0, None, counted_s)
        kbps = size / 125 / download_s if is_complete and download_s > 0 else 0.0
        info = {
            "chunk": self._chunk,
            "quality": quality,
            "bitrate_kbps": self._ladder.bitrates_kbps[quality],
            "bytes": size,
            "is_complete": is_complete,
            "download_s": download_s,
            "throughput_kbps": kbps,
            "startup_s": startup_s,
            "rebuffer_s": rebuffer_s,
            "wait_s": 0.0,
        }
        terminated = False
        if is_complete:
            self._throughputs.append(kbps / 1000)
            self._downloads.append(download_s)
            self._last = quality
            self._chunk += 1
            self._buffer_s += self._ladder.chunk_s
            terminated = self._chunk == self._ladder.chunks
            if self._buffer_s > self._max_buffer_s:
                info["wait_s"] = self._wait(session)
        truncated = not terminated and session.has_ended
        if terminated or truncated:
            self._session = None
        info |= {"buffer_s": self._buffer_s, "time_s": session.time_s}
        info |= dict(zip(("qoe_quality", "qoe_rebuffer", "qoe_smoothness"), parts, strict=True))
        return self._observation(), sum(parts), terminated, truncated, info

    def _wait(self, session: Session) -> float:
        """Plays until the buffer has room, or until the run ends. Returns the time, s."""
        began_s, wait_s = session.time_s, self._buffer_s - self._max_buffer_s
        if session.run_for(wait_s):
            self._buffer_s = self._max_buffer_s
            return wait_s
        waited_s = session.time_s - began_s
        self._buffer_s -= waited_s
        return waited_s

    def _checked(self, action: Any) -> int:
        try:
            quality = int(action)
            is_whole = quality == action
        except (TypeError, ValueError, OverflowError):
            quality, is_whole = -1, False
        most = len(self._ladder.bitrates_kbps) - 1
        if not is_whole or not 0 <= quality <= most:
            raise Error(f"the action is {action!r}: expected the index of a quality", f"a whole number from 0 to {most}")
        return quality

    def _layout(self) -> tuple[list[str], Observation]:
        """Returns the name and the upper bound of each value of an observation."""
        steps = range(1, self._history + 1)
        rates = self._ladder.bitrates_kbps
        bounds = {
            "quality_mbps": rates[-1] / 1000,
            "buffer_s": self._max_buffer_s,
            "chunks_left": self._ladder.chunks,
            **{f"throughput_mbps_{step}": MOST_MBPS for step in steps},
            **{f"download_s_{step}": self._time_limit_s for step in steps},
            **{f"next_mb_{index}": self._ladder.largest_bytes / MB for index in range(len(rates))},
        }
        return list(bounds), numpy.array(list(bounds.values()), numpy.float32)

    def _observation(self) -> Observation:
        rates = self._ladder.bitrates_kbps
        left = self._ladder.chunks - self._chunk
        values = [
            0.0 if self._last is None else rates[self._last] / 1000,
            self._buffer_s,
            left,
            *self._throughputs,
            *self._downloads,
            *((size / MB for size in self._sizes[self._chunk]) if left else [0.0] * len(rates)),
        ]
        return numpy.minimum(numpy.array(values, numpy.float32), self._high)
