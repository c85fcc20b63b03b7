//! Converts a scenario's transfers to the engine's applications.

use lasthop_base::{Stream, Time};
use lasthop_engine::{Application, Exchanges, Pauses};
use lasthop_scenario::Transfer;

/// Returns the application of a transfer that begins at `start`, with its own random streams. Returns `None` for bulk
/// and finite transfers, which need no application.
pub(crate) fn of(
    transfer: &Transfer,
    segment: u32,
    start: Time,
    stream: impl Fn(&str) -> Stream,
) -> Option<Application> {
    match transfer {
        Transfer::Bulk | Transfer::Bytes(_) => None,
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
