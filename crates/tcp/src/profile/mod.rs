//! Profiles: each contains the defaults of an existing TCP implementation for the two ends of a flow.
//!
//! A profile holds scenario keys and values. The scenario reader adds the profile's keys to the flow. If the flow
//! itself contains a key, the value in the flow takes precedence.

mod linux;
mod plain;
mod rfc;

/// Keys and values that together describe an existing TCP implementation.
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
    /// Parameters of mechanisms. Each parameter applies if the profile or the flow selects the mechanism in `with`.
    pub parameters: &'static [Preset],
    /// Keys of the sending end. Each key applies if the profile or the flow selects the mechanism in `with`.
    pub beside: &'static [Preset],
}

/// Default value that applies only if a certain mechanism is selected.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Seam and mechanism, for example `congestion` and `cubic`.
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

/// Profile that applies to a scenario without a `profile` key.
pub const DEFAULT: &Profile = &plain::PROFILE;

/// Finds a profile by name.
pub fn find(name: &str) -> Option<&'static Profile> {
    ALL.iter().find(|profile| profile.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    /// Each mechanism and each parameter in the presets of a profile exists.
    #[test]
    fn profiles_name_what_there_is() {
        let catalogue = Catalogue::default();
        let find = |seam: &str, name: &str| {
            let seams = catalogue.seams();
            let seam = seams.iter().find(|it| it.name == seam).expect("the seam exists");
            seam.find(name).expect("the mechanism exists")
        };
        for profile in ALL {
            for preset in profile.parameters {
                let info = find(preset.with.0, preset.with.1);
                let parameter =
                    info.parameters.iter().find(|it| it.name == preset.key).expect("the parameter exists");
                assert!(parameter.unit.parse(preset.value).is_ok(), "{preset:?}");
            }
            for preset in profile.beside {
                find(preset.with.0, preset.with.1);
            }
        }
    }
}
