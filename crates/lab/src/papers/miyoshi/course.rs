//! p while flows join (Fig. 4), and cwnd against time (Figs. 7 and 8).

use super::setting::{Acks, Nodes, Setting};
use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::Problem;
use lasthop_sim::{Samples, Watch, run_probed, run_watched};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;

/// What is drawn.
pub(super) struct Course {
    /// By second: p as the senders count it, and the moving average of Eq. 4.
    pub(super) p: Vec<(f64, f64)>,
    /// cwnd with one and with two ACKs, at p_err = 0.1 and at 0.01.
    pub(super) windows: [[Samples; 2]; 2],
}

/// The p_err of Figs. 7 and 8.
pub(super) const WINDOWS_AT: [f64; 2] = [0.1, 0.01];
/// p_err of Fig. 4, which the paper does not give.
pub(super) const JOINING_AT: f64 = 0.01;
/// Seconds between the starts of two flows in Fig. 4.
pub(super) const APART: u64 = 10;

pub(super) fn run(seed: u64) -> Result<Course, Problem> {
    let setting = Setting::default();
    let window = |p_err, acks| -> Result<Samples, Problem> {
        let mut scenario = setting.scenario(Nodes::One, acks, p_err)?;
        scenario.duration = Duration::from_secs(60);
        scenario.sample = Duration::from_millis(50);
        Ok(run_probed(&scenario, seed).1)
    };
    let pair = |p_err| Ok([window(p_err, Acks::One)?, window(p_err, Acks::Two)?]);
    let windows = [pair(WINDOWS_AT[0])?, pair(WINDOWS_AT[1])?];
    let mut joining = setting.scenario(Nodes::Five, Acks::One, JOINING_AT)?;
    joining.duration = Duration::from_secs(5 * APART);
    for (number, flow) in joining.flows.iter_mut().enumerate() {
        flow.start = Time::ZERO + Duration::from_secs(number as u64 * APART);
    }
    let watch = Watch { observers: vec![Box::new(Losses::default())], probes: false };
    let (_, _, observers) = run_watched(&joining, seed, watch);
    let losses =
        observers.into_iter().filter_map(|one| (one as Box<dyn Any>).downcast::<Losses>().ok()).next();
    let p = losses.map_or(Vec::new(), |losses| losses.smoothed());
    Ok(Course { p, windows })
}

/// Segments sent and triple duplicate ACKs, by second.
#[derive(Default)]
struct Losses {
    seconds: Vec<(u64, u64)>,
}

impl Losses {
    fn at(&mut self, now: Time) -> &mut (u64, u64) {
        let second = now.since(Time::ZERO).as_secs() as usize;
        if self.seconds.len() <= second {
            self.seconds.resize(second + 1, (0, 0));
        }
        &mut self.seconds[second]
    }

    /// p of each second, and p = 7/8 now + 1/8 before (Eq. 4).
    fn smoothed(&self) -> Vec<(f64, f64)> {
        let mut average: Option<f64> = None;
        self.seconds
            .iter()
            .map(|(sent, found)| {
                let now = *found as f64 / (*sent).max(1) as f64;
                let next = average.map_or(now, |old| (7.0 * now + old) / 8.0);
                average = Some(next);
                (now, next)
            })
            .collect()
    }
}

impl Observer for Losses {
    fn on_packet(&mut self, now: Time, _: PipeId, packet: &Packet, _: Fate) {
        if packet.forward && packet.hop == 0 {
            self.at(now).0 += 1;
        }
    }

    fn on_event(&mut self, now: Time, _: FlowId, side: Side, event: &Event) {
        if side == Side::Source && matches!(event, Event::RecoveryEntered { .. }) {
            self.at(now).1 += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_moving_average_of_equation_4() {
        let losses = Losses { seconds: vec![(100, 8), (100, 0), (0, 0)] };
        assert_eq!(losses.smoothed(), [(0.08, 0.08), (0.0, 0.01), (0.0, 0.00125)]);
    }
}
