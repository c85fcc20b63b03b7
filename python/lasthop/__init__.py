"""TCP over wireless last hops: a deterministic simulator with the remedies of the literature.

    import lasthop

    results = lasthop.run("umts", runs=10)
    results.to_pandas()                       # a row for each run and flow; column names include the unit
    results.mean("goodput_kbps")              # with its 95 % interval
    lasthop.compare("umts", vary={"recovery": ["sack", "reno"]})

A scenario is the name of a ready path (a scenario that Lasthop includes, see `ready_paths()`), a TOML file, a one-line
scenario (`"rate=10Mbit/s,rtt=20ms,loss=1%"`), or a dict with the same keys as a TOML file. Invalid input raises an
`Error` that gives the place of the problem. You can write mechanisms as small classes, derived from `CongestionControl`
or another base class of this package. `lasthop.plot` draws figures (needs matplotlib). `lasthop.gym` has environments
for learned congestion control (needs gymnasium).
"""

from lasthop._error import Error
from lasthop._lasthop import (
    Ack,
    Arrival,
    Backlog,
    Due,
    FlowLook,
    Gap,
    LinkLook,
    Loss,
    LostSegment,
    Packet,
    PathEstimate,
    QueueState,
    Recovered,
    SenderCounts,
    Start,
    UplinkCounts,
    __version__,
)
from lasthop.results import Advice, Comparison, Crosscheck, Estimate, Reproduction, Results
from lasthop.running import advise, compare, crosscheck, reproduce, run
from lasthop.scenario import Scenario, mechanisms, ready_paths
from lasthop.session import Session
from lasthop.strategy import (
    AckSplitting,
    AckPolicy,
    Admission,
    AdvertisedWindow,
    CongestionControl,
    LossDiscriminator,
    Queue,
    Slices,
    Stack,
)
from lasthop.sweeping import Sweep, merge, read_store, sweep
from lasthop.table import Table

__all__ = [
    "Ack",
    "AckSplitting",
    "AckPolicy",
    "Admission",
    "AdvertisedWindow",
    "Advice",
    "Arrival",
    "Backlog",
    "Comparison",
    "CongestionControl",
    "Crosscheck",
    "Due",
    "Error",
    "Estimate",
    "FlowLook",
    "Gap",
    "LinkLook",
    "Loss",
    "LossDiscriminator",
    "LostSegment",
    "Packet",
    "PathEstimate",
    "Queue",
    "QueueState",
    "Recovered",
    "Reproduction",
    "Results",
    "Scenario",
    "SenderCounts",
    "Session",
    "Slices",
    "Stack",
    "Start",
    "Sweep",
    "Table",
    "UplinkCounts",
    "__version__",
    "advise",
    "compare",
    "crosscheck",
    "mechanisms",
    "merge",
    "read_store",
    "ready_paths",
    "reproduce",
    "run",
    "sweep",
]
