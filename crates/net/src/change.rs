//! Settings of a direction that may change at run time.

use lasthop_base::Duration;

/// Changes from now on; `None`: unchanged.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkChange {
    /// Rate, bit/s; 0: stopped.
    pub bps: Option<u64>,
    /// One-way propagation delay. Packets keep their order.
    pub delay: Option<Duration>,
    /// Loss probability of the channel, 0 to 1.
    pub loss: Option<f64>,
}

/// Current settings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSettings {
    /// Rate, bit/s; 0: stopped; `None`: planned or recorded.
    pub bps: Option<u64>,
    /// One-way propagation delay, without planned delay and jitter.
    pub delay: Duration,
    /// Loss probability of the channel, without planned losses; `None` if losses are not independent and alike.
    pub loss: Option<f64>,
}

/// Why a setting cannot change: a clause such as `its rate is recorded`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeRefused(pub &'static str);
