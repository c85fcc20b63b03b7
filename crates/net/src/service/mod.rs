//! How long does a packet occupy the link?

mod fading;
mod trace;

pub use fading::Fading;
pub use trace::{Trace, TraceError, TraceFault};

use lasthop_base::{Duration, Rate, Time};
use std::sync::Arc;
use trace::Cursor;

/// A link's rate: constant, or recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum Service {
    /// Constant.
    Rate(Rate),
    /// A packet-delivery trace in Mahimahi's format.
    Trace(Arc<Trace>),
}

/// When a packet is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Served {
    /// When it leaves the queue.
    pub(crate) begins: Time,
    /// When its last byte is sent.
    pub(crate) ends: Time,
}

/// A service with its state.
#[derive(Debug)]
pub(crate) enum Server {
    Rate { rate: Rate, bytes: u32, takes: Duration },
    Trace(Cursor),
}

impl Server {
    pub(crate) fn new(service: &Service) -> Server {
        match service {
            Service::Rate(rate) => Server::Rate { rate: *rate, bytes: 0, takes: Duration::ZERO },
            Service::Trace(trace) => Server::Trace(Cursor::new(Arc::clone(trace))),
        }
    }

    /// Serves a packet of `bytes` from `start` on, when the packet has arrived and the one before it is done.
    pub(crate) fn serve(&mut self, start: Time, bytes: u32) -> Served {
        match self {
            Server::Rate { rate, bytes: last, takes } => {
                if *last != bytes {
                    *last = bytes;
                    *takes = rate.time_for(u64::from(bytes));
                }
                Served { begins: start, ends: start + *takes }
            }
            Server::Trace(cursor) => cursor.serve(start, bytes),
        }
    }
}
