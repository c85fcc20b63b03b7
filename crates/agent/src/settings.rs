//! The agent's window, ACK splitting and loss discrimination. The [`Live`] of each mechanism describes the command-line
//! option that selects the mechanism.

use lasthop_base::{Choice, Info, Live, Mechanism, Unit, Value, find, quantity};
use lasthop_tcp::receiver::ack_splitting::FixedSplit;
use lasthop_tcp::receiver::{ack_splitting, loss_discrimination, window, window_estimate};

/// Settings for ACKs. [`AckSettings::default`] leaves all ACKs unchanged.
#[derive(Clone, Debug)]
pub struct AckSettings {
    /// Mechanism for the maximum window to advertise. `None` means the kernel's own window.
    pub window: Option<Choice<window::Build>>,
    /// Mechanism for the number of ACKs sent for each kernel ACK. `None` means one ACK.
    pub ack_splitting: Option<Choice<ack_splitting::Build>>,
    /// Loss discrimination, for ACK splitting that depends on the cause of losses. `None` disables it.
    pub loss_discrimination: Option<Choice<loss_discrimination::Build>>,
    /// Estimator of the sender's window, for ACK splitting that depends on the cause of losses.
    pub window_estimate: Choice<window_estimate::Build>,
}

impl Default for AckSettings {
    fn default() -> AckSettings {
        AckSettings {
            window: None,
            ack_splitting: None,
            loss_discrimination: None,
            window_estimate: Choice::of(&window_estimate::DEFAULT),
        }
    }
}

impl AckSettings {
    /// Parses `dynamic`, `dynamic=K`, `link-rate=RATE` or `fixed=BYTES`. The error names the expected form.
    pub fn window(text: &str) -> Result<Choice<window::Build>, String> {
        let expected = "expected dynamic, dynamic=K, link-rate=RATE or fixed=BYTES, like fixed=64KiB";
        option(window::ALL, text).map_or_else(|| Err(expected.to_owned()), |(choice, _)| choice)
    }

    /// Formats a window of [`AckSettings::window`] as an option, like `dynamic=2`.
    pub fn words(window: &Choice<window::Build>) -> String {
        match window.info.live {
            Some(live) => format!("{}={}", live.word, written(window.values.value(live.parameter))),
            None => window.info.name.to_owned(),
        }
    }

    /// Number and form of the ACKs sent for each kernel ACK; `None` if their number varies.
    pub fn pieces(&self) -> Option<FixedSplit> {
        match &self.ack_splitting {
            Some(ack_splitting) => (ack_splitting.build)(&ack_splitting.values).pieces(),
            None => Some(FixedSplit { count: 1, are_copies: false }),
        }
    }

    /// Parses `split`, `split=N` or `copies=N`; with loss discrimination, splitting is limited to the time after
    /// wireless losses. The error names the expected form.
    pub fn ack_splitting(
        text: &str,
        has_discrimination: bool,
    ) -> Result<Choice<ack_splitting::Build>, String> {
        let Some((choice, live)) = option(ack_splitting::ALL, text) else {
            return Err("expected split, split=N or copies=N".to_owned());
        };
        let mut choice = choice?;
        if *choice.values.value(live.parameter) == Value::Count(0) {
            let word = live.word;
            return Err(format!(
                "{word}=0 depends on the uplink's queue, which the agent cannot see: choose {word}=1 or more"
            ));
        }
        if let Some((parameter, value)) = live.without_discrimination
            && !has_discrimination
        {
            set(&mut choice, parameter, value)?;
        }
        Ok(choice)
    }

    /// Parses `always`, `rtt` or `jtcp`. The error names the expected form.
    pub fn loss_discrimination(text: &str) -> Result<Choice<loss_discrimination::Build>, String> {
        let Some(choice) = find(loss_discrimination::ALL, text).map(Choice::of) else {
            return Err("expected jtcp, rtt or always".to_owned());
        };
        if (choice.build)(&choice.values).needs_reports() {
            return Err(format!(
                "`{text}` needs reports from the link layer, which no driver provides: use jtcp or rtt"
            ));
        }
        Ok(choice)
    }
}

/// Parses an option into its mechanism, with the option's value set; `None` if no mechanism has such an option.
fn option<B: ?Sized>(list: &'static [Mechanism<B>], text: &str) -> Option<(Result<Choice<B>, String>, Live)> {
    let (word, value) = text.split_once('=').map_or((text, None), |(word, value)| (word, Some(value.trim())));
    let matching = |info: &Info| info.live.filter(|live| live.word == word.trim());
    let (mechanism, live) = list.iter().find_map(|one| Some((one, matching(&one.info)?)))?;
    let value = value.or(live.usual)?;
    let mut choice = Choice::of(mechanism);
    Some((set(&mut choice, live.parameter, value).map(|()| choice), live))
}

