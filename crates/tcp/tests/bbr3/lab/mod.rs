//! One BBRv3 connection over a path whose properties a test can change during the run: rate, losses, delays, a policer,
//! aggregated ACKs.

mod path;
mod spy;

pub use path::{Path, Policer};
pub use spy::Row;

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_tcp::sender::congestion::bbr3::{Bbr3, Bbr3State, MECHANISM, ModelSnapshot};
use lasthop_tcp::sender::{congestion, recovery};
use lasthop_tcp::{Arriving, Config, Endpoint, Role};
use lasthop_wire::Seq;
use spy::{Observations, Spy};
use std::sync::{Arc, Mutex};

/// Payload of a full segment, bytes.
pub const SEGMENT: u64 = 1448;
/// Headers of IPv4 and TCP with timestamps, bytes.
pub const HEADERS: u64 = 52;

/// Behaviour of the application.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Application {
    Bulk,
    /// Writes one segment at a time; the value is the rate, bytes/s.
    Writes(f64),
    Silent,
}

pub struct Lab {
    pub now: Time,
    pub path: Path,
    pub application: Application,
    /// Round-trip time without queueing delay and transmission time.
    pub rtt: Duration,
    ends: [Endpoint; 2],
    written: u64,
    next_write: Time,
    observations: Arc<Mutex<Observations>>,
}

impl Lab {
    /// Returns a lab with a path of `rate` bit/s and an RTT of `rtt_s` s. The queue holds `queue_bdp` bandwidth-delay
    /// products plus ten packets. `constants`: BBR's constants to change.
    pub fn new(rate: f64, rtt_s: f64, queue_bdp: f64, constants: &[(&'static str, Value)]) -> Lab {
        let observations = Arc::new(Mutex::new(Observations::default()));
        let rtt = Duration::from_secs_f64(rtt_s);
        let mut lab = Lab {
            now: Time::ZERO,
            path: Path::new(Rate::from_bps(rate as u64), rtt, queue_bdp),
            application: Application::Bulk,
            rtt,
            ends: ends(&observations, constants),
            written: 0,
            next_write: Time::ZERO,
            observations,
        };
        lab.ends.iter_mut().for_each(|end| end.open(Time::ZERO));
        lab
    }

    /// BBR's current state and estimates.
    pub fn snapshot(&self) -> ModelSnapshot {
        self.observations().snapshot.expect("an ACK has arrived")
    }

    pub fn state(&self) -> Bbr3State {
        self.observations().snapshot.map_or(Bbr3State::Startup, |snapshot| snapshot.state)
    }

    /// Observations at each ACK.
    pub fn rows(&self) -> Vec<Row> {
        self.observations().rows.clone()
    }

    /// BBR's state at the time `then`, and all later states.
    pub fn states_since(&self, then: Time) -> Vec<Bbr3State> {
        let states = &self.observations().states;
        let from = states.partition_point(|(at, _)| *at <= then).saturating_sub(1);
        states[from..].iter().map(|(_, state)| *state).collect()
    }

    /// Observation at the last ACK.
    pub fn last(&self) -> Row {
        *self.observations().rows.last().expect("an ACK has arrived")
    }

    fn observations(&self) -> std::sync::MutexGuard<'_, Observations> {
        self.observations.lock().expect("no test panics while holding the lock")
    }

    /// Payload capacity of the path, bytes per second.
    pub fn payload_rate(&self) -> f64 {
        self.path.rate.bps() as f64 / 8.0 * SEGMENT as f64 / (SEGMENT + HEADERS) as f64
    }

    /// Bytes delivered to the receiving application.
    pub fn delivered(&self) -> u64 {
        self.ends[1].delivered()
    }

    pub fn sender(&self) -> &lasthop_tcp::sender::Sender {
        self.ends[0].sender()
    }

    pub fn counters(&self) -> lasthop_tcp::Counters {
        self.ends[0].counters()
    }

    /// Runs until `is_there` returns true. Returns an error, which names `what`, if this takes longer than `longest_s`
    /// seconds.
    pub fn run_until(
        &mut self,
        what: &str,
        longest_s: f64,
        mut is_there: impl FnMut(&mut Lab) -> bool,
    ) -> Result<(), String> {
        let end = self.now + Duration::from_secs_f64(longest_s);
        while !is_there(self) {
            if self.now > end {
                return Err(format!("{what}: not within {longest_s} s (state {:?})", self.state()));
            }
            self.step();
        }
        Ok(())
    }

    pub fn run_for(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.step();
        }
    }

