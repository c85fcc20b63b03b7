//! Converts a scenario's transfers to the engine's applications.

use lasthop_base::{Stream, Time};
use lasthop_engine::{Application, Exchanges, Pauses};
use lasthop_scenario::{Flow, Traffic, Transfer};

/// Size of a flow's finite transfer in the run with this seed, bytes; `None` if the transfer is not finite.
pub(crate) fn size_of(flow: &Flow, seed: u64) -> Option<u64> {
    let Traffic::Tcp { transfer, .. } = &flow.traffic else { return None };
    bytes_of(transfer, || Stream::named(seed, &format!("flow.{}.size", flow.name)))
}

/// Size of a finite transfer, bytes. Only a transfer of random size calls `stream`.
pub(crate) fn bytes_of(transfer: &Transfer, stream: impl FnOnce() -> Stream) -> Option<u64> {
    match transfer {
        Transfer::Bytes(bytes) => Some(*bytes),
        Transfer::Drawn { mean, sizes } => Some(sizes.draw_bytes(&mut stream(), *mean)),
        Transfer::Bulk
        | Transfer::Exchanges(_)
        | Transfer::OnDemand { .. }
        | Transfer::Fed
        | Transfer::Pauses(_) => None,
    }
}

/// Returns the application of a transfer that begins at `start`, with its own random streams. Returns `None` for bulk
/// and finite transfers, which need no application.
pub(crate) fn of(
    transfer: &Transfer,
    segment: u32,
    start: Time,
    stream: impl Fn(&str) -> Stream,
) -> Option<Application> {
    match transfer {
        Transfer::Bulk | Transfer::Bytes(_) | Transfer::Drawn { .. } => None,
        Transfer::Exchanges(it) => {
            let exchanges = Exchanges {
                request: it.request,
                response: it.response,
                sizes: it.sizes,
                think: it.think,
                pauses: it.period,
                every: it.every,
                most: it.most,
            };
            Some(Application::exchanges(exchanges, start, stream("sizes"), stream("pauses")))
        }
        Transfer::OnDemand { request } => Some(Application::on_demand(*request)),
        Transfer::Fed => Some(Application::fed()),
        Transfer::Pauses(it) => {
            let pauses = Pauses {
                on: it.on,
                off: it.off,
                lengths: it.period,
                rate: it.rate,
                chunk: segment,
                stop: it.stop,
            };
            Some(Application::pauses(pauses, start, stream("pauses")))
        }
    }
}
