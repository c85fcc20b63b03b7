//! Keys of one-line scenarios in `--set`: `--set loss=2%` has the same effect as `loss=2%` in the one-line scenario.
//!
//! A key in `--set` replaces the same key of the one-line scenario, and each key that excludes this key: `ber` replaces
//! `loss` and `channel`. The last setting wins, whether it uses a key of one-line scenarios or a full key path.
//!
//! `loss`, `up_loss` and `ber` work for every path: `lte --set loss=2%` has the same effect as `lte,loss=2%`.

use super::adapt::{self, FirstRoute};
use super::{Item, find, is_own};
use crate::draft::Draft;
use crate::problem::Problem;
use crate::set;
use crate::source::Span;
use crate::tree::TomlNode;

pub(crate) fn is_loss_key(key: &str) -> bool {
    LOSS_KEYS.contains(&key)
}

#[derive(Clone, Debug)]
pub(crate) struct InlineScenario {
    items: Vec<Item>,
    route: FirstRoute,
    line_keys: LineKeys,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LineKeys {
    /// All keys are accepted, because the one-line scenario names no built-in scenario and no file. `rate` also sets
    /// the rate of the direction up unless `up` or `up_trace` is set. `queue` also sets the queue of the direction up
    /// unless `up_queue` is set.
    Standalone,
    /// All keys are accepted. The one-line scenario begins with the name of a built-in scenario or of a file.
    AfterPath,
    /// Only the keys for losses are accepted, because the draft was not read from a one-line scenario.
    LossesOnly,
}

const LOSS_KEYS: [&str; 3] = ["loss", "up_loss", "ber"];

impl InlineScenario {
    pub(super) fn standalone(items: Vec<Item>) -> InlineScenario {
        InlineScenario { items, route: FirstRoute::standalone(), line_keys: LineKeys::Standalone }
    }

    pub(super) fn after_path(route: FirstRoute, items: Vec<Item>) -> InlineScenario {
        InlineScenario { items, route, line_keys: LineKeys::AfterPath }
    }

    /// Makes an [`InlineScenario`] for a draft that was not read from a one-line scenario, if the key is a key for
    /// losses. Fails if the draft is invalid.
    pub(crate) fn for_loss_key(draft: &Draft, key: &str) -> Result<Option<InlineScenario>, Problem> {
        if is_loss_key(key) {
            Ok(Some(InlineScenario {
                items: Vec::new(),
                route: FirstRoute::of(&draft.check()?),
                line_keys: LineKeys::LossesOnly,
            }))
        } else {
            Ok(None)
        }
    }

    /// Returns whether the draft accepts this key as a key of one-line scenarios.
    pub(crate) fn accepts(&self, key: &str) -> bool {
        match self.line_keys {
            LineKeys::Standalone | LineKeys::AfterPath => is_own(key),
            // `burst` alone could also mean a parameter of a queue, so `burst` is accepted only together with `loss`.
            LineKeys::LossesOnly => {
                let bursts = [("burst", "loss"), ("up_burst", "up_loss")];
                is_loss_key(key)
                    || bursts.iter().any(|(burst, loss)| *burst == key && find(&self.items, loss).is_some())
            }
        }
    }

