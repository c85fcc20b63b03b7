//! Command `lasthop emulate set`: changes the rate, delay or loss of a running emulation.

use super::SummaryFormat;
use super::live::control::{RunningEmulation, SetAnswer, running_emulations};
use super::live::settings::{self, SetRequest};
use crate::failure::Failure;
use crate::output;
use clap::Args;
use lasthop_base::{Duration, Rate};
use serde_json::Value;

/// Set rate, delay or losses of a running emulation, or print the settings
///
/// A new rate also applies to queued packets and to the rest of the packet in transmission. A new delay applies to
/// packets sent later; packets keep their order. You cannot set rates from traces or plans, nor links with RLC or
/// Wi-Fi. The run's summary lists the changes, also as plans for a scenario.
#[derive(Args)]
pub(crate) struct Set {
    /// rate=5Mbit/s, delay=40ms (one way), loss=1%, each optionally with @down or @up; a separate @down or @up applies
    /// to all values without a direction. Without arguments: print the settings
    #[arg(value_name = "WHAT=VALUE", value_parser = word)]
    words: Vec<String>,
    /// PID of the run; needed only if several runs are in progress
    #[arg(long, value_name = "PID")]
    run: Option<u32>,
    /// Link; needed only if the path has several links
    #[arg(long, value_name = "NAME")]
    link: Option<String>,
    /// Output format of the settings
    #[arg(long, value_enum, default_value = "table")]
    format: SummaryFormat,
}

fn word(text: &str) -> Result<String, String> {
    settings::parse(text).map(|_| text.to_owned())
}

impl Set {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let run = self.run()?;
        let request = SetRequest { words: self.words.clone(), link: self.link.clone() };
        let answer = run.ask(&request).map_err(|error| {
            Failure::failed(
                format!("no answer from run {}: {error}", run.pid),
                "the run may have ended or be stopped (SIGSTOP); try again",
            )
        })?;
        match answer {
            SetAnswer::Refused(refusal) => Err(Failure::bad_input(refusal.message, refusal.help)),
            SetAnswer::Done(current) => match self.format {
                SummaryFormat::Json => output::print_line(&current.to_string()),
                SummaryFormat::Table => output::print(&table(&current)),
            },
        }
    }

    fn run(&self) -> Result<RunningEmulation, Failure> {
        let mut found = running_emulations();
        let pids = found.iter().map(|run| run.pid.to_string()).collect::<Vec<String>>().join(", ");
        if let Some(pid) = self.run {
            let others = if pids.is_empty() {
                "no emulation is running".to_owned()
            } else {
                format!("running emulations: {pids}")
            };
            return found.into_iter().find(|run| run.pid == pid).ok_or_else(|| {
                Failure::bad_input(format!("you have no running emulation with PID {pid}"), others)
            });
        }
        match found.len() {
            0 => Err(Failure::bad_input(
                "you have no running emulation",
                "start one: lasthop emulate PATH -- COMMAND; only root can change a run of root",
            )),
            1 => Ok(found.remove(0)),
            _ => Err(Failure::bad_input(
                format!("several emulations are running: {pids}"),
                "choose one: --run PID",
            )),
        }
    }
}

/// Formats the settings, one link direction per line, for example: `path down: 5 Mbit/s, 40 ms, 1 % lost`.
fn table(current: &Value) -> String {
    let mut text = format!("at {:.3} s:\n", current["time_s"].as_f64().unwrap_or(0.0));
    for way in current["links"].as_array().into_iter().flatten() {
        let rate = match way["rate_bps"].as_u64() {
            Some(0) => "rate 0 (stopped)".to_owned(),
            Some(bps) => Rate::from_bps(bps).to_string(),
            None => "rate not settable".to_owned(),
        };
        let delay = match way["delay_ms"].as_f64() {
            Some(ms) => Duration::from_secs_f64(ms / 1e3).to_string(),
            None => "delay not settable".to_owned(),
        };
        let loss = match way["loss_pct"].as_f64() {
            Some(percent) => format!("{percent} % lost"),
            None => "loss not settable".to_owned(),
        };
        let name = |key: &str| way[key].as_str().unwrap_or_default().to_owned();
        text += &format!("{} {}: {rate}, {delay}, {loss}\n", name("link"), name("direction"));
    }
    text
}
