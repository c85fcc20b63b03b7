"""A video: bit rates, chunk sizes, and the quality of experience of a chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from lasthop._error import Error
from lasthop.gym._checks import number, numbers, whole

BITRATES_KBPS = (300.0, 750.0, 1200.0, 1850.0, 2850.0, 4300.0)
"""Bit rates of Pensieve's video, kbit/s (Mao, Netravali, Alizadeh, SIGCOMM 2017, §5.1; its program, `VIDEO_BIT_RATE`)."""
CHUNKS = 48
"""Number of chunks of Pensieve's video (`TOTAL_VIDEO_CHUNCK` of its program)."""
MOST_BYTES = 10**12
_RATES = "for instance bitrates_kbps=[300, 1200, 4300]"
_SIZES = "a row for each chunk, with the bytes in each quality: sizes=[[150_000, 375_000], [148_000, 381_000]]"


@dataclass(frozen=True)
class Ladder:
    """Bit rates and sizes of a video's chunks.

    Without `sizes`, each chunk has its bit rate times its length, times a factor that is drawn for each chunk from
    `1 - size_spread` to `1 + size_spread` (uniform; the same factor in all qualities, as the scene is the same).
    """

    bitrates_kbps: tuple[float, ...]
    """Bit rate of each quality, kbit/s, ascending."""
    utilities: tuple[float, ...]
    """Value q(R) of each quality; by default its bit rate in Mbit/s (QoE_lin)."""
    chunk_s: float
    """Length of a chunk, s of video."""
    chunks: int
    """Number of chunks."""
    size_spread: float
    """Largest relative deviation of a chunk's size."""
    given: tuple[tuple[int, ...], ...] | None
    """Sizes, bytes: a row for each chunk."""

    @classmethod
    def checked(
        cls, bitrates_kbps: Any, utilities: Any, chunk_s: Any, chunks: Any, size_spread: Any, sizes: Any
    ) -> Ladder:
        """Returns the ladder of these options, or raises an `Error`."""
        rates = tuple(
            number("bitrates_kbps", rate, 0, 1e9, above=True)
            for rate in numbers("bitrates_kbps", bitrates_kbps, _RATES)
        )
        if any(low >= high for low, high in zip(rates, rates[1:], strict=False)):
            raise Error(f"bitrates_kbps = {list(rates)}: expected ascending bit rates", _RATES)
        if utilities is None:
            values = tuple(rate / 1000 for rate in rates)
        else:
            listed = numbers("utilities", utilities, "one value for each bit rate")
            values = tuple(number("utilities", value, -1e9, 1e9) for value in listed)
            _same_length("utilities", values, rates)
        given = None if sizes is None else _given(sizes, rates)
        count = len(given) if given else CHUNKS
        if chunks is not None:
            count = whole("chunks", chunks, 1, 1_000_000)
            if given is not None and count != len(given):
                raise Error(
                    f"chunks = {count}, and sizes has {len(given)} rows", "leave chunks out: each row of sizes is a chunk"
                )
        spread = number("size_spread", size_spread, 0, 0.99)
        if given is not None and spread > 0:
            raise Error("both sizes and size_spread are given", "leave size_spread out: sizes sets each size")
        length = number("chunk_s", chunk_s, 0, 3600, above=True)
        ladder = cls(rates, values, length, count, spread, given)
        if ladder.largest_bytes > MOST_BYTES:
            raise Error(f"a chunk has up to {ladder.largest_bytes} bytes: expected at most 1 TB", "shorten chunk_s")
        return ladder

    @property
    def largest_bytes(self) -> int:
        """Upper bound of the size of a chunk, bytes."""
        if self.given is not None:
            return max(max(row) for row in self.given)
        return self._bytes(self.bitrates_kbps[-1], 1 + self.size_spread)

    def sizes(self, seed: int) -> tuple[tuple[int, ...], ...]:
        """Returns the size of each chunk in each quality, bytes. The random stream "chunk sizes" of the seed sets factors."""
        if self.given is not None:
            return self.given
        if self.size_spread == 0:
            return (tuple(self._bytes(rate, 1.0) for rate in self.bitrates_kbps),) * self.chunks
        stream = Random(f"{seed}: chunk sizes")
        rows = []
        for _ in range(self.chunks):
            factor = 1 + self.size_spread * (2 * stream.random() - 1)
            rows.append(tuple(self._bytes(rate, factor) for rate in self.bitrates_kbps))
        return tuple(rows)

    def _bytes(self, kbps: float, factor: float) -> int:
        return max(round(kbps * 125 * self.chunk_s * factor), 1)


@dataclass(frozen=True)
class Qoe:
    """Quality of experience of a chunk: `QoE_lin` of Pensieve (§5.1), after Yin et al. (SIGCOMM 2015, §3.1); from memory.

    q(R_n) - mu * (rebuffering, s) - smoothness * |q(R_n) - q(R_n-1)|. The first chunk has no change of quality
    (Pensieve's program counts a change from 750 kbit/s).
    """

    mu: float
    """Penalty of a second of rebuffering."""
    smoothness: float
    """Penalty of a change of q by 1."""

    def parts(self, value: float, last: float | None, rebuffer_s: float) -> tuple[float, float, float]:
        """Returns the three terms with their signs: quality, rebuffering, change of quality."""
        change = 0.0 if last is None else abs(value - last)
        return value, 0.0 - self.mu * rebuffer_s, 0.0 - self.smoothness * change


def _given(sizes: Any, rates: Sequence[float]) -> tuple[tuple[int, ...], ...]:
    rows = []
    for row in numbers("sizes", sizes, _SIZES):
        sized = tuple(whole("sizes", size, 1, MOST_BYTES) for size in numbers("sizes", row, _SIZES))
        _same_length("a row of sizes", sized, rates)
        rows.append(sized)
    return tuple(rows)


def _same_length(name: str, values: Sequence[object], rates: Sequence[float]) -> None:
    if len(values) != len(rates):
        raise Error(
            f"{name} has {len(values)} values, and there are {len(rates)} bit rates", "give one value for each bit rate"
        )
