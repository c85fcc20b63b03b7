//! Receiver's estimate of the path: the RTT from timestamp echoes, and the sender's window from the RTT and the rate of
//! arriving data.

use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit, Values};

/// Estimate of the sender's window: rate of arriving data times RTT (hasegawa §3.2.2, Eq. 2).
pub const RATE_TIMES_RTT: Mechanism<Build> = Mechanism {
    info: Info {
        name: "rate_times_rtt",
        summary: "cwnd_r = smoothed RTT x throughput of the last RTT, plus 1/cwnd_r per ACK between refreshes",
        source: "hasegawa §3.2.2, Eq. 2",
        parameters: &[
            Parameter {
                name: "at_loss",
                unit: Unit::Word(&["halve", "halve_and_refresh", "keep"]),
                default: Some("halve"),
                doc: "reaction of cwnd_r to a loss. Value halve: cwnd_r is halved once per loss window, and refreshed \
                      only after the hole is closed. Value halve_and_refresh: refreshes continue. Value keep: cwnd_r \
                      is not halved",
            },
            Parameter {
                name: "slow_start",
                unit: Unit::Word(&["as_avoidance", "one_per_ack"]),
                default: Some("as_avoidance"),
                doc: "growth of cwnd_r per ACK between refreshes before the first loss: 1/cwnd_r as in the paper, or 1",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| WindowEstimator::new(values, false),
};

/// Sender's actual window in place of an estimate. Simulations with this window show the best result that any estimate
/// could give. A real receiver cannot observe the sender's window.
pub const ORACLE: Mechanism<Build> = Mechanism {
    info: Info {
        name: "oracle",
        summary: "cwnd_r is the sender's true cwnd: an upper bound, simulation only",
        source: "hasegawa §3.2.2 (the quantity that cwnd_r estimates)",
        parameters: RATE_TIMES_RTT.info.parameters,
        ..Info::PLAIN
    },
    build: &|values| WindowEstimator::new(values, true),
};

/// Builds an estimator.
pub type Build = dyn Fn(&Values) -> WindowEstimator + Send + Sync;

/// All estimators.
pub const ALL: &[Mechanism<Build>] = &[RATE_TIMES_RTT, ORACLE];

/// Default estimator.
pub const DEFAULT: Mechanism<Build> = RATE_TIMES_RTT;

/// Estimate of the path.
#[derive(Clone, Copy, Debug)]
pub struct PathEstimate {
    /// Smoothed RTT (gain 1/8), zero before the first sample.
    pub srtt: Duration,
    /// Smallest RTT of the connection; `Duration::MAX` before the first sample.
    pub min_rtt: Duration,
    /// Largest RTT of the connection.
    pub max_rtt: Duration,
    /// Latest sample of the RTT.
    pub latest_rtt: Duration,
    /// Estimate of the sender's window, segments, at least 1.
    pub cwnd_r: f64,
}

/// Updates a [`PathEstimate`].
#[derive(Clone, Debug)]
pub struct WindowEstimator {
    path: PathEstimate,
    at_loss: AtLoss,
    grows_by_one: bool,
    is_oracle: bool,
    seen_loss: bool,
    /// End of the current loss window, absolute offset. The loss window ends when the cumulative ACK reaches this
    /// offset. `None` outside of a loss window.
    loss_window: Option<u64>,
    period_start: Time,
    period_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum AtLoss {
    Halve,
    HalveAndRefresh,
    Keep,
}

impl WindowEstimator {
    fn new(values: &Values, is_oracle: bool) -> WindowEstimator {
        let path = PathEstimate {
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            max_rtt: Duration::ZERO,
            latest_rtt: Duration::ZERO,
            cwnd_r: 1.0,
        };
        WindowEstimator {
            path,
            at_loss: match values.word("at_loss") {
                "halve" => AtLoss::Halve,
                "halve_and_refresh" => AtLoss::HalveAndRefresh,
                _ => AtLoss::Keep,
            },
            grows_by_one: values.word("slow_start") == "one_per_ack",
            is_oracle,
            seen_loss: false,
            loss_window: None,
            period_start: Time::ZERO,
            period_bytes: 0,
        }
    }

    /// Current estimate of the path.
    pub fn path(&self) -> &PathEstimate {
        &self.path
    }

    /// Whether the estimator needs the sender's true window.
    pub fn is_oracle(&self) -> bool {
        self.is_oracle
    }

    /// Sets the sender's true window, segments.
    pub fn set_true_window(&mut self, cwnd: f64) {
        self.path.cwnd_r = cwnd.max(1.0);
    }

    /// Handles a data segment of `bytes` bytes. `segment`: payload of a full segment, bytes; `rtt`: round-trip time
    /// measured by the timestamp echo.
    pub fn on_arrival(&mut self, now: Time, bytes: u64, segment: u64, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.sample(rtt);
        }
        self.period_bytes += bytes;
        let elapsed = now.since(self.period_start);
        if self.path.srtt == Duration::ZERO || elapsed < self.path.srtt {
            return;
        }
        let frozen = self.loss_window.is_some() && self.at_loss == AtLoss::Halve;
        if !frozen && !self.is_oracle {
            let rate = self.period_bytes as f64 / elapsed.as_secs();
            self.path.cwnd_r = (self.path.srtt.as_secs() * rate / segment as f64).max(1.0);
        }
        self.period_start = now;
        self.period_bytes = 0;
    }

    /// Handles the sending of an ACK for new data. cwnd_r grows by 1/cwnd_r, or by 1 in slow start if `slow_start` is
    /// `one_per_ack`.
    pub fn on_ack_sent(&mut self) {
        if self.is_oracle {
            return;
        }
        let slow_start = self.grows_by_one && !self.seen_loss;
        self.path.cwnd_r += if slow_start { 1.0 } else { 1.0 / self.path.cwnd_r };
    }

    /// Handles a new gap, which begins or extends a loss window. `highest`: offset after the highest byte received.
    pub fn on_gap(&mut self, highest: u64) {
        let first = self.loss_window.is_none();
        self.seen_loss = true;
        self.loss_window = Some(highest);
        if first && self.at_loss != AtLoss::Keep && !self.is_oracle {
            self.path.cwnd_r = (self.path.cwnd_r / 2.0).max(1.0);
        }
    }

    /// Handles an advance of the cumulative ACK to `next`.
    pub fn on_advance(&mut self, now: Time, next: u64) {
        if self.loss_window.is_some_and(|end| next >= end) {
            self.loss_window = None;
            if self.at_loss == AtLoss::Halve {
                // Restarts the measurement of the rate, because arrivals during the repair do not represent the window
                // after the repair.
                self.period_start = now;
                self.period_bytes = 0;
            }
        }
    }

    fn sample(&mut self, rtt: Duration) {
        let path = &mut self.path;
        path.latest_rtt = rtt;
        path.min_rtt = path.min_rtt.min(rtt);
        path.max_rtt = path.max_rtt.max(rtt);
        path.srtt = match path.srtt {
            Duration::ZERO => rtt,
            srtt => Duration::from_nanos((7 * srtt.as_nanos() + rtt.as_nanos()) / 8),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(at_loss: &'static str) -> WindowEstimator {
        let mut values = RATE_TIMES_RTT.info.defaults();
        values.set("at_loss", lasthop_base::Value::Word(at_loss));
        let mut estimator = WindowEstimator::new(&values, false);
        estimator.path.cwnd_r = 40.0;
        estimator
    }

    /// hasegawa §3.2.2: a loss halves the estimate once per loss window. A gap within a loss window extends the loss
    /// window to the highest byte received.
    #[test]
    fn a_loss_window_halves_once() {
        for (at_loss, expected) in [("halve", 20.0), ("halve_and_refresh", 20.0), ("keep", 40.0)] {
            let mut estimator = estimator(at_loss);
            estimator.on_gap(5000);
            estimator.on_gap(6000);
            assert_eq!(estimator.path().cwnd_r, expected, "{at_loss}");
            estimator.on_advance(Time::ZERO, 5999);
            estimator.on_gap(7000);
            assert_eq!(estimator.path().cwnd_r, expected, "{at_loss}: the loss window has not ended");
            estimator.on_advance(Time::ZERO, 7000);
            estimator.on_gap(8000);
            let half = if at_loss == "keep" { 40.0 } else { expected / 2.0 };
            assert_eq!(estimator.path().cwnd_r, half, "{at_loss}: a new loss window");
        }
    }

    /// With `halve`, the measurement of the rate starts at the end of the loss window, so arrivals during the repair do
    /// not count. With `halve_and_refresh`, these arrivals refresh the estimate.
    #[test]
    fn arrivals_of_the_repair_do_not_count() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let rtt = Some(Duration::from_millis(100));
        for (at_loss, expected) in [("halve", 10.0), ("halve_and_refresh", 10.0)] {
            let mut estimator = estimator(at_loss);
            estimator.on_arrival(at(0), 0, 1000, rtt);
            estimator.on_gap(9000);
            estimator.on_arrival(at(50), 90_000, 1000, rtt);
            let during = estimator.path().cwnd_r;
            estimator.on_arrival(at(100), 1000, 1000, rtt);
            assert_eq!(estimator.path().cwnd_r > during, at_loss == "halve_and_refresh", "{at_loss}");
            estimator.on_advance(at(100), 9000);
            estimator.on_arrival(at(200), 10_000, 1000, rtt);
            assert!(
                (estimator.path().cwnd_r - expected).abs() < 1e-9,
                "{at_loss}: {}",
                estimator.path().cwnd_r
            );
        }
    }
}
