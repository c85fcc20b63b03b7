//! Seams. A seam is an extension point for one kind of mechanism.

use super::{Choice, Constructor, Info, Mechanism, Values};
use std::sync::Arc;

/// An extension point for one kind of mechanism, e.g. loss recovery. The seam lists all mechanisms of this kind: the
/// mechanisms of Lasthop, and the mechanisms that callers add.
pub struct Seam<B: ?Sized + 'static> {
    info: SeamInfo,
    /// Constructors of the mechanisms, in the order of `info.mechanisms`.
    builds: Vec<Constructor<B>>,
}

/// Description of a seam, for the scenario parser, `lasthop list` and the JSON Schema.
#[derive(Clone, Debug)]
pub struct SeamInfo {
    /// Scenario key: `recovery`, `channel`.
    pub name: &'static str,
    /// Name in the output of `lasthop list`: `ACK splitting`.
    pub label: &'static str,
    /// Side to which the mechanisms belong: `sender`, `receiver` or `link`.
    pub side: &'static str,
    /// Description of the default mechanism.
    pub default: &'static Info,
    /// Descriptions of the available mechanisms.
    pub mechanisms: Vec<&'static Info>,
}

/// A selected mechanism and the values of its parameters, without constructor. [`Seam::choice`] adds the constructor.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Description of the mechanism.
    pub info: &'static Info,
    /// Values of all parameters of the mechanism.
    pub values: Values,
}

impl<B: ?Sized> Seam<B> {
    /// Returns a seam with the side `side`, the scenario key `name`, the label `label`, the default mechanism `default`
    /// and the mechanisms in `list`.
    pub fn new(
        side: &'static str,
        name: &'static str,
        label: &'static str,
        default: &'static Mechanism<B>,
        list: &'static [Mechanism<B>],
    ) -> Seam<B> {
        let info = SeamInfo { name, label, side, default: &default.info, mechanisms: Vec::new() };
        Seam { info, builds: Vec::new() }.with(list)
    }

    /// Adds the mechanisms in `list`. Returns the seam so that calls can be chained.
    pub fn with(mut self, list: &'static [Mechanism<B>]) -> Seam<B> {
        for mechanism in list {
            self.add(mechanism);
        }
        self
    }

    /// Adds a mechanism. Replaces a mechanism of the same name.
    pub fn add(&mut self, mechanism: &'static Mechanism<B>) {
        self.insert(&mechanism.info, Constructor::Constant(mechanism.build));
    }

    /// Adds a mechanism whose constructor was created at run time (see [`Choice::with_constructor`]). Replaces a
    /// mechanism of the same name.
    pub fn add_with_constructor(&mut self, info: &'static Info, build: Arc<B>) {
        self.insert(info, Constructor::Shared(build));
    }

    fn insert(&mut self, info: &'static Info, build: Constructor<B>) {
        match self.info.mechanisms.iter().position(|known| known.name == info.name) {
            Some(at) => (self.info.mechanisms[at], self.builds[at]) = (info, build),
            None => {
                self.info.mechanisms.push(info);
                self.builds.push(build);
            }
        }
    }

    /// Removes all mechanisms for which `keeps` returns false.
    pub fn retain(&mut self, keeps: impl Fn(&Info) -> bool) {
        let infos = std::mem::take(&mut self.info.mechanisms);
        let both = infos.into_iter().zip(std::mem::take(&mut self.builds));
        (self.info.mechanisms, self.builds) = both.filter(|(info, _)| keeps(info)).unzip();
    }

    /// Returns the description of the seam and of its mechanisms.
    pub fn info(&self) -> &SeamInfo {
        &self.info
    }

    /// Returns every mechanism with default values. Parameters without a default must be set before the constructor is
    /// called.
    pub fn choices(&self) -> impl Iterator<Item = Choice<B>> {
        self.info.mechanisms.iter().zip(&self.builds).map(|(info, build)| Choice {
            info,
            values: info.defaults(),
            build: build.clone(),
        })
    }

    /// Stores the selected mechanism in `place`. Returns false if the seam does not list this mechanism.
    pub fn select(&self, selection: &Selection, place: &mut Choice<B>) -> bool {
        match self.choice(selection) {
            Some(choice) => {
                *place = choice;
                true
            }
            None => false,
        }
    }

    /// Returns the selected mechanism with its constructor. `None` if the seam does not list this mechanism.
    pub fn choice(&self, selection: &Selection) -> Option<Choice<B>> {
        let at = self.info.mechanisms.iter().position(|known| known.name == selection.info.name)?;
        Some(Choice {
            info: selection.info,
            values: selection.values.clone(),
            build: self.builds[at].clone(),
        })
    }
}

impl<B: ?Sized> Clone for Seam<B> {
    fn clone(&self) -> Self {
        Seam { info: self.info.clone(), builds: self.builds.clone() }
    }
}

impl<B: ?Sized> std::fmt::Debug for Seam<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.info.fmt(f)
    }
}

