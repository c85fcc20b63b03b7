//! A checked scenario as plain data.

use lasthop_base::{Choice, Duration, Rate, Spread, Time};
use std::sync::Arc;

/// Everything that a run needs. All indices and values in a scenario are valid.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Title, one line.
    pub title: String,
    /// Origin of the scenario's numbers.
    pub source: Option<String>,
    /// Length of a run in virtual time.
    pub duration: Duration,
    /// Length of the first part of the run, which is not measured. Zero means that everything is measured.
    pub warmup: Duration,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of repetitions, at least 1.
    pub runs: u32,
    /// Header bytes that links count for each packet.
    pub headers: Headers,
    /// Time between two samples of the probes.
    pub sample: Duration,
    /// Names of the nodes, in the order in which links name them.
    pub nodes: Vec<String>,
    /// Middlebox of each node; `none` at hosts and at other nodes that only forward.
    pub middleboxes: Vec<Choice<lasthop_middlebox::Build>>,
    /// The links, in the order of the document.
    pub links: Vec<Link>,
    /// The flows, in the order of the document. Each replica is a separate flow.
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

/// Header bytes that links count for each packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Headers {
    /// The real length of the packet's headers, options included.
    Real,
    /// No header bytes.
    None,
    /// A fixed number of bytes for each packet.
    Nominal(u32),
}

/// A link between two nodes.
#[derive(Clone, Hash, Debug)]
pub struct Link {
    /// Name of the link.
    pub name: String,
    /// Upstream node, as an index into [`Scenario::nodes`].
    pub from: usize,
    /// Downstream node, as an index into [`Scenario::nodes`]; different from `from`.
    pub to: usize,
    /// Name of the cell whose medium the link shares with other links.
    pub cell: Option<String>,
    /// Direction from `from` to `to`.
    pub down: lasthop_net::link::Config,
    /// Direction from `to` to `from`.
    pub up: lasthop_net::link::Config,
}

/// A flow of packets between two nodes.
#[derive(Clone, Hash, Debug)]
pub struct Flow {
    /// Name of the flow. Replicas are called `NAME.1`, `NAME.2` …
    pub name: String,
    /// Sending node, as an index into [`Scenario::nodes`].
    pub from: usize,
    /// Receiving node, as an index into [`Scenario::nodes`]; different from `from`.
    pub to: usize,
    /// Earliest time at which the flow starts.
    pub start: Time,
    /// Largest random delay added to `start`; the latest start is before the end of the run.
    pub start_spread: Duration,
    /// Largest random delay that a host adds to each TCP packet; packets stay in order.
    pub processing: Duration,
    /// Delay that a host adds to each TCP packet, in addition to the delays of the links.
    pub extra_delay: Duration,
    /// Differentiated services code point of the packets in both directions, 0 to 63.
    pub dscp: u8,
    /// Whether the headers are encrypted: middleboxes cannot read them and forward the packets unchanged.
    pub opaque: bool,
    /// Traffic of the flow.
    pub traffic: Traffic,
    /// Transport in place of TCP. `traffic` is then [`Traffic::Tcp`], whose transfer and congestion control apply.
    pub stack: Option<Box<ChosenStack>>,
}

/// A transport in place of TCP.
#[derive(Clone, Hash, Debug)]
pub struct ChosenStack {
    /// Transport, such as a QUIC stack with its parameters.
    pub transport: Choice<lasthop_stack::transport::Build>,
    /// Congestion control of the QUIC library, as the library names it
    /// ([`Info::quic_name`](lasthop_base::Info::quic_name)). If `None`, the flow uses Lasthop's congestion control,
    /// which the source's TCP configuration selects.
    pub control: Option<&'static str>,
    /// UDP payload of a full datagram, bytes, at least 1200. With real headers, a full datagram has the same size on
    /// the link as a full TCP segment with timestamps.
    pub datagram: u16,
    /// Initial congestion window, datagrams.
    pub initial_window: u32,
    /// Whether the stack uses ECN.
    pub ecn: bool,
}

/// Length of the IP and TCP headers without options, bytes.
const TCP_HEADERS: u64 = 40;
/// Length of the padded TCP timestamps option, bytes (RFC 7323, appendix A).
const TIMESTAMPS: u64 = 12;
/// Length of the IP and UDP headers, bytes.
const UDP_HEADERS: u64 = 28;
/// Length of QUIC's headers and tag in a full datagram, bytes: short header, stream frame header and tag. The short
/// header has at most 13 bytes, with a connection identifier of 8 bytes. The stream frame header has 8 bytes up to an
/// offset of 1 GiB, and the tag 16 bytes.
const QUIC_HEADERS: u64 = 37;

