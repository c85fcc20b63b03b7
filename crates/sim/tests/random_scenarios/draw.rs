//! Draws random scenarios as text. Keys and types come from the JSON Schema, and mechanisms and parameter ranges from
//! the catalogue.

use lasthop_base::random::Stream;
use lasthop_base::{Duration, Info, Parameter, SeamInfo, Unit};
use lasthop_scenario::Catalogue;
use serde_json::Value;
use std::fmt::Write;

/// Keys that are not drawn one by one: keys that name files, and keys that are drawn together with other keys.
#[rustfmt::skip]
const SKIPPED: &[&str] = &[
    "arrivals", "trace", "light", "light_timer", "light_sizes", "cell",
    "from", "to", "down", "up", "kind", "rate", "plan", "one_way_delay", "sender", "receiver", "count",
    "packet", "start", "residual_loss", "residual_burst", "request", "response", "sizes", "think", "every", "exchanges", "on", "off", "period", "write_rate",
];

const APPLICATIONS: &[&str] = &[
    "request = \"300 bytes\"\nresponse = \"50 KB\"\n",
    "request = \"1 bytes\"\nresponse = \"9 KB\"\nsizes = \"web\"\nthink = \"20 ms\"\nperiod = \"exponential\"\n",
    "request = \"2 KB\"\nresponse = \"200 KB\"\nevery = \"500 ms\"\nexchanges = 20\n",
    "on = \"300 ms\"\noff = \"200 ms\"\nwrite_rate = \"1 Mbit/s\"\n",
    "on = \"30 ms\"\noff = \"1 s\"\nperiod = \"pareto\"\n",
];

pub struct Drawing {
    catalogue: Catalogue,
    schema: Value,
}

struct Dice(Stream);

impl Dice {
    fn happens(&mut self, share: f64) -> bool {
        self.0.uniform() < share
    }

    /// Returns a uniformly distributed random number below `n`; 0 if `n` is 0.
    fn below(&mut self, n: usize) -> usize {
        (self.0.uniform() * n as f64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// Draws from a log-uniform distribution between the bounds; sometimes returns a bound itself.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        if self.happens(0.15) {
            return if self.happens(0.7) { low } else { high };
        }
        let from = low.max(high * 1e-9).max(1e-9);
        from * (high.max(from) / from).powf(self.0.uniform())
    }

    fn whole(&mut self, low: u64, high: u64) -> u64 {
        (self.spread(low as f64, high as f64) as u64).clamp(low, high)
    }

    fn time(&mut self, low: Duration, high: Duration) -> String {
        let longest = high.as_secs().min(30.0).max(low.as_secs());
        format!("\"{} s\"", self.spread(low.as_secs(), longest))
    }

    fn rate(&mut self) -> String {
        format!("\"{:.0} bit/s\"", self.spread(1e3, 1e9))
    }
}

impl Drawing {
    pub fn new() -> Drawing {
        let catalogue = Catalogue::default();
        let schema = catalogue.schema();
        Drawing { catalogue, schema }
    }

    /// Returns the scenario of this seed: one to three links in a row, and one to four flows between the nodes.
    pub fn scenario(&self, seed: u64) -> String {
        let dice = &mut Dice(Stream::named(seed, "scenario"));
        let mut text = String::new();
        let _ = writeln!(text, "duration = \"{} s\"", dice.spread(0.01, 60.0));
        if dice.happens(0.3) {
            let _ = writeln!(text, "headers = {}", dice.one_of(&["\"none\"", "\"40 bytes\"", "\"real\""]));
        }
        if dice.happens(0.1) {
            text.push_str("warmup = \"5 ms\"\n");
        }
        let links = 1 + dice.below(3);
        for link in 0..links {
            let _ = writeln!(text, "[link.l{link}]\nfrom = \"n{link}\"\nto = \"n{}\"", link + 1);
            self.direction(dice, &mut text, true);
            for way in ["down", "up"] {
                if dice.happens(0.3) {
                    let _ = writeln!(text, "[link.l{link}.{way}]");
                    let with_rate = dice.happens(0.5);
                    self.direction(dice, &mut text, with_rate);
                }
            }
        }
        let boxed = dice.happens(0.4);
        for node in 1..links {
            if boxed && dice.happens(0.7) {
                let mut line = String::new();
                self.select(dice, &mut line, self.seam("middlebox"));
                let _ = writeln!(text, "[node.n{node}]\n{line}");
            }
        }
        for flow in 0..1 + dice.below(4) {
            self.flow(dice, &mut text, flow, links, boxed);
        }
        text
    }

    fn seam(&self, name: &str) -> &SeamInfo {
        // The schema's definitions are named SIDE.KEY.
        let key = name.rsplit('.').next().unwrap_or_default();
        let is_meant = |seam: &&SeamInfo| seam.name == key && (name == key || name.starts_with(seam.side));
        self.catalogue.seams().into_iter().find(is_meant).expect("a seam")
    }

    fn direction(&self, dice: &mut Dice, text: &mut String, with_rate: bool) {
        if with_rate {
            let plan = "plan = \"384 kbit/s for 300 ms, 0 bit/s for 50 ms, 1..20 Mbit/s for 400 ms\"";
            let rate = dice.rate();
            let _ =
                if dice.happens(0.15) { writeln!(text, "{plan}") } else { writeln!(text, "rate = {rate}") };
        }
        if dice.happens(0.8) {
            let _ = writeln!(text, "one_way_delay = \"{} ms\"", dice.spread(0.0, 1000.0));
        }
        if dice.happens(0.12) {
            let _ = writeln!(text, "residual_loss = {}\nresidual_burst = 3", dice.spread(1e-6, 1.0));
        }
        let properties = &self.schema["properties"]["link"]["additionalProperties"]["properties"];
        self.keys(dice, text, properties, 0.12);
    }

