//! Two honest hosts and a hostile path, as in the property test of the same scripts (`crates/host/tests/hostile`):
//! what must hold is said there.
#![no_main]

#[path = "../../crates/host/tests/hostile/middle.rs"]
mod middle;
#[path = "../../crates/host/tests/hostile/play.rs"]
mod play;
#[path = "../../crates/host/tests/hostile/script.rs"]
mod script;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: script::Script| play::play(&script, &|| 0));
