//! Curves of Fig. 4 of the paper `miyoshi`: loss rate that the senders detect while the number of flows grows.

use super::observed;
use crate::figure::{Curve, CurveKind, Point};
use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};

/// Returns curves of the loss rate p in each second, and of its moving average. The flows start at equal intervals over
/// the run.
pub fn curves(mut scenario: Scenario, seed: u64) -> Vec<Curve> {
    let apart = scenario.duration.divided_by(scenario.flows.len() as u64);
    for (number, flow) in scenario.flows.iter_mut().enumerate() {
        flow.start = Time::ZERO + apart * number as u64;
    }
    let p = observed::<Losses>(&scenario, seed).smoothed();
    let points = |of: fn(&(f64, f64)) -> f64| {
        p.iter().enumerate().map(|(second, one)| Point::exact(second as f64, of(one))).collect()
    };
    vec![
        Curve { name: "p of each second".into(), kind: CurveKind::Dots, points: points(|one| one.0) },
        Curve { name: "moving average".into(), kind: CurveKind::Line, points: points(|one| one.1) },
    ]
}

#[derive(Default)]
struct Losses {
    /// Counts of each second: data packets sent, and recoveries that the senders entered.
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

    /// Returns the loss rate p of each second, and its moving average. The average is 7/8 of the current p plus 1/8 of
    /// the previous average (Eq. 4).
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

    fn on_event(&mut self, now: Time, _: FlowId, side: FlowSide, event: &Event) {
        if side == FlowSide::Source && matches!(event, Event::RecoveryEntered { .. }) {
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
