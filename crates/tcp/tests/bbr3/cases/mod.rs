//! The example test cases of draft-ietf-ccwg-bbr (appendix "BBR Example Test Cases"), which can run on any path.
//!
//! On a given path, a case holds, does not hold, or does not apply.

mod bandwidth;
mod probe_bw;
mod probe_rtt;
mod spurious;
mod startup;

use crate::lab::{Lab, SEGMENT};
use lasthop_base::{Duration, Value};
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;

/// Reason why a case does not hold on a path, or does not apply.
pub enum Why {
    Not(String),
    /// The case does not apply to this path.
    NotHere(&'static str),
}

impl From<String> for Why {
    fn from(why: String) -> Why {
        Why::Not(why)
    }
}

/// Description of the observation if the case holds, otherwise the reason why the case does not hold or does not apply.
pub type Observations = Result<String, Why>;

/// A test case of the draft.
pub struct Case {
    /// The draft's title.
    pub title: &'static str,
    /// File name of the picture.
    pub name: &'static str,
    /// Summary of the draft's expectation.
    pub expects: &'static str,
    /// Paths: three rates in bit/s, and three round-trip times in s. Each rate is combined with each round-trip time.
    pub paths: [[f64; 3]; 2],
    /// Queue length, bandwidth-delay products.
    pub queue: f64,
    /// Constants of BBR that differ from the draft, to isolate the effect of this case.
    pub constants: &'static [(&'static str, Value)],
    pub run: fn(&mut Lab) -> Observations,
    /// Reason why the draft's own rules prevent the expected result at a rate (bit/s) and RTT (s); `None` if the case
    /// must hold.
    pub except: fn(f64, f64) -> Option<&'static str>,
}

impl Case {
    pub fn lab(&self, rate: f64, rtt: f64) -> Lab {
        Lab::new(rate, rtt, self.queue, self.constants)
    }
}

const RATES: [f64; 3] = [2e6, 10e6, 50e6];
const RTTS: [f64; 3] = [0.02, 0.06, 0.2];
const PATHS: [[f64; 3]; 2] = [RATES, RTTS];

fn nowhere(_: f64, _: f64) -> Option<&'static str> {
    None
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), Why> {
    if holds { Ok(()) } else { Err(Why::Not(what())) }
}

/// Constants that prevent PROBE_RTT during a case.
const LONE: &[(&str, Value)] = &[("probe_rtt_interval", Value::Duration(Duration::from_secs(60)))];

fn product(lab: &Lab) -> f64 {
    lab.payload_rate() * lab.rtt.as_secs() / SEGMENT as f64
}

/// Excludes paths whose bandwidth-delay product is below eight segments, because BBR always keeps three bursts of two
/// segments in flight.
fn needs_a_product(lab: &Lab) -> Result<(), Why> {
    if product(lab) < 8.0 {
        Err(Why::NotHere("three bursts of segments exceed the bandwidth-delay product"))
    } else {
        Ok(())
    }
}

/// The draft's name of a state.
pub fn name(state: Bbr3State) -> &'static str {
    match state {
        Bbr3State::Startup => "STARTUP",
        Bbr3State::Drain => "DRAIN",
        Bbr3State::Down => "PROBE_DOWN",
        Bbr3State::Cruise => "PROBE_CRUISE",
        Bbr3State::Refill => "PROBE_REFILL",
        Bbr3State::Up => "PROBE_UP",
        Bbr3State::ProbeRtt => "PROBE_RTT",
    }
}

fn mbps(bytes_per_sec: f64) -> f64 {
    bytes_per_sec * 8.0 / 1e6
}

