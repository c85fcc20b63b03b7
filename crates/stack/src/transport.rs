//! Transports that a flow can select in place of TCP.
//!
//! A program can add a transport of its own to the [`Catalogue`]. Scenarios then select this transport by the key
//! `stack` (`examples/own-mechanism/examples/own_stack.rs`).

use crate::{Stack, quic};
use lasthop_base::{Choice, Mechanism, Seam, SeamInfo, Selection, Values};
use std::sync::Arc;

/// Transport of a flow.
#[derive(Clone)]
pub enum Transport {
    /// A QUIC stack of the crate `lasthop-quic`.
    Quic(quic::Settings),
    /// A transport that the program itself has added to the catalogue.
    Own(BuildPair),
}

/// Function that builds both ends of a connection: source, then destination.
pub type BuildPair = Arc<dyn Fn(&Connection) -> [Box<dyn Stack>; 2] + Send + Sync>;

/// A connection whose ends are to be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Seed of all random numbers that the ends draw. Connections and repetitions have different seeds.
    pub seed: u64,
    /// Largest datagram that the flow sends, bytes: the flow's `segment` plus 24 bytes. With real headers, the packet
    /// of such a [`Layer::Udp`](crate::Layer::Udp) datagram is then as large as a full TCP segment with timestamps.
    pub datagram: u16,
    /// Whether the scenario permits ECN.
    pub ecn: bool,
    /// Whether the source opens the connection. If false, the destination is a client that opens the connection and sends
    /// requests. The source is then a server that responds.
    pub source_opens: bool,
}

/// Function that returns the transport with these values of its parameters.
pub type Build = dyn Fn(&Values) -> Transport + Send + Sync;

/// All transports.
pub const ALL: &[Mechanism<Build>] = quic::ALL;

/// Default transport of a flow that is not TCP.
pub const DEFAULT: Mechanism<Build> = quic::noq::MECHANISM;

/// List of the transports that a flow can select. [`Catalogue::default`] has [`ALL`].
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Transports in place of TCP.
    pub stack: Seam<Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        let label = "transport stack in place of TCP (kind = \"quic\")";
        Catalogue { stack: Seam::new("flow", "stack", label, &DEFAULT, ALL) }
    }
}

impl Catalogue {
    /// Returns the descriptions of all kinds of mechanism.
    pub fn seams(&self) -> Vec<&SeamInfo> {
        vec![self.stack.info()]
    }

    /// Stores the selection in `choice`. Returns false if the kind of mechanism or the mechanism is unknown.
    pub fn select(&self, choice: &mut Choice<Build>, seam: &SeamInfo, selection: &Selection) -> bool {
        seam.name == self.stack.info().name && self.stack.select(selection, choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_have_no_mistakes() {
        assert_eq!(Catalogue::default().stack.info().mistakes(), Vec::<String>::new());
    }
}
