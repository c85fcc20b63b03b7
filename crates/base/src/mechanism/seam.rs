//! A question, and the mechanisms that answer it.

use super::{Built, Choice, Info, Mechanism, Values};
use std::sync::Arc;

/// A seam: a question and the mechanisms that answer it, those of this project and those that a caller added.
pub struct Seam<B: ?Sized + 'static> {
    /// Name, question and side.
    question: Question,
    /// How each of the question's mechanisms is built, in the same order.
    builds: Vec<Built<B>>,
}

/// A seam described: what a reader of scenarios, a list or a schema has to know of it.
#[derive(Clone, Debug)]
pub struct Question {
    /// The scenario key: `recovery`, `channel`.
    pub name: &'static str,
    /// The question.
    pub question: &'static str,
    /// Who asks it: `sender`, `receiver` or `link`.
    pub side: &'static str,
    /// What holds if nobody says.
    pub default: &'static Info,
    /// The answers.
    pub mechanisms: Vec<&'static Info>,
}

/// An answer as data: which mechanism, with which values. Its seam makes a [`Choice`] of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Which one.
    pub info: &'static Info,
    /// Its parameters, all of them.
    pub values: Values,
}

impl<B: ?Sized> Seam<B> {
    /// A seam of the `side` that asks, its scenario key, the question, the answer that holds if nobody says, and all
    /// answers.
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

    /// The same with the answers of a further list.
    pub fn with(mut self, list: &'static [Mechanism<B>]) -> Seam<B> {
        for mechanism in list {
            self.add(mechanism);
        }
        self
    }

    /// Adds a mechanism. One of the same name goes.
    pub fn add(&mut self, mechanism: &'static Mechanism<B>) {
        self.insert(&mechanism.info, Built::Constant(mechanism.build));
    }

    /// Adds a mechanism that is built by something made at run time; see [`Choice::own`]. One of the same name goes.
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

    /// Keeps those answers alone of which this is true.
    pub fn retain(&mut self, keeps: impl Fn(&Info) -> bool) {
        let infos = std::mem::take(&mut self.question.mechanisms);
        let both = infos.into_iter().zip(std::mem::take(&mut self.builds));
        (self.question.mechanisms, self.builds) = both.filter(|(info, _)| keeps(info)).unzip();
    }

    /// The question, with a description of every answer.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Every answer with its defaults. A parameter that has none must be set before it is built.
    pub fn choices(&self) -> impl Iterator<Item = Choice<B>> {
        self.question.mechanisms.iter().zip(&self.builds).map(|(info, build)| Choice {
            info,
            values: info.defaults(),
            build: build.clone(),
        })
    }

    /// Puts the choice that an answer stands for in its place; false if it answers another question.
    pub fn answer(&self, answer: &Answer, place: &mut Choice<B>) -> bool {
        match self.choice(answer) {
            Some(choice) => {
                *place = choice;
                true
            }
            None => false,
        }
    }

    /// The choice that an answer stands for; `None` if it answers another question.
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
    /// The mechanism of this name, however it is spelt: `newreno`, `New-Reno` and `new_reno` are one, and so are
    /// `westwood+` and `westwood_plus`.
    pub fn find(&self, name: &str) -> Option<&'static Info> {
        let exact = self.mechanisms.iter().copied().find(|info| info.name == name);
        exact.or_else(|| self.mechanisms.iter().copied().find(|info| spelt(info.name) == spelt(name)))
    }

    /// The names of all.
    pub fn names(&self) -> Vec<&'static str> {
        self.mechanisms.iter().map(|info| info.name).collect()
    }

    /// The mechanism that a bare amount means, if one does.
    pub fn limited(&self) -> Option<&'static Info> {
        self.mechanisms.iter().copied().find(|info| info.limit.is_some())
    }
}

/// A name without what people write differently.
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
        let mut seam = Seam::<Build>::new("sender", "recovery", "what was lost?", &OURS[0], OURS);
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
        let seam = Seam::<Build>::new("sender", "recovery", "what was lost?", &OURS[0], OURS);
        const OTHER: Info = Info { name: "red", ..Info::PLAIN };
        assert!(seam.choice(&Answer { info: &OTHER, values: Values::new() }).is_none());
    }
}
