//! Ready paths and ready traces: the files in `scenarios/`, which are compiled into the program.

pub(crate) const ALL: &[(&str, &str)] = &[
    ("hasegawa", include_str!("../../../scenarios/hasegawa.toml")),
    ("umts", include_str!("../../../scenarios/umts.toml")),
    ("lte", include_str!("../../../scenarios/lte.toml")),
    ("nr-5g", include_str!("../../../scenarios/nr-5g.toml")),
    ("wifi", include_str!("../../../scenarios/wifi.toml")),
    ("wavelan", include_str!("../../../scenarios/wavelan.toml")),
    ("geo-satellite", include_str!("../../../scenarios/geo-satellite.toml")),
    ("leo-satellite", include_str!("../../../scenarios/leo-satellite.toml")),
    ("dsl", include_str!("../../../scenarios/dsl.toml")),
    ("hspa", include_str!("../../../scenarios/hspa.toml")),
    ("lte-edge", include_str!("../../../scenarios/lte-edge.toml")),
    ("lte-am", include_str!("../../../scenarios/lte-am.toml")),
    ("nr-5g-am", include_str!("../../../scenarios/nr-5g-am.toml")),
    ("lte-handover", include_str!("../../../scenarios/lte-handover.toml")),
    ("nr-mmwave", include_str!("../../../scenarios/nr-mmwave.toml")),
    ("wifi5-good", include_str!("../../../scenarios/wifi5-good.toml")),
    ("wifi6-good", include_str!("../../../scenarios/wifi6-good.toml")),
    ("wifi-edge", include_str!("../../../scenarios/wifi-edge.toml")),
    ("wifi-crowded", include_str!("../../../scenarios/wifi-crowded.toml")),
    ("starlink", include_str!("../../../scenarios/starlink.toml")),
    ("geo-modern", include_str!("../../../scenarios/geo-modern.toml")),
    ("geo-split", include_str!("../../../scenarios/geo-split.toml")),
    ("adsl", include_str!("../../../scenarios/adsl.toml")),
    ("cable", include_str!("../../../scenarios/cable.toml")),
    ("cable-pie", include_str!("../../../scenarios/cable-pie.toml")),
    ("chrome-3g", include_str!("../../../scenarios/chrome-3g.toml")),
    ("chrome-slow-4g", include_str!("../../../scenarios/chrome-slow-4g.toml")),
    ("chrome-fast-4g", include_str!("../../../scenarios/chrome-fast-4g.toml")),
    ("umts-fading", include_str!("../../../scenarios/umts-fading.toml")),
    ("lte-fading", include_str!("../../../scenarios/lte-fading.toml")),
    ("l4s", include_str!("../../../scenarios/l4s.toml")),
    ("drop-patterns", include_str!("../../../scenarios/drop-patterns.toml")),
];

/// Other names of ready paths.
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

/// Prefix that marks the name of a ready trace: `ready:umts-fading.down`.
pub(crate) const TRACE_PREFIX: &str = "ready:";

/// Name (without the prefix) and text of each ready trace.
const TRACES: &[(&str, &str)] = &[
    ("umts-fading.down", include_str!("../../../scenarios/traces/umts-fading.down")),
    ("umts-fading.up", include_str!("../../../scenarios/traces/umts-fading.up")),
    ("lte-fading.down", include_str!("../../../scenarios/traces/lte-fading.down")),
    ("lte-fading.up", include_str!("../../../scenarios/traces/lte-fading.up")),
];

pub(crate) fn trace(name: &str) -> Option<&'static str> {
    TRACES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(crate) fn trace_names() -> Vec<String> {
    TRACES.iter().map(|(name, _)| format!("{TRACE_PREFIX}{name}")).collect()
}

/// Name and text of the ready path with this name or alias. Case does not matter.
pub(crate) fn find(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.trim().to_lowercase();
    let meant = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, meant)| meant);
    ALL.iter().copied().find(|(known, _)| *known == meant)
}

/// The names of all ready paths.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|(name, _)| *name).collect()
}
