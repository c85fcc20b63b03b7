//! What the agent has counted: always, and nowhere in anybody's way.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[doc = $doc:literal])* $name:ident: $help:literal,)*) => {
        /// Counts since the start.
        #[derive(Debug, Default)]
        pub struct Counters {
            $(#[doc = $help] pub $name: AtomicU64,)*
        }

        impl Counters {
            /// Name, meaning and count of each.
            pub fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
                [$((stringify!($name), $help, self.$name.load(Ordering::Relaxed))),*].into_iter()
            }
        }
    };
}

counters! {
    flows_opened: "Connections whose handshake was seen.",
    packets_seen: "Packets looked at on their way, none of them held.",
    acks_queued: "Pure ACKs that were decided on, in the kernel or by NFQUEUE.",
    acks_rewritten: "ACKs whose window was made smaller, in the kernel also those that carry data.",
    acks_added: "ACKs sent beside the kernel's own.",
    acks_left_alone: "Packets let through as they were, because the handshake of their connection was not seen or they carry data.",
    acks_missed: "ACKs that told the kernel's own window because the agent did not answer in time.",
    lapses: "Times that the agent did not answer for so long that its rules were taken away meanwhile.",
    losses_wireless: "Losses that the judge took for the radio's.",
    losses_congestion: "Losses that the judge took for a queue's.",
    errors: "Packets that could not be read, rewritten or sent; they were let through as they were.",
}

/// One more.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
