//! Tests two honest hosts on a hostile path. The invariants listed in `play` must hold for arbitrary scripts. The fuzz
//! target `connection` also plays such scripts, for a longer time.

mod middle;
mod play;
mod script;

use arbitrary::{Arbitrary, Unstructured};
use proptest::prelude::*;
use script::HostileScript;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static MEMORY: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn held() -> usize {
    let stats = MEMORY.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]
    #[test]
    fn any_script_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        if let Ok(script) = HostileScript::arbitrary(&mut Unstructured::new(&bytes)) {
            play::play(&script, &held);
        }
    }
}
