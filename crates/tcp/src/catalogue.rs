//! Every mechanism of an endpoint, by seam: what scenarios, `lasthop list` and the schema read. A caller may add to it.

use crate::Config;
use crate::receiver::{cause, echo, estimate, shape, timing, window};
use crate::sender::{congestion, counting, judge, recovery, reduction, slow_start};
use lasthop_base::{Answer, Question, Seam};

/// The seams of an endpoint, in the order in which a reader would ask. [`Catalogue::default`] has this crate's mechanisms.
///
/// Who brings one adds it to its seam; it is then found by name like the others:
///
/// ```
/// use lasthop_base::{Info, Mechanism};
/// use lasthop_tcp::Catalogue;
/// use lasthop_tcp::receiver::shape::{AckShape, Build, Due, Shape};
/// use lasthop_tcp::receiver::estimate::PathEstimate;
///
/// /// Three ACKs for every one.
/// struct Thrice;
///
/// impl AckShape for Thrice {
///     fn shape(&mut self, _: &Due, _: &PathEstimate) -> Shape {
///         Shape::Copies(3)
///     }
/// }
///
/// const THRICE: Mechanism<Build> = Mechanism {
///     info: Info { name: "thrice", summary: "three ACKs for every one", source: "an example", ..Info::PLAIN },
///     build: &|_| Box::new(Thrice),
/// };
///
/// let mut catalogue = Catalogue::default();
/// catalogue.shape.add(&THRICE);
/// assert!(catalogue.shape.question().find("thrice").is_some());
/// ```
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// See [`recovery`].
    pub recovery: Seam<recovery::Build>,
    /// See [`reduction`].
    pub reduction: Seam<reduction::Build>,
    /// See [`slow_start`].
    pub slow_start: Seam<slow_start::Build>,
    /// See [`congestion`].
    pub congestion: Seam<congestion::Build>,
    /// See [`counting`].
    pub counting: Seam<counting::Build>,
    /// See [`judge`].
    pub judge: Seam<judge::Build>,
    /// See [`timing`].
    pub timing: Seam<timing::Build>,
    /// See [`shape`].
    pub shape: Seam<shape::Build>,
    /// See [`echo`].
    pub echo: Seam<echo::Build>,
    /// See [`window`].
    pub window: Seam<window::Build>,
    /// See [`cause`].
    pub cause: Seam<cause::Build>,
    /// See [`estimate`].
    pub estimate: Seam<estimate::Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        Catalogue {
            recovery: Seam::new(
                "sender",
                "recovery",
                "what was lost, and what goes out again?",
                &recovery::DEFAULT,
                recovery::ALL,
            ),
            reduction: Seam::new(
                "sender",
                "reduction",
                "how does the window come down?",
                &reduction::DEFAULT,
                reduction::ALL,
            ),
            slow_start: Seam::new(
                "sender",
                "slow_start",
                "what ends slow start, beside a loss?",
                &slow_start::DEFAULT,
                slow_start::ALL,
            ),
            congestion: Seam::new(
                "sender",
                "congestion",
                "how large is the congestion window?",
                &congestion::DEFAULT,
                congestion::ALL,
            ),
            counting: Seam::new(
                "sender",
                "counting",
                "what is an acknowledgement worth?",
                &counting::DEFAULT,
                counting::ALL,
            ),
            judge: Seam::new("sender", "judge", "was it congestion, after all?", &judge::DEFAULT, judge::ALL),
            timing: Seam::new(
                "receiver",
                "timing",
                "when is data acknowledged?",
                &timing::DEFAULT,
                timing::ALL,
            ),
            shape: Seam::new(
                "receiver",
                "shape",
                "in how many acknowledgements?",
                &shape::DEFAULT,
                shape::ALL,
            ),
            echo: Seam::new(
                "receiver",
                "echo",
                "how is a congestion mark echoed?",
                &echo::DEFAULT,
                echo::ALL,
            ),
            window: Seam::new("receiver", "window", "how much may come?", &window::DEFAULT, window::ALL),
            cause: Seam::new("receiver", "cause", "why was it lost?", &cause::DEFAULT, cause::ALL),
            estimate: Seam::new(
                "receiver",
                "estimate",
                "how large is the sender's window?",
                &estimate::DEFAULT,
                estimate::ALL,
            ),
        }
    }
}

impl Catalogue {
    /// Every question, with a description of its answers.
    pub fn questions(&self) -> Vec<&Question> {
        vec![
            self.recovery.question(),
            self.reduction.question(),
            self.slow_start.question(),
            self.congestion.question(),
            self.counting.question(),
            self.judge.question(),
            self.timing.question(),
            self.shape.question(),
            self.echo.question(),
            self.window.question(),
            self.cause.question(),
            self.estimate.question(),
        ]
    }

    /// The same endpoint of any mechanisms with their defaults, for tests that run over all there are: the numbers choose
    /// an answer to each question in turn, modulo how many there are; where they end, the configuration's own stay.
    pub fn pick(&self, mut config: Config, numbers: &[u8]) -> Config {
        for (question, number) in self.questions().into_iter().zip(numbers) {
            let info = question.mechanisms[usize::from(*number) % question.mechanisms.len()];
            self.answer(&mut config, question.name, &Answer { info, values: info.defaults() });
        }
        config
    }

    /// Puts the answer to the question of this name into a configuration; false if there is no such question or answer.
    pub fn answer(&self, config: &mut Config, question: &str, answer: &Answer) -> bool {
        match question {
            "recovery" => self.recovery.answer(answer, &mut config.recovery),
            "reduction" => self.reduction.answer(answer, &mut config.reduction),
            "slow_start" => self.slow_start.answer(answer, &mut config.slow_start),
            "congestion" => self.congestion.answer(answer, &mut config.congestion),
            "counting" => self.counting.answer(answer, &mut config.counting),
            "judge" => self.judge.answer(answer, &mut config.judge),
            "timing" => self.timing.answer(answer, &mut config.timing),
            "shape" => self.shape.answer(answer, &mut config.shape),
            "echo" => self.echo.answer(answer, &mut config.echo),
            "window" => self.window.answer(answer, &mut config.window),
            "cause" => self.cause.answer(answer, &mut config.cause),
            "estimate" => self.estimate.answer(answer, &mut config.estimate),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_a_place_in_a_configuration() {
        let catalogue = Catalogue::default();
        for question in catalogue.questions() {
            assert!(question.find(question.default.name).is_some(), "{}", question.name);
            for info in &question.mechanisms {
                let (mut config, values) = (Config::default(), info.defaults());
                assert!(catalogue.answer(&mut config, question.name, &Answer { info, values }));
                let named = format!("name: {:?}", info.name);
                assert!(format!("{config:?}").contains(&named), "{} {named}", question.name);
            }
        }
    }

    #[test]
    fn an_answer_to_another_question_is_refused() {
        let catalogue = Catalogue::default();
        let cubic = catalogue.congestion.question().find("cubic").expect("it is there");
        let answer = Answer { info: cubic, values: cubic.defaults() };
        assert!(!catalogue.answer(&mut Config::default(), "recovery", &answer));
        assert!(!catalogue.answer(&mut Config::default(), "colour", &answer));
    }
}
