//! Service time of packets on a link.

mod fading;
mod light;
mod plan;
mod trace;

pub use fading::FadingModel;
pub use light::{Light, LightTrace, SizeDelays};
pub use plan::RatePlan;
pub use trace::{CELL_BYTES, Trace, TraceError, TraceFault};

use lasthop_base::{Duration, Rate, Time};
use std::sync::Arc;
use trace::Cursor;

pub(crate) use light::{Released, TrainCursor};

/// A link's rate, which is constant, planned or recorded.
#[derive(Clone, Hash, Debug, PartialEq)]
pub enum Service {
    /// Constant rate.
    Rate(Rate),
    /// Rate that changes by plan.
    Plan(Arc<RatePlan>),
    /// A packet-delivery trace in Mahimahi's format.
    Trace(Arc<Trace>),
}

impl Service {
    /// Returns a copy of the service in which `seed` determines the draws of a planned rate.
    /// [`crate::LinkDirection::in_link`] uses the first draw of its stream `plans` as the seed.
    pub fn seeded(&self, seed: u64) -> Service {
        match self {
            Service::Plan(plan) if plan.draws() => Service::Plan(Arc::new(plan.seeded(seed))),
            same => same.clone(),
        }
    }

    /// Constant rate, bit/s; `None` if the rate is planned or recorded.
    pub(crate) fn constant_bps(&self) -> Option<u64> {
        match self {
            Service::Rate(rate) => Some(rate.bps()),
            Service::Plan(_) | Service::Trace(_) => None,
        }
    }

    pub(crate) fn draws(&self) -> bool {
        matches!(self, Service::Plan(plan) if plan.draws())
    }

    /// Returns the rate at the start of the run; if the run starts with an outage, the mean rate.
    pub(crate) fn first_rate(&self) -> Rate {
        match self.rate_at(Time::ZERO) {
            outage if outage.bps() <= 1 => self.mean_rate(),
            rate => rate,
        }
    }

    /// Returns the rate at `now`. For a trace, returns its mean rate.
    pub fn rate_at(&self, now: Time) -> Rate {
        match self {
            Service::Rate(rate) => *rate,
            Service::Plan(plan) => plan.at(now).0,
            Service::Trace(trace) => trace.mean_rate(),
        }
    }

    /// Returns the number of bytes that can be served from the start of the run until `end`. For a trace, returns the
    /// number of bytes of its opportunities.
    pub fn bytes_until(&self, end: Time) -> f64 {
        match self {
            Service::Rate(rate) => rate.bps() as f64 / 8.0 * end.as_secs(),
            Service::Plan(plan) => plan.bytes_until(end),
            Service::Trace(trace) => trace.bytes_until(end),
        }
    }

    /// Returns the mean rate over time: for a plan or a trace, over one repetition.
    pub fn mean_rate(&self) -> Rate {
        match self {
            Service::Rate(rate) => *rate,
            Service::Plan(plan) => plan.mean_rate(),
            Service::Trace(trace) => trace.mean_rate(),
        }
    }

    /// Returns the time of the next planned rate change after `now`, or [`Time::NEVER`].
    pub fn change_after(&self, now: Time) -> Time {
        match self {
            Service::Plan(plan) => plan.at(now).1,
            Service::Rate(_) | Service::Trace(_) => Time::NEVER,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Served {
    /// Time at which the packet leaves the queue.
    pub(crate) begins: Time,
    /// Time at which the packet's last byte is sent.
    pub(crate) ends: Time,
}

#[derive(Clone, Debug)]
pub(crate) enum Server {
    Rate { rate: Rate, bytes: u32, service_time: Duration },
    Plan(Arc<RatePlan>),
    Trace(Cursor),
}

impl Server {
    pub(crate) fn new(service: &Service) -> Server {
        match service {
            Service::Rate(rate) => Server::Rate { rate: *rate, bytes: 0, service_time: Duration::ZERO },
            Service::Plan(plan) => Server::Plan(Arc::clone(plan)),
            Service::Trace(trace) => Server::Trace(Cursor::new(Arc::clone(trace))),
        }
    }

    /// Serves a packet. `start` is the packet's arrival time or the end of the previous transmission, whichever is
    /// later.
    #[inline]
    pub(crate) fn serve(&mut self, start: Time, bytes: u32) -> Served {
        let Server::Rate { rate, bytes: last, service_time } = self else {
            return self.serve_varying(start, bytes);
        };
        if *last != bytes {
            *last = bytes;
            *service_time = rate.time_for(u64::from(bytes));
        }
        Served { begins: start, ends: start + *service_time }
    }

    #[inline(never)]
    fn serve_varying(&mut self, start: Time, bytes: u32) -> Served {
        match self {
            Server::Rate { rate, .. } => {
                Served { begins: start, ends: start + rate.time_for(u64::from(bytes)) }
            }
            Server::Plan(plan) => plan.serve(start, bytes),
            Server::Trace(cursor) => cursor.serve(start, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At 8 kbit/s, 2.5 s serve 2500 bytes. A constant rate has no changes.
    #[test]
    fn a_constant_rate_serves_evenly() {
        let service = Service::Rate(Rate::from_bps(8000));
        let end = Time::ZERO + Duration::from_millis(2500);
        assert_eq!((service.bytes_until(Time::ZERO), service.bytes_until(end)), (0.0, 2500.0));
        assert_eq!((service.mean_rate(), service.first_rate()), (Rate::from_bps(8000), Rate::from_bps(8000)));
        assert_eq!((service.change_after(end), service.draws()), (Time::NEVER, false));
        let mut server = Server::new(&service);
        let served = server.serve(end, 1000);
        assert_eq!((served.begins, served.ends), (end, end + Duration::from_secs(1)));
    }

    /// A plan that begins with an outage has the mean rate of its repetition, 1 Mbit/s, as its first rate.
    #[test]
    fn a_plan_that_begins_with_an_outage() {
        let plan = RatePlan::parse("0 bit/s for 1 s, 2 Mbit/s for 1 s").expect("a plan");
        let service = Service::Plan(Arc::new(plan));
        assert_eq!(service.first_rate(), service.mean_rate());
        assert_eq!(service.mean_rate(), Rate::from_bps(1_000_000));
        assert_eq!(service.change_after(Time::ZERO), Time::ZERO + Duration::from_secs(1));
    }
}
