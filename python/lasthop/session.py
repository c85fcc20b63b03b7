"""Runs in steps: look at flows and links between the steps, and act on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self, cast

from lasthop import _lasthop, _toml
from lasthop._error import Error
from lasthop.results import Results
from lasthop.running import _note, _whole
from lasthop.scenario import Scenario, Source
from lasthop.strategy import Strategies


class Session(_lasthop.Session):
    """One run of a scenario, in steps.

        session = lasthop.Session("rate=10Mbit/s,rtt=60ms,loss=1%,congestion=external", seed=1)
        session.steer(pacing_bps=8e6, cwnd_bytes=150_000)
        while session.run_for(0.06):
            print(session.look().mean_rtt_s)
        results = session.finish()

    `source` and `set` are as in `Scenario`. `seed` is the seed of the run, by default the scenario's. Only the links and
    link directions that `changing` names ("wireless", "wireless.down") accept `change`. Such links need 10 to 40 % more
    time. `samples` and `events` are as in `run`. With `link_delays=False`, the results lack the delays of links, and the
    run is faster.

    A session without acts has the results of `lasthop.run`. Each act takes effect at the current virtual time: the same
    acts at the same times give the same results. Use a session from one thread at a time.
    """

    scenario: Scenario
    """The scenario of the session."""
    _arguments: tuple[int | None, list[str], tuple[bool, bool, bool]]

    def __new__(
        cls,
        source: Source,
        *,
        seed: int | None = None,
        set: Mapping[str, object] | None = None,
        changing: Iterable[str] = (),
        samples: bool = False,
        events: bool = False,
        link_delays: bool = True,
    ) -> Self:
        scenario = source if isinstance(source, Scenario) and not set else Scenario(source, set=set)
        if isinstance(changing, str):
            changing = [changing]
        seed = _whole("seed", seed, 0, 2**63 - 1)
        records = (bool(samples), bool(events), bool(link_delays))
        _note(scenario)
        return cls._build(scenario, (seed, [str(link) for link in changing], records))

    @classmethod
    def _build(
        cls, scenario: Scenario, arguments: tuple[int | None, list[str], tuple[bool, bool, bool]]
    ) -> Self:
        self = cast(Self, super().__new__(cls, scenario._made, *arguments))
        self.scenario = scenario
        self._arguments = arguments
        return self

    def change(
        self,
        link: str,
        *,
        rate: str | float | None = None,
        delay: str | float | None = None,
        loss: str | float | None = None,
        queue: str | Mapping[str, object] | None = None,
    ) -> None:
        """Changes a link or a link direction now. `changing` must name it when the session is made.

        `rate` is text ("2 Mbit/s") or a number of bit/s; 0 is an outage. `delay` is the one-way propagation delay, text
        ("50 ms") or a number of seconds. `loss` is the loss probability, text ("1 %") or a number from 0 to 1. A rate
        replaces a planned or recorded rate, and a loss replaces any channel. `queue` is a limit ("50 packets"), the name
        of a queue discipline ("codel"), or a dict ({"kind": "codel", "target": "10 ms"}). Waiting packets enter the new
        queue.
        """
        strategies = Strategies()
        changes = (rate, delay, loss, queue)
        values = [None if one is None else _toml.typed("value", one, strategies) for one in changes]
        if strategies.for_engine():
            raise Error(
                "a mechanism in Python cannot be set during a session",
                "name one of Lasthop's queue disciplines",
            )
        self.change_link(link, *values)

    def fork(self) -> Self:
        """Returns a new session in the same state, which goes on independently.

        The fork repeats all steps and acts from time zero. Its time is the time of a run so far: about 0.4 ms per virtual
        second at 10 Mbit/s.
        """
        seed, changing, records = self._arguments
        fork = self._build(self.scenario, (seed, changing, records))
        fork.follow(self)
        return fork

    def finish(self, *, early: bool = False) -> Results:
        """Runs to the end of the run, and returns the results. With `early`, ends now: results refer to the time until
        now. The session accepts no further calls."""
        return Results(self.scenario, self.end(bool(early)))

    def __repr__(self) -> str:
        return f"<lasthop.Session {self.scenario.title!r} of {self.duration_s:g} s>"
