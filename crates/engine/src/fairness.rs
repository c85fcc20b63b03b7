//! Fair shares of concurrent flows.
//!
//! A TCP flow is active from its start until its last byte is delivered. While at least two flows are active, the bytes
//! of each delivery are counted for the receiving flow. An equal part of these bytes is added to the fair share of each
//! active flow. The sum of these parts is the virtual time of fair queueing (Demers, Keshav, Shenker, SIGCOMM 1989).
//! Memory and time per delivery grow neither with the length of the run nor with the number of flows.

/// Share of a flow while other flows were active.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ConcurrentShare {
    /// Payload delivered to the flow while at least one other flow was active, bytes.
    pub bytes: u64,
    /// Payload in bytes that the flow would have received in that time, if all active flows had had equal shares at
    /// each instant.
    pub fair_bytes: f64,
}

impl ConcurrentShare {
    /// Returns the difference between this share and the earlier share `before`.
    pub fn since(&self, before: &ConcurrentShare) -> ConcurrentShare {
        ConcurrentShare { bytes: self.bytes - before.bytes, fair_bytes: self.fair_bytes - before.fair_bytes }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConcurrentFlows {
    active: u32,
    /// Virtual time: the fair share, in bytes, of a flow that is active from the start of the run.
    fair_bytes: f64,
}

/// A flow's share so far. The field that changes at each delivery comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct FlowShare {
    bytes: u64,
    /// Value of [`ConcurrentFlows`]'s `fair_bytes` when this flow began, or [`NOT_YET`].
    began: f64,
    /// Value of [`ConcurrentFlows`]'s `fair_bytes` when this flow ended, or [`NOT_YET`].
    ended: f64,
}

const NOT_YET: f64 = -1.0;

impl Default for FlowShare {
    fn default() -> FlowShare {
        FlowShare { bytes: 0, began: NOT_YET, ended: NOT_YET }
    }
}

impl ConcurrentFlows {
    pub(crate) fn begin(&mut self, flow: &mut FlowShare) {
        flow.began = self.fair_bytes;
        self.active += 1;
    }

    pub(crate) fn end(&mut self, flow: &mut FlowShare) {
        flow.ended = self.fair_bytes;
        self.active -= 1;
    }

    pub(crate) fn deliver(&mut self, flow: &mut FlowShare, bytes: u64) {
        if self.active >= 2 {
            flow.bytes += bytes;
            self.fair_bytes += bytes as f64 / f64::from(self.active);
        }
    }

    pub(crate) fn share(&self, flow: &FlowShare) -> ConcurrentShare {
        let until = if flow.ended == NOT_YET { self.fair_bytes } else { flow.ended };
        let fair_bytes = if flow.began == NOT_YET { 0.0 } else { until - flow.began };
        ConcurrentShare { bytes: flow.bytes, fair_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_worked_by_hand() {
        let mut concurrent = ConcurrentFlows::default();
        let [mut a, mut b, mut c] = [FlowShare::default(); 3];
        concurrent.begin(&mut a);
        // These bytes are not counted, because only one flow is active.
        concurrent.deliver(&mut a, 5_000);
        concurrent.begin(&mut b);
        concurrent.deliver(&mut a, 300);
        concurrent.deliver(&mut b, 100);
        concurrent.begin(&mut c);
        for flow in [&mut a, &mut b, &mut c] {
            concurrent.deliver(flow, 100);
        }
        concurrent.end(&mut a);
        concurrent.deliver(&mut c, 60);
        concurrent.end(&mut c);
        concurrent.deliver(&mut b, 9_000);
        // The expected shares follow from three periods. Two flows shared 400 bytes, then three flows shared 300 bytes,
        // then two flows shared 60 bytes. The other bytes were delivered while only one flow was active.
        let share = |flow| concurrent.share(flow);
        assert_eq!(share(&a), ConcurrentShare { bytes: 400, fair_bytes: 300.0 });
        assert_eq!(share(&b), ConcurrentShare { bytes: 200, fair_bytes: 330.0 });
        assert_eq!(share(&c), ConcurrentShare { bytes: 160, fair_bytes: 130.0 });
        assert_eq!(share(&FlowShare::default()), ConcurrentShare::default(), "a flow that has not begun");
    }
}
