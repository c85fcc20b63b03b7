//! Curves of Fig. 5 of the paper `hasegawa`: one episode of ACK splitting, packet by packet.

use super::observed;
use crate::figure::{Curve, CurveKind, Point};
use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};

/// Returns curves over the data packets of a run's longest episode. For each packet, the curves show four numbers of
/// ACKs: in the uplink queue before the receiver acknowledges the packet (`r_queue`), in the queue afterwards
/// (`s_queue`), drained from the queue since the previous packet (`dQ`, Eq. 4), and sent for the packet (`ACK_i`, Eq.
/// 5).
pub fn curves(scenario: Scenario, seed: u64) -> Vec<Curve> {
    let packets = observed::<Episodes>(&scenario, seed).longest();
    let by_packet = |name: &str, value: &dyn Fn(usize) -> f64| Curve {
        name: name.into(),
        kind: CurveKind::Steps,
        points: (0..packets.len()).map(|at| Point::exact(at as f64 + 1.0, value(at))).collect(),
    };
    let drained = |at: usize| match at {
        0 => 0.0,
        at => f64::from(packets[at - 1].s_queue.saturating_sub(packets[at].r_queue)),
    };
    vec![
        by_packet("r_queue", &|at| f64::from(packets[at].r_queue)),
        by_packet("s_queue", &|at| f64::from(packets[at].s_queue)),
        by_packet("dQ", &drained),
        by_packet("ACK_i", &|at| f64::from(packets[at].acks)),
    ]
}

#[derive(Clone, Copy)]
struct SplitPacket {
    r_queue: u32,
    s_queue: u32,
    acks: u32,
}

/// Collector of episodes. An episode is a sequence of packets that begins and ends with a packet for which the receiver
/// sent several ACKs.
#[derive(Default)]
struct Episodes {
    current: Vec<SplitPacket>,
    /// Number of packets since the last packet for which the receiver sent several ACKs.
    single: usize,
    longest: Vec<SplitPacket>,
}

/// Number of consecutive packets with a single ACK each that end an episode.
const END: usize = 20;
const MAX_PACKETS: usize = 60;

impl Episodes {
    fn longest(mut self) -> Vec<SplitPacket> {
        self.finish();
        self.longest
    }

    fn finish(&mut self) {
        let kept = self.current.len().saturating_sub(self.single);
        self.current.truncate(kept.min(MAX_PACKETS));
        if self.current.len() > self.longest.len() {
            self.longest = std::mem::take(&mut self.current);
        }
        self.current.clear();
        self.single = 0;
    }
}

impl Observer for Episodes {
    fn on_packet(&mut self, _: Time, _: PipeId, _: &Packet, _: Fate) {}

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, event: &Event) {
        let Event::AckSplit { acks, queue_before, queue_after } = event else { return };
        if *acks == 1 && self.current.is_empty() {
            return;
        }
        self.single = if *acks == 1 { self.single + 1 } else { 0 };
        self.current.push(SplitPacket { r_queue: *queue_before, s_queue: *queue_after, acks: *acks });
        if self.single >= END {
            self.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(acks: &[u32]) -> Vec<u32> {
        let mut shapes = Episodes::default();
        for acks in acks {
            let event = Event::AckSplit { acks: *acks, queue_before: 0, queue_after: 0 };
            shapes.on_event(Time::ZERO, FlowId::default(), FlowSide::Destination, &event);
        }
        shapes.longest().iter().map(|one| one.acks).collect()
    }

    #[test]
    fn an_episode_begins_and_ends_with_a_split() {
        assert_eq!(shapes(&[1, 1, 5, 1, 4, 1, 1]), [5, 1, 4]);
        // Twenty packets in a row with a single ACK each end the first episode. The longer of the two episodes is kept.
        let apart = [&[3, 2][..], &[1; 20], &[4, 4, 4]].concat();
        assert_eq!(shapes(&apart), [4, 4, 4]);
    }

    #[test]
    fn an_episode_has_no_more_packets_than_a_picture_can_show() {
        assert_eq!(shapes(&[2; 100]).len(), 60);
    }
}
