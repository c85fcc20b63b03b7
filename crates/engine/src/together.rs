//! Fair shares of concurrent flows.
//!
//! A TCP flow is active from its start until its last byte is delivered. While at least two flows are active, each
//! delivery counts for its flow. An equal part of the delivery counts for each active flow's fair share: the virtual
//! time of fair queueing (Demers, Keshav, Shenker, SIGCOMM 1989). Memory and time per
//! delivery do not grow with the run or its flows.

/// Share of a flow while other flows were active.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Share {
    /// Payload delivered to the flow while at least one other flow was active, bytes.
    pub bytes: u64,
    /// Payload that equal shares of all active flows at each instant would have given, bytes.
    pub fair_bytes: f64,
}

impl Share {
    /// Share since `before`.
    pub fn since(&self, before: &Share) -> Share {
        Share { bytes: self.bytes - before.bytes, fair_bytes: self.fair_bytes - before.fair_bytes }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Together {
    alive: u32,
    /// Fair share of a flow active since the start of the run, bytes.
    fair: f64,
}

/// A flow's share so far. The field that each delivery changes comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Sharing {
    bytes: u64,
    /// [`Together`]'s `fair` when this flow began and when it ended, or [`NOT_YET`].
    began: f64,
    ended: f64,
}

const NOT_YET: f64 = -1.0;

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing { bytes: 0, began: NOT_YET, ended: NOT_YET }
    }
}

impl Together {
    pub(crate) fn begin(&mut self, flow: &mut Sharing) {
        flow.began = self.fair;
        self.alive += 1;
    }

    pub(crate) fn end(&mut self, flow: &mut Sharing) {
        flow.ended = self.fair;
        self.alive -= 1;
    }

    pub(crate) fn deliver(&mut self, flow: &mut Sharing, bytes: u64) {
        if self.alive >= 2 {
            flow.bytes += bytes;
            self.fair += bytes as f64 / f64::from(self.alive);
        }
    }

    pub(crate) fn share(&self, flow: &Sharing) -> Share {
        let until = if flow.ended == NOT_YET { self.fair } else { flow.ended };
        let fair_bytes = if flow.began == NOT_YET { 0.0 } else { until - flow.began };
        Share { bytes: flow.bytes, fair_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_worked_by_hand() {
        let mut together = Together::default();
        let [mut a, mut b, mut c] = [Sharing::default(); 3];
        together.begin(&mut a);
        // Alone: not counted.
        together.deliver(&mut a, 5_000);
        together.begin(&mut b);
        together.deliver(&mut a, 300);
        together.deliver(&mut b, 100);
        together.begin(&mut c);
        for flow in [&mut a, &mut b, &mut c] {
            together.deliver(flow, 100);
        }
        together.end(&mut a);
        together.deliver(&mut c, 60);
        together.end(&mut c);
        together.deliver(&mut b, 9_000);
        // 400 shared by two, 300 by three, 60 by two; the rest alone.
        let share = |flow| together.share(flow);
        assert_eq!(share(&a), Share { bytes: 400, fair_bytes: 300.0 });
        assert_eq!(share(&b), Share { bytes: 200, fair_bytes: 330.0 });
        assert_eq!(share(&c), Share { bytes: 160, fair_bytes: 130.0 });
        assert_eq!(share(&Sharing::default()), Share::default(), "never began");
    }
}
