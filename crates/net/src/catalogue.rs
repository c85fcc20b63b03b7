//! Every mechanism of this crate, by seam: what scenarios, `lasthop list` and the schema read.

use crate::{admission, arq, channel, queue};
use lasthop_base::{Info, Mechanism};

/// A seam: a question, and the mechanisms that answer it.
#[derive(Clone, Debug)]
pub struct Seam {
    /// The scenario key: `queue`, `channel`.
    pub name: &'static str,
    /// The question.
    pub question: &'static str,
    /// Who asks it: always `link`.
    pub side: &'static str,
    /// The answers.
    pub mechanisms: Vec<&'static Info>,
}

/// All seams of a link, in the order in which a packet meets them.
pub fn seams() -> Vec<Seam> {
    fn seam<B>(name: &'static str, question: &'static str, list: &'static [Mechanism<B>]) -> Seam {
        let mechanisms = list.iter().map(|mechanism| &mechanism.info).collect();
        Seam { name, question, side: "link", mechanisms }
    }
    let mut queues =
        seam("queue", "may a packet join the queue, and which one leaves it next?", admission::ALL);
    queues.mechanisms.extend(queue::ALL.iter().map(|mechanism| &mechanism.info));
    vec![
        queues,
        seam("channel", "does a transmission arrive intact?", channel::ALL),
        seam("arq", "what does the link layer do if not?", arq::ALL),
    ]
}
