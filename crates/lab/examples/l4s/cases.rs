//! The rows: a path and what is set in it.

use lasthop_scenario::{Draft, Scenario};

/// A row.
pub struct Case {
    pub label: String,
    path: String,
    settings: Vec<(&'static str, &'static str)>,
    /// What comes before is not looked at, s.
    pub from_s: u64,
}

impl Case {
    pub fn scenario(&self) -> Result<Scenario, String> {
        let told = |why: &dyn std::fmt::Debug| format!("{}: {why:?}", self.label);
        let mut draft = Draft::load(&self.path).map_err(|why| told(&why))?;
        for (key, value) in &self.settings {
            draft.set(key, value).map_err(|why| told(&why))?;
        }
        draft.check().map_err(|why| told(&why))
    }
}

fn case(label: &str, path: &str, settings: &[(&'static str, &'static str)]) -> Case {
    Case { label: label.to_owned(), path: path.to_owned(), settings: settings.to_vec(), from_s: 20 }
}

/// A path of the reader's own.
pub fn own(path: &str) -> Case {
    case(path, path, &[])
}

/// All of docs/l4s.md but for recordings that are not part of this repository.
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
    for path in ["lte", "lte-fading", "umts"] {
        let radio = |label: &str, settings: &[(&'static str, &'static str)]| {
            let start = [("start_spread", "100 ms")];
            case(&format!("radio: {path}, {label}"), path, &[&start, settings].concat())
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
