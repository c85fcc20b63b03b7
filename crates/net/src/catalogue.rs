//! Every mechanism of a link, by seam: what scenarios, `lasthop list` and the schema read. A caller may add to it.

use crate::{Config, admission, arq, channel, discipline, fec, harq, jitter, queue, rlc, wifi};
use lasthop_base::{Answer, Question, Seam};

/// The seams of a link, in the order in which a packet meets them. [`Catalogue::default`] has this crate's mechanisms;
/// who brings one adds it to its seam.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// See [`discipline`].
    pub queue: Seam<discipline::Build>,
    /// See [`channel`].
    pub channel: Seam<channel::Build>,
    /// See [`arq`].
    pub arq: Seam<arq::Build>,
    /// See [`jitter`].
    pub jitter: Seam<jitter::Build>,
}

impl Default for Catalogue {
    fn default() -> Catalogue {
        let queues = "may a packet join the queue, and which one leaves it next?";
        let arrives = "does a transmission arrive intact?";
        let repeats = "what does the link layer do if not?";
        let late = "by how much is a packet later than the propagation delay says?";
        Catalogue {
            queue: Seam::new("link", "queue", queues, &admission::DEFAULT, admission::ALL).with(queue::ALL),
            channel: Seam::new("link", "channel", arrives, &channel::DEFAULT, channel::ALL),
            arq: Seam::new("link", "arq", repeats, &arq::DEFAULT, arq::ALL)
                .with(rlc::ALL)
                .with(harq::ALL)
                .with(wifi::ALL)
                .with(fec::ALL),
            jitter: Seam::new("link", "jitter", late, &jitter::DEFAULT, jitter::ALL),
        }
    }
}

impl Catalogue {
    /// Every question, with a description of its answers.
    pub fn questions(&self) -> Vec<&Question> {
        vec![self.queue.question(), self.channel.question(), self.arq.question(), self.jitter.question()]
    }

    /// Puts the answer to the question of this name into a configuration; false if there is no such question or answer.
    pub fn answer(&self, config: &mut Config, question: &str, answer: &Answer) -> bool {
        match question {
            "queue" => self.queue.answer(answer, &mut config.queue),
            "channel" => self.channel.answer(answer, &mut config.channel),
            "arq" => self.arq.answer(answer, &mut config.arq),
            "jitter" => self.jitter.answer(answer, &mut config.jitter),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Service;
    use lasthop_base::{Duration, Rate};

    #[test]
    fn every_answer_has_a_place_in_a_configuration() {
        let catalogue = Catalogue::default();
        for question in catalogue.questions() {
            assert!(question.find(question.default.name).is_some(), "{}", question.name);
            for info in &question.mechanisms {
                let mut config = Config::wire(Service::Rate(Rate::from_bps(1)), Duration::ZERO);
                let values = info.defaults();
                assert!(catalogue.answer(&mut config, question.name, &Answer { info, values }));
                let named = format!("name: {:?}", info.name);
                assert!(format!("{config:?}").contains(&named), "{} {named}", question.name);
            }
        }
    }
}
