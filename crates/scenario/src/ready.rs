//! Ready paths: the files in `scenarios/`, in the program itself.

/// Name and text of each.
pub(crate) const ALL: &[(&str, &str)] = &[
    ("hasegawa", include_str!("../../../scenarios/hasegawa.toml")),
    ("umts", include_str!("../../../scenarios/umts.toml")),
    ("lte", include_str!("../../../scenarios/lte.toml")),
    ("nr-5g", include_str!("../../../scenarios/nr-5g.toml")),
    ("wifi", include_str!("../../../scenarios/wifi.toml")),
    ("geo-satellite", include_str!("../../../scenarios/geo-satellite.toml")),
    ("leo-satellite", include_str!("../../../scenarios/leo-satellite.toml")),
    ("dsl", include_str!("../../../scenarios/dsl.toml")),
];

/// The text of the ready path of this name.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of all.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|(name, _)| *name).collect()
}
