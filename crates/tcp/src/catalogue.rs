//! Every mechanism of this crate, by seam: what scenarios, `lasthop list` and the schema read.

use crate::cause;
use crate::receiver::{estimate, shape, timing, window};
use crate::sender::{congestion, counting, recovery};
use lasthop_base::{Info, Mechanism};

/// A seam: a question, and the mechanisms that answer it.
#[derive(Clone, Debug)]
pub struct Seam {
    /// The scenario key: `recovery`, `shape`.
    pub name: &'static str,
    /// The question.
    pub question: &'static str,
    /// Who asks it: `sender` or `receiver`.
    pub side: &'static str,
    /// The answers.
    pub mechanisms: Vec<&'static Info>,
}

/// All seams of an endpoint, in the order in which a reader would ask.
pub fn seams() -> Vec<Seam> {
    fn seam<B>(
        side: &'static str,
        name: &'static str,
        question: &'static str,
        list: &'static [Mechanism<B>],
    ) -> Seam {
        Seam { name, question, side, mechanisms: list.iter().map(|mechanism| &mechanism.info).collect() }
    }
    vec![
        seam("sender", "recovery", "what was lost, and what goes out again?", recovery::ALL),
        seam("sender", "congestion", "how large is the congestion window?", congestion::ALL),
        seam("sender", "counting", "what is an acknowledgement worth?", counting::ALL),
        seam("receiver", "timing", "when is data acknowledged?", timing::ALL),
        seam("receiver", "shape", "in how many acknowledgements?", shape::ALL),
        seam("receiver", "window", "how much may come?", window::ALL),
        seam("receiver", "cause", "why was it lost?", cause::ALL),
        seam("receiver", "estimate", "how large is the sender's window?", estimate::ALL),
    ]
}
