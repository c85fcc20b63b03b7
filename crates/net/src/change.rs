//! What may be set on a direction of a link while it runs, and what holds.

use lasthop_base::Duration;

/// What is to hold from now on; what is `None` stays as it is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Change {
    /// Rate, bit/s; 0: nothing is sent.
    pub bps: Option<u64>,
    /// Propagation delay, one way. Packets keep their order.
    pub delay: Option<Duration>,
    /// Share of transmissions that the channel destroys, 0 to 1.
    pub loss: Option<f64>,
}

/// What holds now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    /// Rate, bit/s; 0: nothing is sent; `None` if it follows a plan or is recorded.
    pub bps: Option<u64>,
    /// Propagation delay, one way, without what comes to it by plan or at random.
    pub delay: Duration,
    /// Share of transmissions that the channel destroys, without losses by plan; `None` if it is not the same for each.
    pub loss: Option<f64>,
}

/// Why something cannot be set: a part of a sentence, `its rate is recorded`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fixed(pub &'static str);
