//! `lasthop emulate set`: another rate, delay or share of losses on the path of a run that goes on.

use super::Format;
use super::live::control::{Answer, Run, runs};
use super::live::knobs::{self, Request};
use crate::failure::Failure;
use crate::output;
use clap::Args;
use lasthop_base::{Duration, Rate};
use serde_json::Value;

/// Set rate, delay or losses on the path of an emulation that runs, or see what holds.
///
/// What waits is sent at the new rate, also the rest of the packet in transmission. A new delay holds for what is sent from
/// then on; packets keep their order. Rates that are recorded or follow a plan cannot be set, nor anything of RLC and
/// Wi-Fi. What was set stands in the run's summary, as plans for a scenario, too.
#[derive(Args)]
pub(crate) struct Set {
    /// rate=5Mbit/s, delay=40ms (one way), loss=1%, each also with @down or @up behind it; @down or @up alone holds for all
    /// others. Without any: what holds
    #[arg(value_name = "WHAT=VALUE", value_parser = word)]
    words: Vec<String>,
    /// The run's process; not needed if there is only one
    #[arg(long, value_name = "PID")]
    run: Option<u32>,
    /// The link, where the path has several
    #[arg(long, value_name = "NAME")]
    link: Option<String>,
    /// How to print what holds
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// A word that can be read, as it is.
fn word(text: &str) -> Result<String, String> {
    knobs::parse(text).map(|_| text.to_owned())
}

impl Set {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let run = self.run()?;
        let request = Request { words: self.words.clone(), link: self.link.clone() };
        let answer = run.ask(&request).map_err(|error| {
            Failure::failed(
                format!("the run {} does not answer: {error}", run.pid),
                "it may have just ended, or be stopped (SIGSTOP); try again",
            )
        })?;
        match answer {
            Answer::Refused(refusal) => Err(Failure::bad_input(refusal.message, refusal.help)),
            Answer::Done(holds) => match self.format {
                Format::Json => output::print_line(&holds.to_string()),
                Format::Table => output::print(&table(&holds)),
            },
        }
    }

    fn run(&self) -> Result<Run, Failure> {
        let mut found = runs();
        let pids = found.iter().map(|run| run.pid.to_string()).collect::<Vec<String>>().join(", ");
        if let Some(pid) = self.run {
            let others =
                if pids.is_empty() { "none runs".to_owned() } else { format!("those that run: {pids}") };
            return found.into_iter().find(|run| run.pid == pid).ok_or_else(|| {
                Failure::bad_input(format!("no emulation of yours is process {pid}"), others)
            });
        }
        match found.len() {
            0 => Err(Failure::bad_input(
                "no emulation of yours is running",
                "start one: lasthop emulate PATH -- COMMAND; one that root runs is set by root",
            )),
            1 => Ok(found.remove(0)),
            _ => Err(Failure::bad_input(
                format!("several emulations are running: {pids}"),
                "say which one: --run PID",
            )),
        }
    }
}

/// `path down: 5 Mbit/s, 40 ms, 1 % lost`.
fn table(holds: &Value) -> String {
    let mut text = format!("at {:.3} s:\n", holds["time_s"].as_f64().unwrap_or(0.0));
    for way in holds["links"].as_array().into_iter().flatten() {
        let rate = match way["rate_bps"].as_u64() {
            Some(0) => "no rate".to_owned(),
            Some(bps) => Rate::from_bps(bps).to_string(),
            None => "a rate of its own".to_owned(),
        };
        let delay = match way["delay_ms"].as_f64() {
            Some(ms) => Duration::from_secs_f64(ms / 1e3).to_string(),
            None => "a delay of its own".to_owned(),
        };
        let loss = match way["loss_pct"].as_f64() {
            Some(percent) => format!("{percent} % lost"),
            None => "losses of its own".to_owned(),
        };
        let name = |key: &str| way[key].as_str().unwrap_or_default().to_owned();
        text += &format!("{} {}: {rate}, {delay}, {loss}\n", name("link"), name("direction"));
    }
    text
}
