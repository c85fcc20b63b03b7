//! Counters of the agent. The counters are atomic, need no lock and are always enabled.

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
    packets_seen: "Packets whose headers the agent observed, without delaying the packets.",
    acks_queued: "Pure ACKs on which the kernel program or the agent (NFQUEUE) decided.",
    acks_rewritten: "ACKs whose window was reduced. The kernel program also reduces windows of data packets.",
    acks_added: "ACKs sent in addition to the kernel's own.",
    acks_left_alone: "Packets passed unchanged, because they carried data or the agent had not observed the handshake.",
    acks_missed: "ACKs that left with the kernel's own window because the agent did not decide in time.",
    lapses: "Number of times the agent's rules were removed because the agent did not respond.",
    losses_wireless: "Losses classified as wireless.",
    losses_congestion: "Losses classified as congestion.",
    errors: "Packets that could not be parsed, rewritten or sent; they passed unchanged.",
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
