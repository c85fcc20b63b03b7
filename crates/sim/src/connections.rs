//! Creation of connections: at time zero or, if a scenario has very many flows, at each flow's start time.

use crate::applications;
use crate::assemble::{assemble_flow, start_of, with_traffic};
use lasthop_base::{Stream, Time};
use lasthop_engine::flow::TcpConnection;
use lasthop_engine::{FlowSpec, NoEndpoint, Traffic};
use lasthop_scenario::{Scenario, Transfer};
use lasthop_tcp::{Config, Endpoint, Role};
use lasthop_wire::Seq;
use std::sync::Arc;

/// Smallest number of flows for which the engine creates each connection only at the flow's start time.
pub const DEFER_FROM_FLOWS: usize = 1000;

/// Creates each connection at once, or defers the creation to the flow's start time. Creation is deferred only if the
/// endpoints request neither middlebox notices nor planned link rates.
pub(crate) struct ConnectionFactory {
    defers: bool,
    /// Result for the flow examined last: the configurations of its two endpoints, and whether creation may be
    /// deferred. The result is the same for all flows with equal configurations.
    last: Option<([Arc<Config>; 2], bool)>,
}

impl ConnectionFactory {
    pub(crate) fn of(scenario: &Scenario) -> ConnectionFactory {
        ConnectionFactory { defers: scenario.flows.len() >= DEFER_FROM_FLOWS, last: None }
    }

    pub(crate) fn flow(&mut self, scenario: &Scenario, index: usize, seed: u64) -> FlowSpec {
        let flow = &scenario.flows[index];
        let lasthop_scenario::Traffic::Tcp { transfer, source, destination } = &flow.traffic else {
            return assemble_flow(scenario, index, seed);
        };
        if flow.stack.is_some() {
            return assemble_flow(scenario, index, seed);
        }
        let ends = [source.clone(), destination.clone()];
        let is_plain = matches!(transfer, Transfer::Bulk | Transfer::Bytes(_) | Transfer::Drawn { .. });
        if !self.defers || !is_plain || !self.may_defer(&ends) {
            return assemble_flow(scenario, index, seed);
        }
        let (name, transfer, start) = (flow.name.clone(), *transfer, start_of(flow, seed));
        let build = move || connection(&name, seed, &transfer, start, ends);
        with_traffic(
            scenario,
            index,
            seed,
            Traffic::NoEndpoint(NoEndpoint::Deferred(Box::new(Box::new(build)))),
        )
    }

    fn may_defer(&mut self, ends: &[Arc<Config>; 2]) -> bool {
        if let Some((known, may_defer)) = &self.last
            && known.iter().zip(ends).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return *may_defer;
        }
        let one = connection("any", 0, &Transfer::Bulk, Time::ZERO, ends.clone());
        let may_defer = [&one.source, &one.destination]
            .iter()
            .all(|end| !end.wanted_notices().any() && !end.uses_link_plan());
        self.last = Some((ends.clone(), may_defer));
        may_defer
    }
}

pub(crate) fn connection(
    name: &str,
    seed: u64,
    transfer: &Transfer,
    start: Time,
    [source, destination]: [Arc<Config>; 2],
) -> TcpConnection {
    let stream = |purpose: &str| Stream::named(seed, &format!("flow.{name}.{purpose}"));
    let mut numbers = stream("sequence_numbers");
    let mut number = || Seq(numbers.draw() as u32);
    let (active, passive) = match transfer {
        Transfer::Exchanges(_) | Transfer::OnDemand { .. } => (Role::Passive, Role::Active),
        _ => (Role::Active, Role::Passive),
    };
    let segment = source.segment;
    let mut sender = Endpoint::new(source, active, number(), stream("source"));
    let receiver = Endpoint::new(destination, passive, number(), stream("destination"));
    match transfer {
        Transfer::Bulk => sender.write(u64::MAX / 4),
        Transfer::Bytes(_) | Transfer::Drawn { .. } => {
            sender.write(applications::bytes_of(transfer, || stream("size")).unwrap_or(1));
            sender.close_when_sent();
        }
        Transfer::Exchanges(_) | Transfer::OnDemand { .. } | Transfer::Fed | Transfer::Pauses(_) => {}
    }
    let has_loss_discrimination =
        receiver.receiver().discriminates() || sender.sender().discriminates_losses();
    let connection = TcpConnection::new(sender, receiver, has_loss_discrimination);
    match applications::of(transfer, segment, start, stream) {
        Some(application) => connection.with_application(application),
        None => connection,
    }
}
