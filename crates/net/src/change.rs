//! Settings of a direction that may change at run time.

use lasthop_base::Duration;

/// Changes of a direction's settings. `None` leaves a setting unchanged.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkChange {
    /// New constant rate, bit/s, from now on; replaces a plan or a recording. 0 stops the transmission until the next
    /// change of the rate.
    pub bps: Option<u64>,
    /// New one-way propagation delay. Packets keep their order.
    pub delay: Option<Duration>,
    /// New loss probability, 0 to 1, of each transmission, independent of other transmissions. Replaces the channel, but
    /// not planned losses and residual losses.
    pub loss: Option<f64>,
}

/// Current settings of a direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSettings {
    /// Rate, bit/s; 0 if stopped; `None` if the rate is planned or recorded.
    pub bps: Option<u64>,
    /// One-way propagation delay, without planned delay and jitter.
    pub delay: Duration,
    /// Loss probability of the channel, without planned losses. `None` unless packets are lost independently with a
    /// constant probability.
    pub loss: Option<f64>,
}

/// Reason why a setting cannot change. The text is a clause such as `its loss probability must be from 0 to 1`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChangeRefused(pub &'static str);
