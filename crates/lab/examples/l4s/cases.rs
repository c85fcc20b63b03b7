//! Rows of the tables: scenarios with settings. The program must run in the project's folder, because one scenario file
//! is read from there.

use lasthop_scenario::{Draft, Scenario};

type KeyValue = (&'static str, &'static str);

pub struct Case {
    pub label: String,
    path: String,
    settings: Vec<KeyValue>,
    /// Start of the measured time, s.
    pub from_s: u64,
}

impl Case {
    pub fn scenario(&self) -> Result<Scenario, String> {
        let described = |why: &dyn std::fmt::Debug| format!("{}: {why:?}", self.label);
        let mut draft = Draft::load(&self.path).map_err(|why| described(&why))?;
        for (key, value) in &self.settings {
            draft.set(key, value).map_err(|why| described(&why))?;
        }
        draft.check().map_err(|why| described(&why))
    }
}

fn case(label: &str, path: &str, settings: &[KeyValue]) -> Case {
    Case { label: label.to_owned(), path: path.to_owned(), settings: settings.to_vec(), from_s: 20 }
}

pub fn own(path: &str) -> Case {
    case(path, path, &[])
}

/// Returns the rows of docs/explanation/l4s.md. Rows that need recordings from outside this repository are omitted.
pub fn all() -> Vec<Case> {
    let one_link = "rate=50Mbit/s,queue=dualpi2,congestion=prague,start_spread=100ms";
    let of = |more: &str| format!("{one_link},{more}");
    let mut cases = vec![
        case("queue: Prague alone", &of("rtt=20ms"), &[]),
        case("queue: four Prague", &of("rtt=20ms,count=4"), &[]),
        case("fair: two Prague, 10 ms", &of("rtt=10ms,count=2"), &[]),
        case("fair: two Prague, 20 ms", &of("rtt=20ms,count=2"), &[]),
        case("fair: two Prague, 80 ms", &of("rtt=80ms,count=2"), &[]),
        case("table: Prague / CUBIC, 10 ms", "l4s", &[("link.path.one_way_delay", "5 ms")]),
        case("table: Prague / CUBIC, 20 ms", "l4s", &[]),
        case("table: Prague / CUBIC, 80 ms", "l4s", &[("link.path.one_way_delay", "40 ms")]),
    ];
    for (label, delay) in [("10 ms", "5 ms"), ("20 ms", "10 ms"), ("80 ms", "40 ms")] {
        let plain = ("flow.prague.sender.congestion", "{ kind = \"prague\", rtt_floor = \"0 s\" }");
        let label = format!("table: Prague without a floor of its RTT / CUBIC, {label}");
        cases.push(case(&label, "l4s", &[("link.path.one_way_delay", delay), plain]));
    }
    // RLC retransmissions on a fading link. The rates are the rate of UMTS and ten times that rate (HSPA).
    let rlc = "crosscheck/kernel/rlc.toml";
    let fast: &[_] =
        &[("link.wireless.down.rate", "3.84 Mbit/s"), ("link.wireless.down.queue", "300 packets")];
    let paths: [(&str, &str, &[KeyValue]); 5] = [
        ("lte", "lte", &[]),
        ("lte-fading", "lte-fading", &[]),
        ("umts", "umts", &[]),
        ("RLC at 384 kbit/s", rlc, &[]),
        ("RLC at 3.84 Mbit/s", rlc, fast),
    ];
    for (name, path, set) in paths {
        let radio = |label: &str, settings: &[KeyValue]| {
            let start = [("start_spread", "100 ms")];
            case(&format!("radio: {name}, {label}"), path, &[&start, set, settings].concat())
        };
        let (prague, queue) = (("congestion", "prague"), ("link.wireless.down.queue", "dualpi2"));
        cases.extend([
            radio("CUBIC, its own queue", &[]),
            radio("CUBIC, DualPI2", &[queue]),
            radio("Prague, its own queue", &[prague]),
            radio("Prague, DualPI2", &[prague, queue]),
            radio("Prague, step 10 ms", &[prague, queue, ("link.wireless.down.queue.step", "10 ms")]),
            radio("Prague, step 50 ms", &[prague, queue, ("link.wireless.down.queue.step", "50 ms")]),
        ]);
    }
    cases
}