    fn flow(&self, dice: &mut Dice, text: &mut String, flow: usize, links: usize, boxed: bool) {
        let (first, second) = (dice.below(links + 1), dice.below(links + 1));
        let (from, to) = match (first, second) {
            _ if boxed => [(0, links), (links, 0)][dice.below(2)],
            (from, to) if from == to => (0, links),
            ends => ends,
        };
        let kinds =
            self.schema["properties"]["flow"]["additionalProperties"]["anyOf"].as_array().expect("kinds");
        let at = if dice.happens(0.7) { 0 } else { dice.below(kinds.len()) };
        let properties = &kinds[at]["properties"];
        let kind = properties["kind"]["const"].as_str().expect("a word");
        let _ = writeln!(text, "[flow.f{flow}]\nkind = \"{kind}\"\nfrom = \"n{from}\"\nto = \"n{to}\"");
        if dice.happens(0.2) {
            let _ = writeln!(text, "count = {}", 1 + dice.below(8));
        }
        if kind != "tcp" {
            let _ = writeln!(text, "rate = {}\npacket = \"{} bytes\"", dice.rate(), dice.whole(1, 9000));
        }
        if kind == "on_off" {
            text.push_str("on = \"300 ms\"\noff = \"200 ms\"\n");
        }
        if kind == "tcp" && dice.happens(0.3) {
            text.push_str(APPLICATIONS[dice.below(APPLICATIONS.len())]);
        }
        if dice.happens(0.2) {
            text.push_str("start = \"7 ms\"\n");
        }
        self.keys(dice, text, properties, 0.06);
        for end in ["sender", "receiver"] {
            if let Some(keys) = properties.get(end).filter(|_| dice.happens(0.8)) {
                let _ = writeln!(text, "[flow.f{flow}.{end}]");
                self.keys(dice, text, &keys["properties"], 0.12);
            }
        }
    }

    fn keys(&self, dice: &mut Dice, text: &mut String, properties: &Value, share: f64) {
        for (name, key) in properties.as_object().expect("keys") {
            if SKIPPED.contains(&name.as_str()) || !dice.happens(share) {
                continue;
            }
            match key["$ref"].as_str().and_then(|place| place.strip_prefix("#/$defs/")) {
                Some("name") => {}
                Some(seam) => self.select(dice, text, self.seam(seam)),
                None => {
                    if let Some(value) = self.value(dice, key) {
                        let _ = writeln!(text, "{name} = {value}");
                    }
                }
            }
        }
    }

    fn value(&self, dice: &mut Dice, key: &Value) -> Option<String> {
        if let Some(all) = key["anyOf"].as_array() {
            let mut merged = dice.one_of(all).clone();
            for name in ["default", "examples"] {
                if merged.get(name).is_none() && key.get(name).is_some() {
                    merged[name] = key[name].clone();
                }
            }
            return self.value(dice, &merged);
        }
        if let Some(words) = key["enum"].as_array() {
            return Some(dice.one_of(words).to_string());
        }
        if let (Some(low), Some(high)) = (key["minimum"].as_f64(), key["maximum"].as_f64()) {
            let number = dice.spread(low, high.min(10_000.0));
            return Some(if key["type"] == "integer" { format!("{number:.0}") } else { number.to_string() });
        }
        let example = key["default"].as_str().or_else(|| key["examples"][0].as_str())?;
        let unit = example.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
        Some(match unit {
            "s" | "ms" | "us" => dice.time(Duration::ZERO, Duration::from_secs(30)),
            "bytes" | "KB" | "MB" => format!("\"{} bytes\"", dice.whole(1, 10_000_000)),
            "bit/s" | "kbit/s" | "Mbit/s" => dice.rate(),
            _ => format!("\"{example}\""),
        })
    }

    fn select(&self, dice: &mut Dice, text: &mut String, seam: &SeamInfo) {
        let info: &Info = seam.mechanisms[dice.below(seam.mechanisms.len())];
        let mut values = format!("kind = \"{}\"", info.name);
        let missing = (info.one_of)(&info.defaults());
        let wanted = missing.map_or("", |missing| *dice.one_of(missing.parameters));
        for parameter in info.parameters {
            if parameter.default.is_none() || parameter.name == wanted || dice.happens(0.3) {
                let _ = write!(values, ", {} = {}", parameter.name, drawn(dice, parameter));
            }
        }
        let _ = writeln!(text, "{} = {{ {values} }}", seam.name);
    }
}

fn drawn(dice: &mut Dice, parameter: &Parameter) -> String {
    match parameter.unit {
        Unit::Duration(low, high) => dice.time(low, high),
        Unit::Rate => dice.rate(),
        Unit::Bytes(low, high) => format!("\"{} bytes\"", dice.whole(low, high)),
        Unit::Room(low, high) if dice.happens(0.7) => format!("\"{} bytes\"", dice.whole(low, high)),
        Unit::Room(..) => "\"1 bdp\"".to_owned(),
        Unit::Number(low, high) | Unit::Probability(low, high) => dice.spread(low, high).to_string(),
        Unit::Count(low, high) => dice.whole(low, high.min(low.max(100_000))).to_string(),
        Unit::Counts => "\"1, 3, 20\"".to_owned(),
        Unit::Flag => dice.happens(0.5).to_string(),
        Unit::Word(words) => format!("\"{}\"", dice.one_of(words)),
    }
}
