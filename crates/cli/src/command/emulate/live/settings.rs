//! Settings that the user changes during a run: `rate=5Mbit/s`, `delay=40ms@down`, `loss=1%`. Also writes the changes
//! in the scenario language, as plans.

use super::link_directions::{LinkDirection, direction_name};
use crate::target::Target;
use lasthop_base::{Duration, Rate, Time, quantity};
use lasthop_emu::Emulation;
use lasthop_emu::emulation::End;
use lasthop_engine::{LinkChange, LinkSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt::Display;
use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(in super::super) enum SettingWord {
    Set(LinkChange, Option<End>),
    /// Separate argument `@down` or `@up`: the direction of all values without a direction of their own.
    Direction(End),
}

/// Parses an argument of `lasthop emulate set`.
///
/// # Errors
/// If the argument is invalid. The error is a message of one sentence.
pub(in super::super) fn parse(text: &str) -> Result<SettingWord, String> {
    let end = |name: &str| match name {
        "down" => Ok(End::Client),
        "up" => Ok(End::Server),
        other => Err(format!("unknown direction `@{other}`; expected @down or @up")),
    };
    if let Some(name) = text.strip_prefix('@') {
        return Ok(SettingWord::Direction(end(name)?));
    }
    let (rest, direction) = match text.split_once('@') {
        Some((rest, name)) => (rest, Some(end(name)?)),
        None => (text, None),
    };
    let known = "expected rate=RATE, delay=TIME or loss=SHARE, such as rate=5Mbit/s";
    let (name, value) = rest.split_once('=').ok_or(known)?;
    let change = match name.trim() {
        "rate" => LinkChange { bps: Some(rate(value)?), ..LinkChange::default() },
        "delay" => LinkChange { delay: Some(delay(value)?), ..LinkChange::default() },
        "loss" => LinkChange { loss: Some(share(value)?), ..LinkChange::default() },
        other => return Err(format!("`{other}` cannot be set; {known}")),
    };
    Ok(SettingWord::Set(change, direction))
}

/// Parses a rate. Returns bit/s. Zero is allowed, with or without a unit, and stops the link.
fn rate(text: &str) -> Result<u64, String> {
    match quantity::split(text.trim()) {
        Ok((0.0, unit)) if unit.is_empty() || quantity::rate(&format!("1 {unit}")).is_ok() => Ok(0),
        _ => quantity::rate(text).map(Rate::bps),
    }
}

const MAX_DELAY: Duration = Duration::from_secs(1000);

fn delay(text: &str) -> Result<Duration, String> {
    match quantity::duration(text)? {
        delay if delay <= MAX_DELAY => Ok(delay),
        _ => Err(format!("`{}` is too long: at most {MAX_DELAY}", text.trim())),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match quantity::probability(text)? {
        share if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{}` is not a share from 0 to 100 %", text.trim())),
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(in super::super) struct SetRequest {
    pub(in super::super) words: Vec<String>,
    /// Name of the link; required if the path has several links.
    pub(in super::super) link: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in super::super) struct SetRefusal {
    pub(in super::super) message: String,
    pub(in super::super) help: String,
}

impl SetRefusal {
    fn new(message: impl Into<String>, help: impl Into<String>) -> SetRefusal {
        SetRefusal { message: message.into(), help: help.into() }
    }
}

pub(super) struct SettingsHistory {
    directions: Vec<LinkDirection>,
    /// Initial settings and the settings after each change, per link direction. The time of an entry is the time at
    /// which the settings of the entry take effect.
    histories: Vec<Vec<(Time, Option<LinkSettings>)>>,
    /// Whether the scenario has a delay plan, and whether the scenario has a loss plan, per link direction.
    planned: Vec<[bool; 2]>,
}

impl SettingsHistory {
    pub(super) fn new(
        directions: Vec<LinkDirection>,
        planned: Vec<[bool; 2]>,
        emulation: &Emulation<Target>,
    ) -> SettingsHistory {
        let histories = directions
            .iter()
            .map(|direction| vec![(Time::ZERO, emulation.settings(direction.pipe))])
            .collect();
        SettingsHistory { directions, histories, planned }
    }

    pub(super) fn answer(
        &mut self,
        request: &SetRequest,
        emulation: &mut Emulation<Target>,
    ) -> Result<Value, SetRefusal> {
        let changes = self.changes(request)?;
        if changes.is_empty() {
            return Ok(self.current(emulation.clock().now()));
        }
        let by_pipe: Vec<_> =
            changes.iter().map(|(direction, change)| (self.directions[*direction].pipe, *change)).collect();
        let time = emulation.set(&by_pipe).map_err(|(pipe, fixed)| {
            let direction = self
                .directions
                .iter()
                .find(|direction| direction.pipe == pipe)
                .map_or(String::new(), LinkDirection::name);
            SetRefusal::new(
                format!("{direction}: {}; no setting has changed", fixed.0),
                "you can set a rate, a delay and a loss probability of each link direction",
            )
        })?;
        for (direction, _) in &changes {
            self.histories[*direction].push((time, emulation.settings(self.directions[*direction].pipe)));
        }
        Ok(self.current(time))
    }

    fn changes(&self, request: &SetRequest) -> Result<Vec<(usize, LinkChange)>, SetRefusal> {
        let unreadable = |message| {
            SetRefusal::new(message, "for example: lasthop emulate set rate=5Mbit/s delay=40ms @down")
        };
        let words =
            request.words.iter().map(|word| parse(word)).collect::<Result<Vec<SettingWord>, String>>();
        let words = words.map_err(unreadable)?;
        let everywhere = words.iter().find_map(|word| match word {
            SettingWord::Direction(end) => Some(*end),
            SettingWord::Set(..) => None,
        });
        let mut changes: Vec<(usize, LinkChange)> = Vec::new();
        for word in &words {
            let SettingWord::Set(change, end) = word else { continue };
            let end = end.or(everywhere);
            let meant = |direction: &LinkDirection| {
                end.is_none_or(|end| end == direction.to)
                    && request.link.as_ref().is_none_or(|link| *link == direction.link)
            };
            let meant: Vec<usize> =
                (0..self.directions.len()).filter(|at| meant(&self.directions[*at])).collect();
            self.check(request, &meant)?;
            for at in meant {
                let known = changes.iter().position(|(direction, _)| *direction == at).unwrap_or_else(|| {
                    changes.push((at, LinkChange::default()));
                    changes.len() - 1
                });
                let all = &mut changes[known].1;
                all.bps = change.bps.or(all.bps);
                all.delay = change.delay.or(all.delay);
                all.loss = change.loss.or(all.loss);
            }
        }
        Ok(changes)
    }

    fn check(&self, request: &SetRequest, meant: &[usize]) -> Result<(), SetRefusal> {
        let mut names: Vec<&str> = self.directions.iter().map(|direction| direction.link.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let all = names.join(", ");
        match (&request.link, meant) {
            (Some(link), []) => {
                Err(SetRefusal::new(format!("the path has no link `{link}`"), format!("links: {all}")))
            }
            (None, _) if names.len() > 1 => Err(SetRefusal::new(
                format!("the path has several links: {all}"),
                format!("choose one: --link {}", names[0]),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn current(&self, time: Time) -> Value {
        let directions = self.directions.iter().zip(&self.histories).map(|(direction, history)| {
            let setting = history.last().and_then(|(_, setting)| *setting);
            json!({
                "link": direction.link,
                "direction": direction_name(direction.to),
                "rate_bps": setting.and_then(|setting| setting.bps),
                "delay_ms": setting.map(|setting| setting.delay.as_millis()),
                "loss_pct": setting.and_then(|setting| setting.loss).map(|loss| loss * 100.0),
            })
        });
        json!({ "time_s": time.as_secs(), "links": directions.collect::<Vec<Value>>() })
    }

    pub(super) fn changes_made(&self) -> Vec<Value> {
        let mut made: Vec<(Time, Value)> = Vec::new();
        for (direction, history) in self.directions.iter().zip(&self.histories) {
            for pair in history.windows(2) {
                let [(_, Some(before)), (time, Some(after))] = pair else { continue };
                let mut object = json!({ "time_s": time.as_secs(), "link": direction.link, "direction": direction_name(direction.to) });
                if before.bps != after.bps {
                    object["rate_bps"] = after.bps.into();
                }
                if before.delay != after.delay {
                    object["delay_ms"] = after.delay.as_millis().into();
                }
                if before.loss != after.loss {
                    object["loss_pct"] = after.loss.map(|loss| loss * 100.0).into();
                }
                made.push((*time, object));
            }
        }
        made.sort_by_key(|(time, _)| *time);
        made.into_iter().map(|(_, object)| object).collect()
    }

    /// Writes the changes as plans in the tables of the links, in the scenario language. The text is empty without
    /// changes.
    pub(super) fn plans(&self) -> String {
        let mut text = String::new();
        for ((direction, history), planned) in self.directions.iter().zip(&self.histories).zip(&self.planned)
        {
            let history: Vec<(Time, LinkSettings)> =
                history.iter().filter_map(|(time, setting)| Some((*time, (*setting)?))).collect();
            let lines = lines(&history, *planned);
            if !lines.is_empty() {
                let _ = write!(text, "[link.{}.{}]\n{lines}", direction.link, direction.table);
            }
        }
        text
    }
}

fn lines(history: &[(Time, LinkSettings)], [delay_planned, loss_planned]: [bool; 2]) -> String {
    let mut lines = String::new();
    let mut add = |line: String| {
        lines += &line;
        lines.push('\n');
    };
    let rate = |bps: u64| if bps == 0 { "0 bit/s".to_owned() } else { Rate::from_bps(bps).to_string() };
    match PlanOfChanges::of(history, |setting| setting.bps, rate) {
        PlanOfChanges::Unchanged => {}
        PlanOfChanges::FromStart(plan) => add(format!("plan = \"{plan}\"")),
        PlanOfChanges::From(begins, plan) => {
            add(format!("# the scenario's own rate for {begins}, then: plan = \"{plan}\""));
        }
    }
    let least = history.iter().map(|(_, setting)| setting.delay).min().unwrap_or(Duration::ZERO);
    if let Some(plan) = plan(history, |setting| setting.delay.saturating_sub(least), |delay| delay) {
        add(format!("one_way_delay = \"{least}\""));
        // A link direction may have only one delay plan. If the scenario has a delay plan, the new plan is written as a
        // comment.
        let mark = if delay_planned { "# the scenario has its own: " } else { "" };
        add(format!("{mark}delay_plan = \"{plan}\""));
    }
    match PlanOfChanges::of(history, |setting| setting.loss, |loss| format!("{} %", loss * 100.0)) {
        PlanOfChanges::Unchanged => {}
        PlanOfChanges::FromStart(plan) => {
            add("channel = \"none\"".to_owned());
            let mark = if loss_planned { "# the scenario has its own: " } else { "" };
            add(format!("{mark}loss_plan = \"{plan}\""));
        }
        PlanOfChanges::From(begins, plan) => {
            let plan = format!("channel = \"none\", loss_plan = \"{plan}\"");
            add(format!("# the scenario's own channel for {begins}, then: {plan}"));
        }
    }
    lines
}

/// History of a setting, written as a plan.
enum PlanOfChanges {
    Unchanged,
    FromStart(String),
    /// Until this time after the start, the setting was no constant value: a plan, a recording, or a channel with
    /// varying losses.
    From(Duration, String),
}

impl PlanOfChanges {
    fn of<V: PartialEq + Copy, S: Display>(
        history: &[(Time, LinkSettings)],
        of: impl Fn(&LinkSettings) -> Option<V>,
        shown: impl Fn(V) -> S,
    ) -> PlanOfChanges {
        let shown = |value: Option<V>| value.map_or(String::new(), |value| shown(value).to_string());
        let own = history.iter().take_while(|(_, setting)| of(setting).is_none()).count();
        let Some((begins, _)) = history.get(own) else { return PlanOfChanges::Unchanged };
        let steps = steps(&history[own..], of);
        if own > 0 {
            PlanOfChanges::From(begins.since(Time::ZERO), written(&steps, shown))
        } else if steps.len() > 1 {
            PlanOfChanges::FromStart(written(&steps, shown))
        } else {
            PlanOfChanges::Unchanged
        }
    }
}

/// Minimum duration of a step in a plan.
const MIN_STEP: Duration = Duration::from_millis(1);
/// Duration of the last step in a plan, longer than any run.
const FOR_EVER: &str = "1000000 s";

/// Writes the history of a value as a plan, for example: `10 Mbit/s for 3.2 s, 5 Mbit/s for 1000000 s`. Returns `None`
/// if the value never changed.
fn plan<V: PartialEq + Copy, S: Display>(
    history: &[(Time, LinkSettings)],
    of: impl Fn(&LinkSettings) -> V,
    shown: impl Fn(V) -> S,
) -> Option<String> {
    let steps = steps(history, of);
    (steps.len() > 1).then(|| written(&steps, shown))
}

fn steps<V: PartialEq + Copy>(
    history: &[(Time, LinkSettings)],
    of: impl Fn(&LinkSettings) -> V,
) -> Vec<(Time, V)> {
    let mut steps: Vec<(Time, V)> = Vec::new();
    for (time, setting) in history {
        let value = of(setting);
        match steps.last_mut() {
            Some((_, last)) if *last == value => {}
            // A value that applied for less than [`MIN_STEP`] is omitted.
            Some((begins, last)) if time.since(*begins) < MIN_STEP => *last = value,
            _ => steps.push((*time, value)),
        }
    }
    steps
}

fn written<V: Copy, S: Display>(steps: &[(Time, V)], shown: impl Fn(V) -> S) -> String {
    let ends = steps.iter().skip(1).map(|(time, _)| Some(*time)).chain([None]);
    let parts = steps.iter().zip(ends).map(|((begins, value), ends)| {
        let span = ends.map_or(FOR_EVER.to_owned(), |ends| ends.since(*begins).to_string());
        format!("{} for {span}", shown(*value))
    });
    parts.collect::<Vec<String>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;

    #[test]
    fn words_are_read_and_what_is_none_is_refused() {
        let rate = |bps| LinkChange { bps: Some(bps), ..LinkChange::default() };
        assert_eq!(parse("rate=5Mbit/s"), Ok(SettingWord::Set(rate(5_000_000), None)));
        assert_eq!(parse("rate=0@up"), Ok(SettingWord::Set(rate(0), Some(End::Server))));
        assert_eq!(parse("rate=0 kbit/s"), Ok(SettingWord::Set(rate(0), None)));
        assert_eq!(parse("@down"), Ok(SettingWord::Direction(End::Client)));
        let delay = LinkChange { delay: Some(Duration::from_millis(40)), ..LinkChange::default() };
        assert_eq!(parse("delay=40ms@down"), Ok(SettingWord::Set(delay, Some(End::Client))));
        let loss = LinkChange { loss: Some(0.01), ..LinkChange::default() };
        assert_eq!(parse("loss=1%"), Ok(SettingWord::Set(loss, None)));
        for wrong in
            ["rate", "rate=", "rate=fast", "speed=1", "loss=2", "delay=1e9s", "rate=1Mbit/s@side", "@"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn changes_are_plans_that_a_scenario_takes() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let first = LinkSettings { bps: Some(10_000_000), delay: Duration::from_millis(10), loss: Some(0.0) };
        let second = LinkSettings { bps: Some(0), ..first };
        let third = LinkSettings { bps: Some(400_000), delay: Duration::from_millis(40), loss: Some(0.02) };
        let history = [(at(0), first), (at(3210), second), (at(4000), third)];
        let lines = lines(&history, [false; 2]);
        assert_eq!(
            lines,
            "plan = \"10 Mbit/s for 3.21 s, 0 bit/s for 790 ms, 400 kbit/s for 1000000 s\"\n\
             one_way_delay = \"10 ms\"\n\
             delay_plan = \"0 s for 4 s, 30 ms for 1000000 s\"\n\
             channel = \"none\"\n\
             loss_plan = \"0 % for 4 s, 2 % for 1000000 s\"\n"
        );
        let path = "[link.path]\nfrom = \"server\"\nto = \"client\"\n";
        let up = "[link.path.up]\nrate = \"1 Mbit/s\"\n";
        let flow = "[flow.bulk]\nfrom = \"server\"\nto = \"client\"\n";
        let text = format!("{path}[link.path.down]\n{lines}{up}{flow}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("set.toml");
        std::fs::write(&file, text).unwrap();
        let scenario = Draft::load(file.to_str().unwrap()).unwrap().check();
        assert!(scenario.is_ok(), "{}", scenario.err().map_or(String::new(), |problem| problem.to_string()));
        assert_eq!(super::lines(&history[..1], [false; 2]), "");
    }

    /// A rate that follows the scenario's plan, and losses of a channel with states, have no value in the settings. Their
    /// changes are written as comments.
    #[test]
    fn changes_of_plans_and_channels_are_comments() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let own = LinkSettings { bps: None, delay: Duration::from_millis(10), loss: None };
        let set = LinkSettings { bps: Some(400_000), loss: Some(0.02), ..own };
        assert_eq!(
            lines(&[(at(0), own), (at(3210), set)], [false; 2]),
            "# the scenario's own rate for 3.21 s, then: plan = \"400 kbit/s for 1000000 s\"\n\
             # the scenario's own channel for 3.21 s, then: channel = \"none\", loss_plan = \"2 % for 1000000 s\"\n"
        );
        assert_eq!(lines(&[(at(0), own), (at(5), own)], [false; 2]), "");
    }
}
