//! Every mechanism of this crate, by seam: what scenarios, `lasthop list` and the schema read.

use crate::{admission, arq, channel, queue, rlc};
use lasthop_base::Seam;

/// All seams of a link, in the order in which a packet meets them.
pub fn seams() -> Vec<Seam> {
    let queues = "may a packet join the queue, and which one leaves it next?";
    vec![
        Seam::new("link", "queue", queues, admission::ALL).and(queue::ALL),
        Seam::new("link", "channel", "does a transmission arrive intact?", channel::ALL),
        Seam::new("link", "arq", "what does the link layer do if not?", arq::ALL).and(rlc::ALL),
    ]
}