impl Flow {
    /// Returns whether the flow is a TCP connection.
    pub fn is_tcp(&self) -> bool {
        matches!(self.traffic, Traffic::Tcp { .. }) && self.stack.is_none()
    }

    /// Header bytes that links count for a packet with payload.
    pub fn header_bytes(&self, headers: Headers) -> u64 {
        match (headers, &self.traffic) {
            (Headers::Real, _) if self.stack.is_some() => UDP_HEADERS + QUIC_HEADERS,
            (Headers::None, _) => 0,
            (Headers::Nominal(bytes), _) => u64::from(bytes),
            (Headers::Real, Traffic::Datagrams { .. }) => UDP_HEADERS,
            (Headers::Real, Traffic::Tcp { source, destination, .. }) => {
                TCP_HEADERS + if source.timestamps && destination.timestamps { TIMESTAMPS } else { 0 }
            }
        }
    }
}

/// Traffic of a flow.
#[derive(Clone, Hash, Debug)]
pub enum Traffic {
    /// A stream of bytes over TCP.
    Tcp {
        /// Amount of data, and times at which the application writes the data.
        transfer: Transfer,
        /// Configuration of the sending end. Flows with equal configurations share one value.
        source: Arc<lasthop_tcp::Config>,
        /// Configuration of the receiving end.
        destination: Arc<lasthop_tcp::Config>,
    },
    /// Datagrams without acknowledgements.
    Datagrams {
        /// Rate of the payload while the source sends.
        rate: Rate,
        /// Payload of each datagram, bytes, at least 1.
        packet: u32,
        /// Time at which the source stops; `None`: the end of the run.
        stop: Option<Time>,
        /// Pattern of sending and pausing.
        pattern: Pattern,
        /// Largest random delay added to each datagram.
        jitter: Duration,
        /// Number of datagrams sent back to back, at least 1.
        burst: u32,
    },
}

/// Amount of data of a TCP flow, and times at which the application writes the data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transfer {
    /// As much data as possible until the run ends.
    Bulk,
    /// This many bytes, at least 1.
    Bytes(u64),
    /// Requests from the destination, each followed by a response from the source.
    Exchanges(Exchanges),
    /// Requests from the destination at times that the driver of a run decides. The driver also decides the size of each
    /// response from the source.
    OnDemand {
        /// Size of a request, bytes, at least 1.
        request: u64,
    },
    /// Data that the driver of a run writes, and whose end the driver decides.
    Fed,
    /// Data with pauses, or data written at a limited rate.
    Pauses(Pauses),
    /// A number of bytes that each run draws anew.
    Drawn {
        /// Mean, bytes, at least 1.
        mean: u64,
        /// Distribution about the mean.
        sizes: Spread,
    },
}

/// Requests and responses on one connection, which the destination opens and closes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Exchanges {
    /// Size of a request, bytes, at least 1.
    pub request: u64,
    /// Mean size of a response, bytes, at least 1.
    pub response: u64,
    /// Distribution of response sizes.
    pub sizes: Spread,
    /// Mean time from the last byte of a response to the next request.
    pub think: Duration,
    /// Distribution of `think`.
    pub period: Spread,
    /// Interval between requests, which replaces `think`.
    pub every: Option<Duration>,
    /// Number of requests after which the destination closes the connection, at least 1; `None`: no limit until the run
    /// ends.
    pub most: Option<u64>,
}

/// A TCP source that pauses, or that writes at a limited rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pauses {
    /// Mean time between two pauses; longer than the run if the source never pauses.
    pub on: Duration,
    /// Mean length of a pause.
    pub off: Duration,
    /// Distribution of `on` and `off`.
    pub period: Spread,
    /// Rate at which data is written between pauses; `None`: as fast as the connection accepts data.
    pub rate: Option<Rate>,
    /// Time at which the source closes the connection; `None`: never.
    pub stop: Option<Time>,
}

/// Pattern of a datagram source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Sends without pauses.
    Constant,
    /// Sends in bursts with pauses between them.
    OnOff {
        /// Length of a burst; the mean if `exponential`.
        on: Duration,
        /// Length of a pause; the mean if `exponential`.
        off: Duration,
        /// Whether both lengths are exponentially distributed; otherwise they are constant.
        exponential: bool,
    },
}

/// The links that a flow's packets cross.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Route {
    /// Hops from the source to the destination, at least one.
    pub there: Vec<Hop>,
    /// Hops from the destination back to the source, at least one.
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
