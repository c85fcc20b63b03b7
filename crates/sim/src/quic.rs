//! QUIC flows of a scenario. The feature `quic` adds the QUIC stack.

use crate::stuck::Stuck;
use lasthop_engine::Traffic;
use lasthop_scenario::{Flow, Scenario};

/// Hash of the sources of the QUIC stack's crate, 16 hexadecimal digits; empty without the stack.
#[cfg(feature = "quic")]
pub const SOURCES: &str = lasthop_quic::SOURCES;
/// Hash of the sources of the QUIC stack's crate, 16 hexadecimal digits; empty without the stack.
#[cfg(not(feature = "quic"))]
pub const SOURCES: &str = "";

/// Error of a scenario with a QUIC flow in a build without the QUIC stack.
pub(crate) fn missing(scenario: &Scenario) -> Option<Stuck> {
    let flow = scenario.flows.iter().find(|flow| flow.quic.is_some() && cfg!(not(feature = "quic")))?;
    Some(Stuck {
        message: format!("flow.{}: this program has no QUIC stack", flow.name),
        help: "use the command `lasthop` or the Python package, or set kind = \"tcp\"".to_owned(),
    })
}

/// Traffic of a QUIC flow. The source opens the connection, as in a TCP flow.
#[cfg(feature = "quic")]
pub(crate) fn traffic(flow: &Flow, seed: u64) -> Traffic {
    use crate::applications;
    use lasthop_base::Stream;
    use lasthop_engine::{FlowSide, NoEndpoint, StackFlow};
    use lasthop_quic::{Congestion, Settings};
    let own = |name| Congestion::named(name).unwrap_or(Congestion::NewReno);
    let settings = match (flow.quic, &flow.traffic) {
        (Some(quic), lasthop_scenario::Traffic::Tcp { source, .. }) => Settings {
            stack: quic.stack,
            congestion: quic.control.map_or_else(|| Congestion::Lasthop(source.clone()), own),
            seed: Stream::named(seed, &format!("flow.{}.quic", flow.name)).draw(),
            datagram: quic.datagram,
            initial_window: Some(u64::from(quic.initial_window) * u64::from(quic.datagram)),
            ecn: quic.ecn,
            ..Settings::default()
        },
        _ => Settings::default(),
    };
    let bytes = applications::size_of(flow, seed);
    let ends = lasthop_quic::pair(&settings, true);
    Traffic::NoEndpoint(NoEndpoint::Stack(Box::new(StackFlow::new(ends, FlowSide::Source, bytes))))
}

/// Traffic of a QUIC flow in a build without the QUIC stack: none ([`missing`] reports the error).
#[cfg(not(feature = "quic"))]
pub(crate) fn traffic(_: &Flow, _: u64) -> Traffic {
    Traffic::NoEndpoint(lasthop_engine::NoEndpoint::External)
}
