//! Data of the crate `lasthop-scenario`: ready paths and traces. Their files are in this folder.

/// Name and text of each ready path.
pub const PATHS: &[(&str, &str)] = &[
    ("hasegawa", include_str!("hasegawa.toml")),
    ("umts", include_str!("umts.toml")),
    ("lte", include_str!("lte.toml")),
    ("nr-5g", include_str!("nr-5g.toml")),
    ("wifi", include_str!("wifi.toml")),
    ("wavelan", include_str!("wavelan.toml")),
    ("geo-satellite", include_str!("geo-satellite.toml")),
    ("leo-satellite", include_str!("leo-satellite.toml")),
    ("dsl", include_str!("dsl.toml")),
    ("hspa", include_str!("hspa.toml")),
    ("lte-edge", include_str!("lte-edge.toml")),
    ("lte-am", include_str!("lte-am.toml")),
    ("nr-5g-am", include_str!("nr-5g-am.toml")),
    ("lte-handover", include_str!("lte-handover.toml")),
    ("nr-mmwave", include_str!("nr-mmwave.toml")),
    ("wifi5-good", include_str!("wifi5-good.toml")),
    ("wifi6-good", include_str!("wifi6-good.toml")),
    ("wifi-edge", include_str!("wifi-edge.toml")),
    ("wifi-crowded", include_str!("wifi-crowded.toml")),
    ("starlink", include_str!("starlink.toml")),
    ("geo-modern", include_str!("geo-modern.toml")),
    ("geo-split", include_str!("geo-split.toml")),
    ("adsl", include_str!("adsl.toml")),
    ("cable", include_str!("cable.toml")),
    ("cable-pie", include_str!("cable-pie.toml")),
    ("chrome-3g", include_str!("chrome-3g.toml")),
    ("chrome-slow-4g", include_str!("chrome-slow-4g.toml")),
    ("chrome-fast-4g", include_str!("chrome-fast-4g.toml")),
    ("umts-fading", include_str!("umts-fading.toml")),
    ("lte-fading", include_str!("lte-fading.toml")),
    ("l4s", include_str!("l4s.toml")),
    ("drop-patterns", include_str!("drop-patterns.toml")),
];

/// Name and text of each ready trace.
pub const TRACES: &[(&str, &str)] = &[
    ("umts-fading.down", include_str!("traces/umts-fading.down")),
    ("umts-fading.up", include_str!("traces/umts-fading.up")),
    ("lte-fading.down", include_str!("traces/lte-fading.down")),
    ("lte-fading.up", include_str!("traces/lte-fading.up")),
];
