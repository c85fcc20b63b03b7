//! Fuzzes two honest hosts with a hostile path between them, like the property test in `crates/host/tests/hostile`.
#![no_main]

#[path = "../../crates/host/tests/hostile/middle.rs"]
mod middle;
#[path = "../../crates/host/tests/hostile/play.rs"]
mod play;
#[path = "../../crates/host/tests/hostile/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: script::HostileScript| play::play(&script, &|| 0));
