//! Catalogue of the mechanisms of TCP, links and nodes, and of the keys that select them.

use crate::draft::Draft;
use crate::file_source::{Disk, FileSource};
use crate::problem::Problem;
use lasthop_base::SeamInfo;
use std::sync::Arc;

/// Mechanisms that a scenario can name. [`Catalogue::default`] has the mechanisms of this project, and a caller can add
/// mechanisms. Added mechanisms work like this project's mechanisms in scenario files, `set`, messages, lists and the
/// schema.
///
/// ```
/// use lasthop_base::{Info, Mechanism};
/// use lasthop_scenario::Catalogue;
/// use lasthop_tcp::sender::congestion::AckEvent;
/// use lasthop_tcp::sender::ack_counting::{AckCounting, Build, Regime};
///
/// /// Every byte counts twice.
/// struct Twice;
///
/// impl AckCounting for Twice {
///     fn credit(&mut self, ack: &AckEvent, _: u64, _: Regime) -> u64 {
///         2 * ack.acked
///     }
/// }
///
/// const TWICE: Mechanism<Build> = Mechanism {
///     info: Info { name: "twice", summary: "every byte counts twice", source: "an example", ..Info::PLAIN },
///     build: &|_| Box::new(Twice),
/// };
///
/// let mut catalogue = Catalogue::default();
/// catalogue.tcp.ack_counting.add(&TWICE);
/// let draft = catalogue.load("rate=10Mbit/s,rtt=20ms,ack_counting=twice")?;
/// assert!(draft.show()?.contains(r#"ack_counting = "twice""#));
/// # Ok::<(), lasthop_scenario::Problem>(())
/// ```
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Mechanisms of a TCP endpoint.
    pub tcp: lasthop_tcp::Catalogue,
    /// Mechanisms of a link.
    pub link: lasthop_net::Catalogue,
    /// Mechanisms of a node.
    pub node: lasthop_middlebox::Catalogue,
    /// Transports that can replace TCP in a flow.
    pub transport: lasthop_stack::transport::Catalogue,
    /// Access to scenario files and trace files.
    pub files: Arc<dyn FileSource>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        Catalogue {
            tcp: Default::default(),
            link: Default::default(),
            node: Default::default(),
            transport: Default::default(),
            files: Arc::new(Disk),
        }
    }
}

impl Catalogue {
    /// Reads a scenario that may name this catalogue's mechanisms; see [`Draft::load`].
    pub fn load(&self, path: &str) -> Result<Draft, Problem> {
        Draft::load_with(&Arc::new(self.clone()), path)
    }

    /// Reads a scenario's text that may name this catalogue's mechanisms; see [`Draft::parse`].
    pub fn parse(&self, text: &str, name: &str) -> Result<Draft, Problem> {
        Draft::parse_with(&Arc::new(self.clone()), text, name)
    }

    /// Returns every kind of mechanism, in this order: sender, receiver, links, nodes, flows.
    pub fn seams(&self) -> Vec<&SeamInfo> {
        let ends_and_links = self.tcp.seams().into_iter().chain(self.link.seams());
        ends_and_links.chain(self.node.seams()).chain(self.transport.seams()).collect()
    }

    pub(crate) fn of_side(&self, side: &str) -> Vec<&SeamInfo> {
        let mut seams = match side {
            "link" => self.link.seams(),
            "node" => self.node.seams(),
            "flow" => self.transport.seams(),
            _ => self.tcp.seams(),
        };
        seams.retain(|seam| seam.side == side);
        seams
    }
}