impl SeamInfo {
    /// Returns the mechanism with the name `name`. Case, `_`, `-` and spaces are ignored (`New-Reno` finds `new_reno`),
    /// and `+` means `plus` (`westwood+` finds `westwood_plus`).
    pub fn find(&self, name: &str) -> Option<&'static Info> {
        let exact = self.mechanisms.iter().copied().find(|info| info.name == name);
        exact.or_else(|| {
            self.mechanisms.iter().copied().find(|info| normalised(info.name) == normalised(name))
        })
    }

    /// Returns the mistakes in the descriptions of the mechanisms: names that are missing or not unique; missing
    /// summaries, sources and explanations; conditions with unknown parameters. Without mistakes, the result is empty.
    ///
    /// # Panics
    /// If the default of a parameter is invalid for its unit.
    pub fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut note = |is_wrong: bool, name: &str, mistake: &str| {
            if is_wrong {
                mistakes.push(format!("{}.{name}: {mistake}", self.name));
            }
        };
        let is_repeated =
            |names: &[&str], name: &str| names.iter().filter(|known| **known == name).count() > 1;
        let names = self.names();
        note(!names.contains(&self.default.name), self.default.name, "the default is not in the list");
        for info in &self.mechanisms {
            let name = info.name;
            note(name.is_empty(), name, "no name");
            note(is_repeated(&names, name), name, "the name is not unique");
            note(
                info.summary.is_empty() || info.summary.ends_with('.'),
                name,
                "no summary, or a summary that ends with a full stop",
            );
            note(info.source.is_empty(), name, "no source");
            let parameters: Vec<&str> = info.parameters.iter().map(|parameter| parameter.name).collect();
            for parameter in info.parameters {
                let name = format!("{name}.{}", parameter.name);
                note(parameter.name.is_empty(), &name, "no name");
                note(is_repeated(&parameters, parameter.name), &name, "the name is not unique");
                note(parameter.doc.is_empty(), &name, "no explanation");
            }
            let unknown = |parameter: &&str| !parameters.contains(parameter);
            for rule in info.only_if {
                let named = rule.parameters.iter().chain([&rule.other]);
                note(named.copied().any(|it| unknown(&it)), name, "a condition names an unknown parameter");
            }
            info.defaults();
        }
        mistakes
    }

    /// Returns the names of all mechanisms.
    pub fn names(&self) -> Vec<&'static str> {
        self.mechanisms.iter().map(|info| info.name).collect()
    }

    /// Returns the mechanism that is selected if a scenario specifies an amount instead of the name of a mechanism (see
    /// [`Info::limit`]). `None` if the seam lists no such mechanism.
    pub fn limited(&self) -> Option<&'static Info> {
        self.mechanisms.iter().copied().find(|info| info.limit.is_some())
    }
}

/// Returns the name in a normal form for comparisons: lower case, `plus` for `+`, and no `_`, `-` or spaces.
fn normalised(name: &str) -> String {
    let letters = name.trim().replace('+', "plus");
    letters.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Build = dyn Fn(&Values) -> &'static str + Send + Sync;

    const fn mechanism(name: &'static str, build: &'static Build) -> Mechanism<Build> {
        Mechanism { info: Info { name, ..Info::PLAIN }, build }
    }

    const OURS: &[Mechanism<Build>] = &[mechanism("reno", &|_| "ours"), mechanism("new_reno", &|_| "newer")];
    const THEIRS: Mechanism<Build> = mechanism("reno", &|_| "theirs");

    fn built(seam: &Seam<Build>, name: &str) -> Option<&'static str> {
        let selection = Selection { info: seam.info().find(name)?, values: Values::new() };
        seam.choice(&selection).map(|choice| (choice.build)(&choice.values))
    }

    #[test]
    fn a_mechanism_is_found_however_it_is_spelt_and_an_own_one_takes_the_place_of_its_name() {
        let mut seam = Seam::<Build>::new("sender", "recovery", "loss recovery", &OURS[0], OURS);
        assert_eq!([built(&seam, "New-Reno"), built(&seam, "reno")], [Some("newer"), Some("ours")]);
        assert_eq!(built(&seam, "tahoe"), None);
        seam.add(&THEIRS);
        const MADE: Info = Info { name: "made", ..Info::PLAIN };
        let text: &'static str = "at run time";
        seam.add_with_constructor(&MADE, Arc::new(move |_| text));
        assert_eq!(seam.info().names(), ["reno", "new_reno", "made"]);
        assert_eq!([built(&seam, "reno"), built(&seam, "made")], [Some("theirs"), Some("at run time")]);
        seam.retain(|info| info.name != "new_reno");
        assert_eq!(seam.info().names(), ["reno", "made"]);
        assert_eq!([built(&seam, "reno"), built(&seam, "made")], [Some("theirs"), Some("at run time")]);
    }

    #[test]
    fn a_mechanism_of_another_seam_is_none() {
        let seam = Seam::<Build>::new("sender", "recovery", "loss recovery", &OURS[0], OURS);
        const OTHER: Info = Info { name: "red", ..Info::PLAIN };
        assert!(seam.choice(&Selection { info: &OTHER, values: Values::new() }).is_none());
    }
}
