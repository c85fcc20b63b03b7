//! A checked scenario: plain data, all that a run needs.

use lasthop_base::{Choice, Duration, Rate, Spread, Time};
use std::sync::Arc;

/// What to simulate. Every index and every value in it is valid.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// One line that says what this is.
    pub title: String,
    /// Where its numbers come from.
    pub source: Option<String>,
    /// Length of a run in virtual time.
    pub duration: Duration,
    /// What is measured before this time is left out; zero: nothing is.
    pub warmup: Duration,
    /// Where random numbers begin.
    pub seed: u64,
    /// Number of repetitions, at least 1.
    pub runs: u32,
    /// What links charge per packet beside the payload.
    pub headers: Headers,
    /// Time between two samples of a probe.
    pub sample: Duration,
    /// Names of the nodes, in the order in which links name them.
    pub nodes: Vec<String>,
    /// For each node its middlebox; `none` where it only forwards, which it does where flows begin or end.
    pub middleboxes: Vec<Choice<lasthop_middlebox::Build>>,
    /// The links, in the order of the document.
    pub links: Vec<Link>,
    /// The flows, in the order of the document, replicas one by one.
    pub flows: Vec<Flow>,
    /// For each flow the way there and back.
    pub routes: Vec<Route>,
}

impl Scenario {
    /// The nodes at which a middlebox stands, by their places in [`Scenario::nodes`].
    pub fn boxed_nodes(&self) -> impl Iterator<Item = (usize, &Choice<lasthop_middlebox::Build>)> {
        self.middleboxes.iter().enumerate().filter(|(_, choice)| lasthop_middlebox::stands(choice))
    }
}

/// What links charge per packet beside the payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Headers {
    /// The true length of its headers, options included.
    Real,
    /// Nothing.
    None,
    /// This many bytes.
    Nominal(u32),
}

/// A link between two nodes.
#[derive(Clone, Hash, Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The node at its upper end: an index into [`Scenario::nodes`].
    pub from: usize,
    /// The node at its lower end, another one.
    pub to: usize,
    /// The cell whose medium it shares with other links.
    pub cell: Option<String>,
    /// The direction from `from` to `to`.
    pub down: lasthop_net::link::Config,
    /// The direction from `to` to `from`.
    pub up: lasthop_net::link::Config,
}

/// A flow of packets between two nodes.
#[derive(Clone, Hash, Debug)]
pub struct Flow {
    /// Its name; `NAME.1`, `NAME.2` … if there are several of it.
    pub name: String,
    /// The node that sends: an index into [`Scenario::nodes`].
    pub from: usize,
    /// The node that receives, another one.
    pub to: usize,
    /// When it begins at the earliest.
    pub start: Time,
    /// It begins later than that by a random time up to this, before the run ends.
    pub start_spread: Duration,
    /// Each of a TCP flow's packets leaves its host later by a random time up to this; none overtakes another.
    pub processing: Duration,
    /// Middleboxes cannot read its packets, as if they were encrypted, and let them pass.
    pub opaque: bool,
    /// What it sends.
    pub traffic: Traffic,
}

/// What a flow sends.
#[derive(Clone, Hash, Debug)]
pub enum Traffic {
    /// A stream of bytes over TCP.
    Tcp {
        /// How much.
        transfer: Transfer,
        /// The end that sends. Flows that are alike share it.
        source: Arc<lasthop_tcp::Config>,
        /// The end that receives.
        destination: Arc<lasthop_tcp::Config>,
    },
    /// Datagrams that nobody acknowledges.
    Datagrams {
        /// Rate while it sends, payload only.
        rate: Rate,
        /// Payload of a datagram, bytes, at least 1.
        packet: u32,
        /// When it ends; `None`: with the run.
        stop: Option<Time>,
        /// When it sends.
        pattern: Pattern,
        /// Each datagram is late by a random time up to this.
        jitter: Duration,
        /// So many leave at once, at least 1.
        burst: u32,
    },
}

/// How much a TCP flow transfers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transfer {
    /// As much as it can until the run ends.
    Bulk,
    /// This many bytes, at least 1.
    Bytes(u64),
    /// The destination asks, the source answers, again and again.
    Exchanges(Exchanges),
    /// The source has data for a while, then none, or it writes at a rate.
    Pauses(Pauses),
}

/// Requests and responses on one connection, which the destination opens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Exchanges {
    /// Bytes of a request, at least 1.
    pub request: u64,
    /// Bytes of a response in the mean, at least 1.
    pub response: u64,
    /// How responses spread about it.
    pub sizes: Spread,
    /// Time from a response's last byte to the next request, in the mean.
    pub think: Duration,
    /// How it spreads about that.
    pub period: Spread,
    /// Requests are due so far apart instead.
    pub every: Option<Duration>,
    /// After so many the destination closes, at least 1; `None`: they go on until the run ends.
    pub most: Option<u64>,
}

/// A source of TCP that pauses, or writes at a rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pauses {
    /// How long it has data, in the mean; longer than the run if it never pauses.
    pub on: Duration,
    /// How long it has none then, in the mean.
    pub off: Duration,
    /// How both spread.
    pub period: Spread,
    /// At what rate it writes while on; `None`: as much as the connection takes.
    pub rate: Option<Rate>,
}

/// When a source of datagrams sends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Always.
    Constant,
    /// In bursts.
    OnOff {
        /// Length of a burst, or its mean.
        on: Duration,
        /// Length of a pause, or its mean.
        off: Duration,
        /// Whether both are exponentially distributed; otherwise they are always that long.
        exponential: bool,
    },
}

/// The links that a flow's packets take.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Route {
    /// From source to destination, at least one.
    pub there: Vec<Hop>,
    /// From destination to source, at least one.
    pub back: Vec<Hop>,
}

/// One direction of one link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hop {
    /// An index into [`Scenario::links`].
    pub link: usize,
    /// Whether it is taken down, from its `from` to its `to`.
    pub is_down: bool,
}