    /// Runs until BBR is in this state, for at most 60 s.
    pub fn run_to(&mut self, state: Bbr3State) -> Result<(), String> {
        self.run_until(&format!("{state:?}"), 60.0, |lab| lab.state() == state)
    }

    fn step(&mut self) {
        self.send();
        let ends = self.ends.iter().map(Endpoint::poll_timeout).min().unwrap_or(Time::NEVER);
        let writes =
            if matches!(self.application, Application::Writes(_)) { self.next_write } else { Time::NEVER };
        // If no event occurs earlier, the time advances by 10 ms.
        let piece = self.now + Duration::from_millis(10);
        self.now = ends.min(self.path.next()).min(writes).min(piece).max(self.now);
        while let Some((side, segment)) = self.path.arrived(self.now) {
            self.ends[side].handle_segment(self.now, &segment, &Arriving::default());
        }
        for side in 0..2 {
            if self.ends[side].poll_timeout() <= self.now {
                self.ends[side].handle_timeout(self.now);
            }
        }
    }

    fn send(&mut self) {
        self.write();
        while let Some(sending) = self.ends[0].poll_segment(self.now) {
            self.path.send(self.now, sending.segment);
            self.write();
        }
        while let Some(sending) = self.ends[1].poll_segment(self.now) {
            self.path.acknowledge(self.now, sending.segment);
        }
    }

    fn write(&mut self) {
        match self.application {
            Application::Bulk => {
                self.next_write = self.now;
                let sent = self.ends[0].sender().scoreboard().nxt().saturating_sub(1);
                if self.written < sent + 2 * SEGMENT {
                    self.ends[0].write(4 * SEGMENT);
                    self.written += 4 * SEGMENT;
                }
            }
            Application::Writes(rate) => {
                while self.next_write <= self.now {
                    self.ends[0].write(SEGMENT);
                    self.written += SEGMENT;
                    self.next_write += Duration::from_secs_f64(SEGMENT as f64 / rate);
                }
            }
            Application::Silent => self.next_write = self.now,
        }
    }
}

/// Returns sender and receiver with RACK-TLP, F-RTO, undo by D-SACK and delayed ACKs. `observations` records the state
/// of the sender's BBR.
fn ends(observations: &Arc<Mutex<Observations>>, constants: &[(&'static str, Value)]) -> [Endpoint; 2] {
    let shared = Arc::clone(observations);
    let build = move |values: &lasthop_base::Values, start: congestion::Start| {
        let spy = Spy {
            inner: Bbr3::new(values, start),
            observations: Arc::clone(&shared),
            lost: 0,
            now: Time::ZERO,
        };
        Box::new(spy) as Box<dyn congestion::CongestionControl>
    };
    let mut config = Config {
        recovery: Choice::named(recovery::ALL, "rack"),
        congestion: Choice::with_constructor(&MECHANISM.info, Arc::new(build)),
        f_rto: true,
        dsack_undo: true,
        restarts_after_idle: false,
        ..Config::default()
    };
    for (name, value) in constants {
        config.congestion.values.set(name, value.clone());
    }
    config.window.values.set("size", Value::Bytes(64 << 20));
    [
        Endpoint::new(config.clone(), Role::Active, Seq(1_000), Stream::named(1, "client")),
        Endpoint::new(config, Role::Passive, Seq(5_000_000), Stream::named(1, "server")),
    ]
}
