//! Every mechanism of this crate, by seam: what scenarios, `lasthop list` and the schema read.

use crate::receiver::{cause, echo, estimate, shape, timing, window};
use crate::sender::{congestion, counting, judge, recovery};
use lasthop_base::Seam;

/// All seams of an endpoint, in the order in which a reader would ask.
pub fn seams() -> Vec<Seam> {
    vec![
        Seam::new("sender", "recovery", "what was lost, and what goes out again?", recovery::ALL),
        Seam::new("sender", "congestion", "how large is the congestion window?", congestion::ALL),
        Seam::new("sender", "counting", "what is an acknowledgement worth?", counting::ALL),
        Seam::new("sender", "judge", "was it congestion, after all?", judge::ALL),
        Seam::new("receiver", "timing", "when is data acknowledged?", timing::ALL),
        Seam::new("receiver", "shape", "in how many acknowledgements?", shape::ALL),
        Seam::new("receiver", "echo", "how is a congestion mark echoed?", echo::ALL),
        Seam::new("receiver", "window", "how much may come?", window::ALL),
        Seam::new("receiver", "cause", "why was it lost?", cause::ALL),
        Seam::new("receiver", "estimate", "how large is the sender's window?", estimate::ALL),
    ]
}