fn set<B: ?Sized>(choice: &mut Choice<B>, name: &str, text: &str) -> Result<(), String> {
    let known = choice.info.parameters.iter().find(|parameter| parameter.name == name);
    let Some(parameter) = known else { return Err(format!("{} has no {name}", choice.info.name)) };
    let value = match parameter.unit {
        // Users may omit the unit of bytes.
        Unit::Bytes(..) => {
            let bytes = text.parse::<u64>().or_else(|_| quantity::bytes(text))?;
            parameter.unit.parse(&format!("{bytes} bytes"))?
        }
        unit => unit.parse(text)?,
    };
    choice.values.set(parameter.name, value);
    Ok(())
}

fn written(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Rate(rate) => format!("{}kbit/s", rate.bps() as f64 / 1e3),
        Value::Bytes(whole) | Value::Count(whole) => whole.to_string(),
        Value::Duration(span) => span.to_string(),
        Value::Bdp(number) => format!("{number}bdp"),
        Value::Flag(flag) => flag.to_string(),
        Value::Word(word) => (*word).to_owned(),
        Value::Counts(counts) => format!("{counts:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_the_simulators_own() {
        assert_eq!(AckSettings::window("dynamic").unwrap().info.name, "dynamic");
        assert_eq!(AckSettings::window("dynamic=3").unwrap().values.number("k"), 3.0);
        assert_eq!(AckSettings::window("fixed=65536").unwrap().values.bytes("size"), 65_536);
        assert_eq!(AckSettings::window("fixed=64KiB").unwrap().values.bytes("size"), 65_536);
        let rate = AckSettings::window("link-rate=384kbit/s").unwrap().values.rate("rate");
        assert_eq!(rate.bps(), 384_000);
        for wrong in ["", "fixed", "fixed=", "link-rate", "link-rate=fast", "dynamic=0", "large"] {
            assert!(AckSettings::window(wrong).is_err(), "{wrong}");
        }
        for (text, words) in [
            ("dynamic", "dynamic=2"),
            ("dynamic=2.5", "dynamic=2.5"),
            ("fixed=64KiB", "fixed=65536"),
            ("link-rate=2Mbit/s", "link-rate=2000kbit/s"),
        ] {
            assert_eq!(AckSettings::words(&AckSettings::window(text).unwrap()), words);
            assert_eq!(AckSettings::words(&AckSettings::window(words).unwrap()), words);
        }
    }

    #[test]
    fn splitting_waits_for_losses_only_with_a_judge() {
        let split = AckSettings::ack_splitting("split=4", false).unwrap();
        assert_eq!((split.values.count("count"), split.values.word("when")), (4, "always"));
        let judged = AckSettings::ack_splitting("split", true).unwrap();
        assert_eq!((judged.values.count("count"), judged.values.word("when")), (2, "after_wireless_loss"));
        assert_eq!(AckSettings::ack_splitting("copies=3", false).unwrap().values.count("count"), 3);
        for wrong in ["split=0", "copies=0", "copies=65", "once=2", "split=x"] {
            assert!(AckSettings::ack_splitting(wrong, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_number_of_pieces_is_fixed_without_a_judge() {
        let pieces = |text: &str, has_discrimination| {
            let ack_splitting = Some(AckSettings::ack_splitting(text, has_discrimination).unwrap());
            AckSettings { ack_splitting, ..AckSettings::default() }.pieces()
        };
        assert_eq!(pieces("split=4", false), Some(FixedSplit { count: 4, are_copies: false }));
        assert_eq!(pieces("split=4", true), None);
        assert_eq!(pieces("copies=3", false), Some(FixedSplit { count: 3, are_copies: true }));
        assert_eq!(AckSettings::default().pieces(), Some(FixedSplit { count: 1, are_copies: false }));
    }

    #[test]
    fn a_judge_that_needs_the_link_layer_is_refused() {
        assert!(AckSettings::loss_discrimination("mac").unwrap_err().contains("link layer"));
        assert_eq!(AckSettings::loss_discrimination("jtcp").unwrap().info.name, "jtcp");
        assert!(AckSettings::loss_discrimination("tagged").is_err());
    }
}
