//! A checked scenario: plain data.

use lasthop_base::{Choice, Duration, Rate, Spread, Time};
use std::sync::Arc;

/// Everything that a run needs. All indices and values are valid.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Title, one line.
    pub title: String,
    /// Origin of the scenario's numbers.
    pub source: Option<String>,
    /// Length of a run in virtual time.
    pub duration: Duration,
    /// First part of the run, which is not measured; zero: everything is measured.
    pub warmup: Duration,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of repetitions, at least 1.
    pub runs: u32,
    /// Header bytes that links charge per packet.
    pub headers: Headers,
    /// Time between two samples of a probe.
    pub sample: Duration,
    /// Names of the nodes, in the order in which links name them.
    pub nodes: Vec<String>,
    /// Middlebox of each node; `none` where the node only forwards, as at hosts.
    pub middleboxes: Vec<Choice<lasthop_middlebox::Build>>,
    /// The links, in the order of the document.
    pub links: Vec<Link>,
    /// The flows, in the order of the document; replicas are separate flows.
    pub flows: Vec<Flow>,
    /// Route of each flow.
    pub routes: Vec<Route>,
}

impl Scenario {
    /// Nodes with a middlebox, by index into [`Scenario::nodes`].
    pub fn middlebox_nodes(&self) -> impl Iterator<Item = (usize, &Choice<lasthop_middlebox::Build>)> {
        self.middleboxes.iter().enumerate().filter(|(_, choice)| lasthop_middlebox::builds_middlebox(choice))
    }
}

/// Header bytes that links charge per packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Headers {
    /// True length of the packet's headers, options included.
    Real,
    /// No header bytes.
    None,
    /// This many bytes.
    Nominal(u32),
}

/// A link between two nodes.
#[derive(Clone, Hash, Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Upstream node: an index into [`Scenario::nodes`].
    pub from: usize,
    /// Downstream node, different from `from`.
    pub to: usize,
    /// Cell whose medium the link shares with other links.
    pub cell: Option<String>,
    /// Direction from `from` to `to`.
    pub down: lasthop_net::link::Config,
    /// Direction from `to` to `from`.
    pub up: lasthop_net::link::Config,
}

/// A flow of packets between two nodes.
#[derive(Clone, Hash, Debug)]
pub struct Flow {
    /// Its name; replicas are called `NAME.1`, `NAME.2` …
    pub name: String,
    /// Sending node: an index into [`Scenario::nodes`].
    pub from: usize,
    /// Receiving node, different from `from`.
    pub to: usize,
    /// Earliest start.
    pub start: Time,
    /// Largest random delay of the start, which stays before the run's end.
    pub start_spread: Duration,
    /// Largest random delay of each TCP packet at its host, without reordering.
    pub processing: Duration,
    /// Whether the headers are unreadable to middleboxes, which let the packets pass.
    pub opaque: bool,
    /// Traffic of the flow.
    pub traffic: Traffic,
}

/// Traffic of a flow.
#[derive(Clone, Hash, Debug)]
pub enum Traffic {
    /// A stream of bytes over TCP.
    Tcp {
        /// Amount of data.
        transfer: Transfer,
        /// Sending end, shared by flows that are alike.
        source: Arc<lasthop_tcp::Config>,
        /// Receiving end.
        destination: Arc<lasthop_tcp::Config>,
    },
    /// Unacknowledged datagrams.
    Datagrams {
        /// Rate while sending, payload only.
        rate: Rate,
        /// Payload of a datagram, bytes, at least 1.
        packet: u32,
        /// End time; `None`: the end of the run.
        stop: Option<Time>,
        /// Pattern of sending.
        pattern: Pattern,
        /// Largest random delay of each datagram.
        jitter: Duration,
        /// Number of datagrams sent back to back, at least 1.
        burst: u32,
    },
}

/// Amount of data of a TCP flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transfer {
    /// As much as possible until the run ends.
    Bulk,
    /// This many bytes, at least 1.
    Bytes(u64),
    /// Repeated requests by the destination, with responses by the source.
    Exchanges(Exchanges),
    /// Data with pauses, or data written at a rate.
    Pauses(Pauses),
}

/// Requests and responses on one connection, which the destination opens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Exchanges {
    /// Bytes of a request, at least 1.
    pub request: u64,
    /// Mean bytes of a response, at least 1.
    pub response: u64,
    /// Distribution of response sizes.
    pub sizes: Spread,
    /// Mean time from a response's last byte to the next request.
    pub think: Duration,
    /// Distribution of `think`.
    pub period: Spread,
    /// Interval between requests, instead of `think`.
    pub every: Option<Duration>,
    /// Number of requests after which the destination closes, at least 1; `None`: no limit until the run ends.
    pub most: Option<u64>,
}

/// A TCP source that pauses, or writes at a rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pauses {
    /// Mean time with data; longer than the run if the source never pauses.
    pub on: Duration,
    /// Mean length of a pause.
    pub off: Duration,
    /// Distribution of both.
    pub period: Spread,
    /// Write rate while on; `None`: as fast as the connection accepts.
    pub rate: Option<Rate>,
}

/// Pattern of a datagram source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Without pauses.
    Constant,
    /// In bursts.
    OnOff {
        /// Length of a burst, or its mean.
        on: Duration,
        /// Length of a pause, or its mean.
        off: Duration,
        /// Whether both are exponentially distributed; otherwise they are constant.
        exponential: bool,
    },
}

/// Links that a flow's packets cross.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Route {
    /// From source to destination, at least one hop.
    pub there: Vec<Hop>,
    /// From destination to source, at least one hop.
    pub back: Vec<Hop>,
}

/// One direction of one link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hop {
    /// Index into [`Scenario::links`].
    pub link: usize,
    /// Whether the direction is from the link's `from` to its `to`.
    pub is_down: bool,
}
