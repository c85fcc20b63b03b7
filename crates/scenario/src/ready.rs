//! Ready paths (built-in scenarios) and ready traces (built-in traces): the files in `scenarios/`, which the crate
//! `lasthop-scenarios` compiles into the program.

pub(crate) use lasthop_scenarios::PATHS as ALL;
use lasthop_scenarios::TRACES;

/// Other names of the built-in scenarios (ready paths).
pub(crate) const ALIASES: &[(&str, &str)] = &[
    ("3g", "umts"),
    ("4g", "lte"),
    ("5g", "nr-5g"),
    ("nr", "nr-5g"),
    ("wi-fi", "wifi"),
    ("wlan", "wifi"),
    ("geo", "geo-satellite"),
    ("leo", "leo-satellite"),
    ("vdsl", "dsl"),
    ("docsis", "cable"),
    ("mmwave", "nr-mmwave"),
    ("wifi5", "wifi5-good"),
    ("wifi6", "wifi6-good"),
    ("slow-3g", "chrome-3g"),
    ("fast-3g", "chrome-slow-4g"),
    ("slow-4g", "chrome-slow-4g"),
    ("fast-4g", "chrome-fast-4g"),
];

/// Prefix that marks the name of a built-in trace: `ready:umts-fading.down`.
pub(crate) const TRACE_PREFIX: &str = "ready:";

pub(crate) fn trace(name: &str) -> Option<&'static str> {
    TRACES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(crate) fn trace_names() -> Vec<String> {
    TRACES.iter().map(|(name, _)| format!("{TRACE_PREFIX}{name}")).collect()
}

/// Returns the name and the text of the built-in scenario with this name or alias. Case does not matter.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.trim().to_lowercase();
    let meant = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, meant)| meant);
    ALL.iter().copied().find(|(known, _)| *known == meant)
}

/// Returns the names of all built-in scenarios (ready paths).
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|(name, _)| *name).collect()
}