/// All cases, in the draft's order.
pub const CASES: &[Case] = &[
    Case {
        title: "Exiting STARTUP on Bandwidth Plateau",
        name: "startup-plateau",
        expects: "max_bw is within 2 % of the path's rate; DRAIN follows three rounds that each add less than 25 %",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: startup::plateau,
        except: nowhere,
    },
    Case {
        title: "Exiting STARTUP on Loss When Application-Limited",
        name: "startup-loss",
        expects: "DRAIN follows if a round loses more than 2 %, in six places, even if samples are application-limited",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: startup::loss,
        except: nowhere,
    },
    Case {
        title: "Exiting DRAIN Based on Inflight",
        name: "drain-inflight",
        expects: "the pacing gain is 0.5 until at most the bandwidth-delay product is in flight; PROBE_BW follows",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: startup::drain_by_inflight,
        except: nowhere,
    },
    Case {
        title: "Exiting DRAIN Based on Time",
        name: "drain-time",
        expects: "on a path that has become slower, PROBE_BW follows after three rounds, although the queue is not \
                  drained",
        paths: PATHS,
        queue: 4.0,
        constants: LONE,
        run: startup::drain_by_time,
        except: nowhere,
    },
    Case {
        title: "Exiting PROBE_UP on Bandwidth Plateau",
        name: "up-plateau",
        expects: "PROBE_DOWN follows three rounds that each add less than 25 %",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_bw::up_plateau,
        except: nowhere,
    },
    Case {
        title: "Exiting PROBE_UP on Loss When Application-Limited",
        name: "up-loss",
        expects: "PROBE_DOWN follows if a round loses more than 2 %, even if samples are application-limited",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_bw::up_loss,
        except: nowhere,
    },
    Case {
        title: "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
        name: "up-for-ever",
        expects: "PROBE_UP continues while there is no loss and samples are application-limited",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_bw::up_for_ever,
        except: nowhere,
    },
    Case {
        title: "Exiting PROBE_DOWN on Inflight",
        name: "down-inflight",
        expects: "the pacing gain is 0.9 until there is headroom and no queue; PROBE_CRUISE follows",
        paths: PATHS,
        queue: 4.0,
        constants: LONE,
        run: probe_bw::down_by_inflight,
        except: nowhere,
    },
    Case {
        title: "Exiting PROBE_DOWN After Max Time",
        name: "down-time",
        expects: "on a path that becomes slower, PROBE_REFILL follows after the wait, without PROBE_CRUISE",
        paths: PATHS,
        queue: 4.0,
        constants: LONE,
        run: probe_bw::down_by_time,
        except: nowhere,
    },
    Case {
        title: "Entering and Exiting PROBE_RTT",
        name: "probe-rtt",
        expects: "after 5 s without a smaller RTT, half a bandwidth-delay product is in flight for 200 ms and a round; \
                  PROBE_BW follows",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_rtt::enters_and_leaves,
        except: nowhere,
    },
    Case {
        title: "Skipping PROBE_RTT Due to Application-Limited Sending",
        name: "probe-rtt-skipped",
        expects: "after 6 s of silence, PROBE_RTT does not occur when sending restarts",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_rtt::skipped_after_silence,
        except: nowhere,
    },
    Case {
        title: "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
        name: "startup-aggregation",
        expects: "if ACKs arrive in bursts, extra_acked raises cwnd above two bandwidth-delay products; the whole \
                  bandwidth is found",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: startup::aggregation,
        except: nowhere,
    },
    Case {
        title: "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
        name: "cruise-aggregation",
        expects: "if bursts of ACKs begin in PROBE_CRUISE, extra_acked raises cwnd, and the path stays full",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_bw::cruise_aggregation,
        except: nowhere,
    },
    Case {
        title: "Correctly Managing Sub-Packet BDPs",
        name: "sub-packet",
        expects: "cwnd is at least four packets, and the path is full",
        paths: [[64e3, 256e3, 1e6], [0.001, 0.005, 0.01]],
        queue: 4.0,
        constants: &[],
        run: bandwidth::sub_packet,
        except: nowhere,
    },
    Case {
        title: "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
        name: "ten-times",
        expects: "the new bandwidth is found within some rounds of PROBE_UP",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: bandwidth::ten_times,
        except: nowhere,
    },
    Case {
        title: "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
        name: "a-tenth",
        expects: "losses lower bw_shortterm at once; two cycles later max_bw is the new bandwidth",
        paths: PATHS,
        queue: 0.3,
        constants: &[],
        run: bandwidth::a_tenth,
        except: bandwidth::no_tenth,
    },
    Case {
        title: "Handling Token Bucket Policers",
        name: "policer",
        expects: "the short-term model adapts; the token rate is used without excessive loss",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: bandwidth::policer,
        except: bandwidth::no_policer,
    },
    Case {
        title: "Handling Spurious Fast Recovery",
        name: "spurious-recovery",
        expects: "after reordering in PROBE_UP, the changed state is restored, and the probe continues",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: spurious::fast_recovery,
        except: nowhere,
    },
    Case {
        title: "Handling Spurious RTO Recovery",
        name: "spurious-rto",
        expects: "if all packets are late in PROBE_UP, the changed state is restored, and the probe continues",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: spurious::timeout,
        except: spurious::no_undoing,
    },
    Case {
        title: "Entering and Exiting PROBE_RTT During STARTUP",
        name: "probe-rtt-startup",
        expects: "PROBE_RTT interrupts a slow STARTUP of more than 5 s; STARTUP then continues",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_rtt::in_startup,
        except: nowhere,
    },
    Case {
        title: "Handling Loss During PROBE_UP After inflight_longterm is Set",
        name: "up-loss-again",
        expects: "losses in PROBE_UP lower inflight_longterm to at least 0.7 of the target; PROBE_DOWN follows",
        paths: PATHS,
        queue: 0.3,
        constants: &[],
        run: probe_bw::up_loss_again,
        except: nowhere,
    },
    Case {
        title: "Handling Application-Limited Sending During PROBE_REFILL",
        name: "refill-limited",
        expects: "low samples of an application that pauses do not change max_bw; PROBE_UP follows",
        paths: PATHS,
        queue: 4.0,
        constants: &[],
        run: probe_bw::refill_limited,
        except: nowhere,
    },
];
