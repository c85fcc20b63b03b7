//! Which window, which shape, which judge.

use lasthop_base::{Choice, Value, quantity};
use lasthop_tcp::receiver::cause;
use lasthop_tcp::receiver::{estimate, shape, window};

/// What becomes of ACKs. [`Settings::default`] changes nothing.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The window to advertise at most; the kernel's own if there is none.
    pub window: Option<Choice<window::Build>>,
    /// In how many ACKs the kernel's one goes out.
    pub shape: Option<Choice<shape::Build>>,
    /// Who judges losses, for shapes that want to know.
    pub cause: Option<Choice<cause::Build>>,
    /// How the sender's window is estimated, for the same.
    pub estimate: Choice<estimate::Build>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { window: None, shape: None, cause: None, estimate: Choice::of(&estimate::DEFAULT) }
    }
}

impl Settings {
    /// `dynamic`, `dynamic=K`, `link-rate=RATE`, `fixed=BYTES`.
    ///
    /// # Errors
    /// One sentence that says what is wrong and what would be right.
    pub fn window(text: &str) -> Result<Choice<window::Build>, String> {
        let (name, value) = parts(text);
        match (name, value) {
            ("dynamic", None) => Ok(Choice::named(window::ALL, "dynamic")),
            ("dynamic", Some(k)) => with("dynamic", &[("k", k)]),
            ("link-rate", Some(rate)) => with("link_rate", &[("rate", rate)]),
            // Whether bytes or with a unit.
            ("fixed", Some(size)) => {
                let bytes = size.parse::<u64>().or_else(|_| quantity::bytes(size))?;
                with("buffer", &[("size", &format!("{bytes} bytes"))])
            }
            _ => {
                Err("expected dynamic, dynamic=K, link-rate=RATE or fixed=BYTES, like fixed=64KiB".to_owned())
            }
        }
    }

    /// How many ACKs become of one, and whether they are all the same; `None` where that is not a fixed number.
    pub fn pieces(&self) -> Option<(u32, bool)> {
        let Some(shape) = &self.shape else { return Some((1, false)) };
        let count = || shape.values.count("count") as u32;
        match shape.info.name {
            "copies" => Some((count(), true)),
            "split" if shape.values.word("when") == "always" => Some((count(), false)),
            _ => None,
        }
    }

    /// `split`, `split=N`, `copies=N`; with a judge, splitting is for the time after wireless losses only.
    ///
    /// # Errors
    /// One sentence that says what is wrong and what would be right.
    pub fn shape(text: &str, is_judged: bool) -> Result<Choice<shape::Build>, String> {
        let (name, value) = parts(text);
        let mut choice = match name {
            "split" => Choice::named(shape::ALL, "split"),
            "copies" => Choice::named(shape::ALL, "copies"),
            _ => return Err("expected split, split=N or copies=N".to_owned()),
        };
        // One more than the kernel's own, where nothing is said: the host's uplink is not known.
        set(&mut choice, "count", value.unwrap_or("2"))?;
        if name == "split" {
            if matches!(choice.values.value("count"), Value::Count(0)) {
                return Err(
                    "Eq. 5 needs the uplink's queue, which is not known here: at least split=1".to_owned()
                );
            }
            set(&mut choice, "when", if is_judged { "after_wireless_loss" } else { "always" })?;
        }
        Ok(choice)
    }

    /// `always`, `rtt`, `jtcp`.
    ///
    /// # Errors
    /// One sentence that says what is wrong and what would be right.
    pub fn cause(text: &str) -> Result<Choice<cause::Build>, String> {
        match cause::ALL.iter().find(|mechanism| mechanism.info.name == text) {
            Some(_) if text == "mac" => {
                Err("the mac judge needs reports from the link layer, which no driver gives: use jtcp or rtt"
                    .to_owned())
            }
            Some(_) => Ok(Choice::named(cause::ALL, text)),
            None => Err("expected jtcp, rtt or always".to_owned()),
        }
    }
}

fn parts(text: &str) -> (&str, Option<&str>) {
    text.split_once('=').map_or((text.trim(), None), |(name, value)| (name.trim(), Some(value.trim())))
}

fn with(name: &str, values: &[(&str, &str)]) -> Result<Choice<window::Build>, String> {
    let mut choice = Choice::named(window::ALL, name);
    for (name, text) in values {
        set(&mut choice, name, text)?;
    }
    Ok(choice)
}

fn set<B: ?Sized>(choice: &mut Choice<B>, name: &str, text: &str) -> Result<(), String> {
    let known = choice.info.parameters.iter().find(|parameter| parameter.name == name);
    let Some(parameter) = known else { return Err(format!("{} has no {name}", choice.info.name)) };
    choice.values.set(parameter.name, parameter.unit.parse(text)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_the_simulators_own() {
        assert_eq!(Settings::window("dynamic").unwrap().info.name, "dynamic");
        assert_eq!(Settings::window("dynamic=3").unwrap().values.number("k"), 3.0);
        assert_eq!(Settings::window("fixed=65536").unwrap().values.bytes("size"), 65_536);
        assert_eq!(Settings::window("fixed=64KiB").unwrap().values.bytes("size"), 65_536);
        let rate = Settings::window("link-rate=384kbit/s").unwrap().values.rate("rate");
        assert_eq!(rate.bps(), 384_000);
        for wrong in ["", "fixed", "fixed=", "link-rate", "link-rate=fast", "dynamic=0", "large"] {
            assert!(Settings::window(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn splitting_waits_for_losses_only_with_a_judge() {
        let split = Settings::shape("split=4", false).unwrap();
        assert_eq!((split.values.count("count"), split.values.word("when")), (4, "always"));
        let judged = Settings::shape("split", true).unwrap();
        assert_eq!((judged.values.count("count"), judged.values.word("when")), (2, "after_wireless_loss"));
        assert_eq!(Settings::shape("copies=3", false).unwrap().values.count("count"), 3);
        for wrong in ["split=0", "copies=0", "copies=65", "once=2", "split=x"] {
            assert!(Settings::shape(wrong, false).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_judge_that_needs_the_link_layer_is_refused() {
        assert!(Settings::cause("mac").unwrap_err().contains("link layer"));
        assert_eq!(Settings::cause("jtcp").unwrap().info.name, "jtcp");
        assert!(Settings::cause("tagged").is_err());
    }
}
