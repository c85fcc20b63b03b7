//! Fuzzes the trace parser. Any text gives a trace with a length and a rate, or an error with its line.
#![no_main]

use lasthop_net::service::Trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match Trace::parse(text) {
    Ok(trace) => {
        assert!(trace.opportunities() > 0 && trace.length_millis() > 0);
        assert!(trace.mean_rate().bps() > 0);
    }
    Err(error) => {
        assert!(error.line <= text.lines().count());
        assert!(!error.to_string().is_empty());
    }
});
