//! Flows whose transport is not Lasthop's TCP. The feature `quic` adds the QUIC stacks.

use crate::applications;
use crate::stuck::Stuck;
use lasthop_base::{Stream, Time};
use lasthop_engine::{Application, FlowSide, NoEndpoint, StackFlow, Traffic};
use lasthop_scenario::{ChosenStack, Flow, Scenario};
use lasthop_stack::Stack;
use lasthop_stack::quic::{Crypto, Settings};
use lasthop_stack::transport::{Connection, Transport};

/// Hash of the sources of the QUIC stacks' crate, 16 hexadecimal digits; empty without the feature `quic`.
#[cfg(feature = "quic")]
pub const SOURCES: &str = lasthop_quic::SOURCES;
/// Hash of the sources of the QUIC stacks' crate, 16 hexadecimal digits; empty without the feature `quic`.
#[cfg(not(feature = "quic"))]
pub const SOURCES: &str = "";

/// Error of a scenario with a QUIC flow in a build without the QUIC stacks.
pub(crate) fn missing(scenario: &Scenario) -> Option<Stuck> {
    let is_missing =
        |stack: &ChosenStack| cfg!(not(feature = "quic")) && matches!(built(stack), Transport::Quic(_));
    let find = |is_missing: &dyn Fn(&ChosenStack) -> bool| {
        scenario.flows.iter().find(|flow| flow.stack.as_deref().is_some_and(is_missing))
    };
    let needs_tls = |stack: &ChosenStack| {
        cfg!(not(feature = "tls"))
            && matches!(built(stack), Transport::Quic(Settings { crypto: Crypto::Tls, .. }))
    };
    if let Some(flow) = find(&needs_tls) {
        return Some(Stuck {
            message: format!("flow.{}: stack.crypto = \"tls\", but this program has no TLS", flow.name),
            help: "build with `cargo install --path crates/cli --features tls`, or set stack.crypto = \"null\", whose \
                   packets have the same sizes"
                .to_owned(),
        });
    }
    let flow = find(&is_missing)?;
    Some(Stuck {
        message: format!("flow.{}: this program has no QUIC stack", flow.name),
        help: "use the command `lasthop` or the Python package, or set kind = \"tcp\"".to_owned(),
    })
}

fn built(stack: &ChosenStack) -> Transport {
    (stack.transport.build)(&stack.transport.values)
}

/// Returns the traffic of a flow with a stack. If the build lacks the flow's stack, the flow sends nothing ([`missing`]
/// reports the error).
pub(crate) fn traffic(flow: &Flow, start: Time, seed: u64) -> Traffic {
    let nothing = Traffic::NoEndpoint(NoEndpoint::External);
    let Some(stack) = flow.stack.as_deref() else { return nothing };
    let lasthop_scenario::Traffic::Tcp { transfer, .. } = &flow.traffic else { return nothing };
    let random = |purpose: &str| Stream::named(seed, &format!("flow.{}.{purpose}", flow.name));
    let application = applications::of(transfer, u32::from(stack.datagram), start, random);
    let opener = application.as_ref().map_or(FlowSide::Source, Application::opener);
    let connection = Connection {
        seed: random("quic").draw(),
        datagram: stack.datagram,
        ecn: stack.ecn,
        source_opens: opener == FlowSide::Source,
    };
    let ends = match built(stack) {
        Transport::Own(build) => Some(build(&connection)),
        Transport::Quic(settings) => quic(flow, stack, settings, &connection),
    };
    let Some(ends) = ends else { return nothing };
    let flow = match application {
        Some(application) => StackFlow::with_application(ends, application),
        None => StackFlow::new(ends, opener, applications::size_of(flow, seed)),
    };
    Traffic::NoEndpoint(NoEndpoint::Stack(Box::new(flow)))
}

#[cfg(feature = "quic")]
fn quic(
    flow: &Flow,
    stack: &ChosenStack,
    settings: Settings,
    connection: &Connection,
) -> Option<[Box<dyn Stack>; 2]> {
    use lasthop_quic::Congestion;
    let lasthop_scenario::Traffic::Tcp { source, .. } = &flow.traffic else { return None };
    let own = |name| Congestion::named(name).unwrap_or(Congestion::NewReno);
    let settings = lasthop_quic::Settings {
        stack: settings,
        congestion: stack.control.map_or_else(|| Congestion::Lasthop(source.clone()), own),
        seed: connection.seed,
        datagram: stack.datagram,
        initial_window: Some(u64::from(stack.initial_window) * u64::from(stack.datagram)),
        ecn: stack.ecn,
        is_two_way: !connection.source_opens,
        ..lasthop_quic::Settings::default()
    };
    Some(lasthop_quic::pair(&settings, connection.source_opens))
}

#[cfg(not(feature = "quic"))]
fn quic(_: &Flow, _: &ChosenStack, _: Settings, _: &Connection) -> Option<[Box<dyn Stack>; 2]> {
    None
}