    fn of(&self, keys: &[&str]) -> Vec<Item> {
        self.items.iter().filter(|item| keys.contains(&item.key.as_str())).cloned().collect()
    }
}

/// Groups of keys that exclude each other.
const EXCLUSIVE_KEYS: [&[&str]; 4] = [
    &["rate", "trace", "down_trace"],
    &["up", "up_trace"],
    &["rtt", "one_way_delay"],
    &["loss", "ber", "channel"],
];

/// Sets a key of a one-line scenario. If setting fails, the draft stays unchanged.
pub(crate) fn set(
    draft: &mut Draft,
    line: &InlineScenario,
    key: &str,
    place: Span,
    value: &str,
    node: TomlNode,
) -> Result<(), Problem> {
    let mut line = line.clone();
    let replaced = EXCLUSIVE_KEYS.iter().copied().find(|group| group.contains(&key)).unwrap_or_default();
    // `burst` belongs to `loss`: if `ber` or `channel` replaces `loss`, `burst` is removed too.
    let has_bursts = key != "ber" && key != "channel";
    line.items.retain(|item| {
        item.key != key && !replaced.contains(&item.key.as_str()) && (has_bursts || item.key != "burst")
    });
    let item = Item { key: key.to_owned(), value: value.trim().to_owned(), place, node };
    line.items.push(item.clone());
    let mut changed = draft.clone();
    let is_whole = line.line_keys == LineKeys::Standalone;
    if !is_whole && is_loss_key(key) {
        // Earlier `--set` changes may have turned link-layer retransmission on or off, which `route` records.
        line.route = FirstRoute::of(&changed.check()?);
    }
    match key {
        "rate" | "trace" | "down_trace" | "up" | "up_trace" => {
            adapt::services(&mut changed, std::slice::from_ref(&item), &line.route)?;
            let is_both = is_whole
                && key == "rate"
                && ["up", "up_trace"].iter().all(|up| find(&line.items, up).is_none());
            if is_both {
                let up = format!("link.{}.rate", line.route.last_up());
                set::apply(&mut changed, &up, place, item.node.clone())?;
            }
        }
        "queue" | "up_queue" => {
            adapt::queues(&mut changed, std::slice::from_ref(&item), &line.route)?;
            if is_whole && key == "queue" && find(&line.items, "up_queue").is_none() {
                let up = format!("link.{}.queue", line.route.last_up());
                set::apply(&mut changed, &up, place, item.node.clone())?;
            }
        }
        "rtt" | "one_way_delay" => adapt::delays(&mut changed, std::slice::from_ref(&item), &line.route)?,
        "jitter" => adapt::jitters(&mut changed, std::slice::from_ref(&item), &line.route)?,
        "duplicate" | "corrupt" | "up_duplicate" | "up_corrupt" | "light" | "up_light" => {
            adapt::impairments(&mut changed, std::slice::from_ref(&item), &line.route)?;
        }
        "up_loss" | "up_burst" => {
            adapt::losses_up(&mut changed, &line.of(&["up_loss", "up_burst"]), &line.route)?;
        }
        "arq" if is_whole => adapt::losses(&mut changed, std::slice::from_ref(&item), &line.route)?,
        _ => {
            let about = ["loss", "burst", "ber", "channel", "arq"];
            let about = if is_whole { &about[..4] } else { &about };
            adapt::losses(&mut changed, &line.of(about), &line.route)?;
        }
    }
    changed.inline = Some(line);
    *draft = changed;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::KEYS;
    use super::*;

    fn shown(draft: &Draft) -> Result<String, String> {
        draft
            .check_and_show()
            .map(|(_, text)| without_title(&text))
            .map_err(|problem| problem.message().to_owned())
    }

    fn without_title(text: &str) -> String {
        text.lines().filter(|line| !line.starts_with("title")).map(|line| format!("{line}\n")).collect()
    }

    fn set_afterwards(path: &str, changes: &[(&str, &str)]) -> Result<String, String> {
        let mut draft = Draft::load(path).expect("a path");
        for (key, value) in changes {
            draft.set(key, value).map_err(|problem| problem.message().to_owned())?;
        }
        shown(&draft)
    }

    #[test]
    fn a_key_means_what_it_means_in_the_line() {
        let values = [
            ("rate", "3Mbit/s"),
            ("up", "700kbit/s"),
            ("rtt", "80ms"),
            ("one_way_delay", "33ms"),
            ("queue", "17packets"),
            ("up_queue", "9packets"),
            ("loss", "2%"),
            ("up_loss", "4%"),
            ("ber", "1e-6"),
            ("channel", "{kind=\"iid\",loss=0.03}"),
            ("arq", "{kind=\"repeat\",transmissions=2}"),
            ("jitter", "3ms"),
            ("duplicate", "0.5%"),
            ("corrupt", "0.002"),
            ("up_duplicate", "0.1%"),
            ("up_corrupt", "1%"),
            ("jitter", "{kind=\"random\",most=\"3 ms\",reorders=true}"),
        ];
        for (key, value) in values {
            for base in ["rate=10Mbit/s", "rate=10Mbit/s,up=1Mbit/s,queue=30packets", "lte,seed=3"] {
                let ours =
                    set_afterwards(base, &[(key, value)]).unwrap_or_else(|why| panic!("{base} {key}: {why}"));
                let kept: Vec<&str> =
                    base.split(',').filter(|item| item.split('=').next() != Some(key)).collect();
                let item = format!("{key}={value}");
                let line = kept.into_iter().chain([item.as_str()]).collect::<Vec<&str>>().join(",");
                assert_eq!(ours, shown(&Draft::load(&line).unwrap()).unwrap(), "{line}");
            }
        }
        let tried = |key: &str| {
            let elsewhere = ["burst", "trace", "light"].iter().any(|end| key.ends_with(end));
            values.iter().any(|(known, _)| *known == key) || elsewhere
        };
        assert!(KEYS.iter().all(|(key, ..)| tried(key)));
    }

    #[test]
    fn it_takes_the_place_of_what_says_the_same_thing() {
        let line = |line: &str| shown(&Draft::load(line).unwrap());
        for (path, changes, same) in [
            ("rate=10Mbit/s,loss=1%,burst=5", &[("loss", "2%")][..], "rate=10Mbit/s,loss=2%,burst=5"),
            ("rate=10Mbit/s,loss=1%", &[("burst", "4")], "rate=10Mbit/s,loss=1%,burst=4"),
            ("rate=10Mbit/s,up_loss=1%", &[("up_burst", "4")], "rate=10Mbit/s,up_loss=1%,up_burst=4"),
            (
                "rate=10Mbit/s,queue=9packets",
                &[("up_queue", "4packets"), ("queue", "7packets")],
                "rate=10Mbit/s,queue=7packets,up_queue=4packets",
            ),
            ("rate=10Mbit/s,loss=1%,burst=5", &[("ber", "1e-6")], "rate=10Mbit/s,ber=1e-6"),
            ("rate=10Mbit/s,ber=1e-6", &[("loss", "1%")], "rate=10Mbit/s,loss=1%"),
            ("rate=10Mbit/s,rtt=20ms", &[("one_way_delay", "7ms")], "rate=10Mbit/s,one_way_delay=7ms"),
            (
                "lte,loss=1%,arq={kind=\"repeat\",transmissions=2}",
                &[("loss", "3%")],
                "lte,loss=3%,arq={kind=\"repeat\",transmissions=2}",
            ),
            // The last setting wins.
            (
                "rate=10Mbit/s,loss=1%",
                &[("path.down.channel.loss", "5%"), ("loss", "2%")],
                "rate=10Mbit/s,loss=2%",
            ),
            (
                "rate=10Mbit/s,loss=1%",
                &[("loss", "2%"), ("path.down.channel.loss", "5%")],
                "rate=10Mbit/s,loss=5%",
            ),
            ("rate=10Mbit/s", &[("up", "1Mbit/s"), ("rate", "5Mbit/s")], "rate=5Mbit/s,up=1Mbit/s"),
        ] {
            assert_eq!(set_afterwards(path, changes), line(same), "{path} {changes:?}");
        }
        let why = set_afterwards("rate=10Mbit/s", &[("burst", "5")]).unwrap_err();
        assert!(why.contains("needs `loss`"), "{why}");
        let why = set_afterwards("rate=10Mbit/s,loss=1%", &[("up_burst", "5")]).unwrap_err();
        assert!(why.contains("needs `up_loss`"), "{why}");
        let why = set_afterwards("rate=10Mbit/s", &[("rtt", "soon")]).unwrap_err();
        assert!(why.contains("rtt"), "{why}");
    }
}
