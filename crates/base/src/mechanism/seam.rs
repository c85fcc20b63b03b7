//! Extension points and their mechanisms.

use super::{Built, Choice, Info, Mechanism, Values};
use std::sync::Arc;

/// An extension point with its mechanisms: those of this project and those added by callers.
pub struct Seam<B: ?Sized + 'static> {
    question: Question,
    /// Constructors, in the order of the mechanisms.
    builds: Vec<Built<B>>,
}

/// Description of a seam, for scenario readers, lists and schemas.
#[derive(Clone, Debug)]
pub struct Question {
    /// Scenario key: `recovery`, `channel`.
    pub name: &'static str,
    /// Label.
    pub question: &'static str,
    /// Owner: `sender`, `receiver` or `link`.
    pub side: &'static str,
    /// Default mechanism.
    pub default: &'static Info,
    /// Available mechanisms.
    pub mechanisms: Vec<&'static Info>,
}

/// A selected mechanism as data, which [`Seam::choice`] converts into a [`Choice`].
#[derive(Clone, Debug)]
pub struct Answer {
    /// The mechanism.
    pub info: &'static Info,
    /// All its parameters.
    pub values: Values,
}

impl<B: ?Sized> Seam<B> {
    /// Returns a seam: owner, scenario key, label, default and mechanisms.
    pub fn new(
        side: &'static str,
        name: &'static str,
        question: &'static str,
        default: &'static Mechanism<B>,
        list: &'static [Mechanism<B>],
    ) -> Seam<B> {
        let question = Question { name, question, side, default: &default.info, mechanisms: Vec::new() };
        Seam { question, builds: Vec::new() }.with(list)
    }

    /// Adds the mechanisms of a further list.
    pub fn with(mut self, list: &'static [Mechanism<B>]) -> Seam<B> {
        for mechanism in list {
            self.add(mechanism);
        }
        self
    }

    /// Adds a mechanism; replaces one of the same name.
    pub fn add(&mut self, mechanism: &'static Mechanism<B>) {
        self.insert(&mechanism.info, Built::Constant(mechanism.build));
    }

    /// Adds a mechanism with a constructor created at run time (see [`Choice::own`]); replaces one of the same name.
    pub fn add_own(&mut self, info: &'static Info, build: Arc<B>) {
        self.insert(info, Built::Shared(build));
    }

    fn insert(&mut self, info: &'static Info, build: Built<B>) {
        match self.question.mechanisms.iter().position(|known| known.name == info.name) {
            Some(at) => (self.question.mechanisms[at], self.builds[at]) = (info, build),
            None => {
                self.question.mechanisms.push(info);
                self.builds.push(build);
            }
        }
    }

    /// Keeps only the mechanisms that satisfy `keeps`.
    pub fn retain(&mut self, keeps: impl Fn(&Info) -> bool) {
        let infos = std::mem::take(&mut self.question.mechanisms);
        let both = infos.into_iter().zip(std::mem::take(&mut self.builds));
        (self.question.mechanisms, self.builds) = both.filter(|(info, _)| keeps(info)).unzip();
    }

    /// Description of the seam and its mechanisms.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Every mechanism with default values. Parameters without a default must be set before building.
    pub fn choices(&self) -> impl Iterator<Item = Choice<B>> {
        self.question.mechanisms.iter().zip(&self.builds).map(|(info, build)| Choice {
            info,
            values: info.defaults(),
            build: build.clone(),
        })
    }

    /// Stores the answer's choice in `place`; returns false if its mechanism belongs to another seam.
    pub fn answer(&self, answer: &Answer, place: &mut Choice<B>) -> bool {
        match self.choice(answer) {
            Some(choice) => {
                *place = choice;
                true
            }
            None => false,
        }
    }

    /// The answer's choice; `None` if its mechanism belongs to another seam.
    pub fn choice(&self, answer: &Answer) -> Option<Choice<B>> {
        let at = self.question.mechanisms.iter().position(|known| known.name == answer.info.name)?;
        Some(Choice { info: answer.info, values: answer.values.clone(), build: self.builds[at].clone() })
    }
}

impl<B: ?Sized> Clone for Seam<B> {
    fn clone(&self) -> Self {
        Seam { question: self.question.clone(), builds: self.builds.clone() }
    }
}

impl<B: ?Sized> std::fmt::Debug for Seam<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.question.fmt(f)
    }
}

impl Question {
    /// Finds a mechanism by name. Case, `_` and `-` do not matter (`New-Reno`); `westwood+` finds `westwood_plus`.
    pub fn find(&self, name: &str) -> Option<&'static Info> {
        let exact = self.mechanisms.iter().copied().find(|info| info.name == name);
        exact.or_else(|| self.mechanisms.iter().copied().find(|info| spelt(info.name) == spelt(name)))
    }

    /// Names of all mechanisms.
    pub fn names(&self) -> Vec<&'static str> {
        self.mechanisms.iter().map(|info| info.name).collect()
    }

    /// The mechanism selected by a bare amount, if any.
    pub fn limited(&self) -> Option<&'static Info> {
        self.mechanisms.iter().copied().find(|info| info.limit.is_some())
    }
}

/// Normalises a name.
fn spelt(name: &str) -> String {
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
        let answer = Answer { info: seam.question().find(name)?, values: Values::new() };
        seam.choice(&answer).map(|choice| (choice.build)(&choice.values))
    }

    #[test]
    fn an_answer_is_found_however_it_is_spelt_and_an_own_one_takes_the_place_of_its_name() {
        let mut seam = Seam::<Build>::new("sender", "recovery", "loss recovery", &OURS[0], OURS);
        assert_eq!([built(&seam, "New-Reno"), built(&seam, "reno")], [Some("newer"), Some("ours")]);
        assert_eq!(built(&seam, "tahoe"), None);
        seam.add(&THEIRS);
        const MADE: Info = Info { name: "made", ..Info::PLAIN };
        let text: &'static str = "at run time";
        seam.add_own(&MADE, Arc::new(move |_| text));
        assert_eq!(seam.question().names(), ["reno", "new_reno", "made"]);
        assert_eq!([built(&seam, "reno"), built(&seam, "made")], [Some("theirs"), Some("at run time")]);
        seam.retain(|info| info.name != "new_reno");
        assert_eq!(seam.question().names(), ["reno", "made"]);
        assert_eq!([built(&seam, "reno"), built(&seam, "made")], [Some("theirs"), Some("at run time")]);
    }

    #[test]
    fn an_answer_to_another_question_is_none() {
        let seam = Seam::<Build>::new("sender", "recovery", "loss recovery", &OURS[0], OURS);
        const OTHER: Info = Info { name: "red", ..Info::PLAIN };
        assert!(seam.choice(&Answer { info: &OTHER, values: Values::new() }).is_none());
    }
}
