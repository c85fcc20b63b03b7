//! Profiles: what a flow's two ends are unless the flow says otherwise, as whole TCPs that exist.
//!
//! A profile is data: keys of a scenario and their values, read by the language of scenarios as if the flow had written
//! them. A key that the flow does write overrides it.

mod linux;
mod plain;
mod rfc;

/// A whole TCP.
#[derive(Debug)]
pub struct Profile {
    /// The word in scenarios.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from, one line.
    pub source: &'static str,
    /// Keys of the end that sends, with their values.
    pub sender: &'static [(&'static str, &'static str)],
    /// Keys of the end that receives.
    pub receiver: &'static [(&'static str, &'static str)],
    /// What parameters of mechanisms are when one of these is chosen, by the profile or by the flow.
    pub parameters: &'static [Preset],
    /// Keys of the end that sends that go with one of its mechanisms: they hold when it is chosen, by the profile or by the
    /// flow.
    pub beside: &'static [Preset],
}

/// Something that goes with a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The question and its answer: `congestion`, `cubic`.
    pub with: (&'static str, &'static str),
    /// A parameter of it, or a key beside it.
    pub key: &'static str,
    /// Its value, written as in a scenario.
    pub value: &'static str,
}

/// A Linux host.
pub use linux::PROFILE as LINUX;

/// All profiles.
pub const ALL: &[Profile] = &[plain::PROFILE, rfc::PROFILE, linux::PROFILE];

/// Their names.
pub const NAMES: &[&str] = &[plain::PROFILE.name, rfc::PROFILE.name, linux::PROFILE.name];

/// What holds in a file that says nothing.
pub const DEFAULT: &Profile = &plain::PROFILE;

/// The profile of this name.
pub fn find(name: &str) -> Option<&'static Profile> {
    ALL.iter().find(|profile| profile.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalogue;

    /// What a profile says of mechanisms names mechanisms that there are, with parameters that they have.
    #[test]
    fn profiles_name_what_there_is() {
        let catalogue = Catalogue::default();
        let find = |question: &str, name: &str| {
            let questions = catalogue.questions();
            let question = questions.iter().find(|it| it.name == question).expect("a question");
            question.find(name).expect("an answer")
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
