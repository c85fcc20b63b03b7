//! Profiles: defaults of a flow's two ends, each a whole existing TCP.
//!
//! A profile holds scenario keys and values. The scenario reader treats them as keys of the flow; keys
//! written in the flow override them.

mod linux;
mod plain;
mod rfc;

/// Defaults of a whole TCP.
#[derive(Debug)]
pub struct Profile {
    /// Name in scenarios.
    pub name: &'static str,
    /// Summary, one line.
    pub summary: &'static str,
    /// Source, one line.
    pub source: &'static str,
    /// Keys of the sending end, with values.
    pub sender: &'static [(&'static str, &'static str)],
    /// Keys of the receiving end, with values.
    pub receiver: &'static [(&'static str, &'static str)],
    /// Parameters of a mechanism, applied if the profile or the flow selects that mechanism.
    pub parameters: &'static [Preset],
    /// Keys of the sending end, applied if the profile or the flow selects a mechanism.
    pub beside: &'static [Preset],
}

/// Default that depends on a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Seam and mechanism: `congestion`, `cubic`.
    pub with: (&'static str, &'static str),
    /// Parameter of the mechanism, or key of the sending end.
    pub key: &'static str,
    /// Value, as written in a scenario.
    pub value: &'static str,
}

pub use linux::PROFILE as LINUX;

/// All profiles.
pub const ALL: &[Profile] = &[plain::PROFILE, rfc::PROFILE, linux::PROFILE];

/// Names of all profiles.
pub const NAMES: &[&str] = &[plain::PROFILE.name, rfc::PROFILE.name, linux::PROFILE.name];

/// Profile of a scenario without a `profile` key.
pub const DEFAULT: &Profile = &plain::PROFILE;

/// Finds a profile by name.
pub fn find(name: &str) -> Option<&'static Profile> {
    ALL.iter().find(|profile| profile.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    /// Mechanisms and parameters named by a profile exist.
    #[test]
    fn profiles_name_what_there_is() {
        let catalogue = Catalogue::default();
        let find = |seam: &str, name: &str| {
            let seams = catalogue.seams();
            let seam = seams.iter().find(|it| it.name == seam).expect("a seam");
            seam.find(name).expect("a mechanism")
        };
        for profile in ALL {
            for preset in profile.parameters {
                let info = find(preset.with.0, preset.with.1);
                let parameter = info.parameters.iter().find(|it| it.name == preset.key).expect("a parameter");
                assert!(parameter.unit.parse(preset.value).is_ok(), "{preset:?}");
            }
            for preset in profile.beside {
                find(preset.with.0, preset.with.1);
            }
        }
    }
}
