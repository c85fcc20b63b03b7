//! Counters of the agent. They need no lock and always run.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident: $help:literal,)*) => {
        /// Counts since the agent's start.
        #[derive(Debug, Default)]
        pub struct AgentCounters {
            $(#[doc = $help] pub $name: AtomicU64,)*
        }

        impl AgentCounters {
            /// Returns name, meaning and value of each counter.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
                [$((stringify!($name), $help, self.$name.load(Ordering::Relaxed))),*].into_iter()
            }
        }
    };
}

counters! {
    flows_opened: "Connections whose handshake was seen.",
    packets_seen: "Packets observed without being held.",
    acks_queued: "Pure ACKs with a decision, in the kernel or by NFQUEUE.",
    acks_rewritten: "ACKs with a reduced window; in the kernel including ACKs that carry data.",
    acks_added: "ACKs sent in addition to the kernel's own.",
    acks_left_alone: "Packets passed unchanged: without an observed handshake, or with data.",
    acks_missed: "ACKs with the kernel's own window because the agent did not answer in time.",
    lapses: "Number of times the agent hung until its rules were removed.",
    losses_wireless: "Losses classified as wireless.",
    losses_congestion: "Losses classified as congestion.",
    errors: "Packets that could not be parsed, rewritten or sent; they passed unchanged.",
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
