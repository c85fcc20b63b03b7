//! Formats the results of a run as a table and as JSON.

use super::congestion::CongestionControls;
use super::live::SettingChanges;
use super::processor_waits::ProcessorWaits;
use crate::table;
use lasthop_emu::emulation::machine::Load;
use lasthop_emu::emulation::{End, EndCounters, Lateness, Measurements};
use lasthop_lab::document::{Cell, Table};
use lasthop_wire::{LossReason, PerReason};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct Summary {
    pub(super) measured: Measurements,
    /// Numbers of packets in flight when the command ends: `[to the server, to the client]`.
    pub(super) under_way: [u64; 2],
    pub(super) controls: CongestionControls,
    /// Whether the times at which packets entered the devices are known.
    pub(super) sees_entries: bool,
    pub(super) complaints: Vec<String>,
    pub(super) lost_in_devices: u64,
    pub(super) waits: ProcessorWaits,
    pub(super) load: Option<Load>,
    /// Whether the run had real-time priority (SCHED_FIFO).
    pub(super) urgent: bool,
    pub(super) status: u8,
    pub(super) took: Duration,
    pub(super) setting_changes: SettingChanges,
    pub(super) notes: Vec<String>,
}

impl Summary {
    pub(super) fn object(&self) -> Value {
        let micros = |span: lasthop_base::Duration| span.as_nanos() as f64 / 1e3;
        let quantiles = |late: Lateness| json!({ "p50": micros(late.p50), "p99": micros(late.p99), "max": micros(late.max) });
        let directions =
            |of: &dyn Fn(End) -> Value| json!({ "down": of(End::Client), "up": of(End::Server) });
        let counters = |end: End| self.measured.counters[end as usize];
        let mut object = json!({
            "valid": self.complaints.is_empty(),
            "complaints": self.complaints,
            "exit_status": self.status,
            "duration_s": self.took.as_secs_f64(),
            "active_s": self.measured.active().as_secs(),
            "goodput_kbps": directions(&|end| json!(self.measured.goodput_kbps(end))),
            "rate_kbps": directions(&|end| json!(self.rate_kbps(end))),
            "acknowledged_bytes": directions(&|end| json!(counters(end).acknowledged_bytes)),
            "delivered_bytes": directions(&|end| json!(counters(end).delivered_bytes)),
            "packets": directions(&|end| json!(counters(end).offered)),
            "delivered": directions(&|end| json!(counters(end).delivered)),
            "under_way": directions(&|end| json!(self.under_way[end as usize])),
            "lost": directions(&|end| lost(&counters(end).lost)),
            "duplicated": directions(&|end| json!(counters(end).duplicated)),
            "damaged": directions(&|end| json!(counters(end).damaged)),
            "refused": directions(&|end| json!(counters(end).refused)),
            "connections": self.controls.objects(),
            "notes": self.notes(),
            "lateness_us": quantiles(self.measured.lateness()),
            "entry_us": self.sees_entries.then(|| quantiles(self.measured.entry())),
            "tun_drops": self.lost_in_devices + counters(End::Server).refused + counters(End::Client).refused,
            "waited_pct": self.waits.object(),
            "sched_fifo": self.urgent,
            "idle": self.load.map(|load| load.idle),
            "stolen": self.load.map(|load| load.stolen),
        });
        if !self.setting_changes.changes.is_empty() {
            object["set"] =
                json!({ "changes": self.setting_changes.changes, "plans": self.setting_changes.plans });
        }
        object
    }

    /// Formats the counters of both directions as a table, followed by the timing and the state of the machine.
    pub(super) fn table(&self) -> String {
        let set = self.set().map_or(String::new(), |text| format!("\n{text}"));
        format!("\n{}\n{}\n{set}", table::text(&self.counters()), self.conditions())
    }

    pub(super) fn later_notes(&self) -> Vec<String> {
        self.controls.note().into_iter().collect()
    }

    fn notes(&self) -> Vec<String> {
        let all = self.notes.iter().cloned().chain(self.later_notes());
        all.map(|note| note.trim_start_matches("note: ").to_owned()).collect()
    }

    pub(super) fn set(&self) -> Option<String> {
        let plans = &self.setting_changes.plans;
        (!plans.is_empty()).then(|| format!("Changes during the run, in the scenario language:\n{plans}"))
    }

    pub(super) fn counters(&self) -> Table {
        let mut rows = Vec::new();
        let mut row = |name: &str, of: &dyn Fn(End) -> String| {
            let cells = [End::Client, End::Server].map(|end| Cell::Number(of(end)));
            rows.push([vec![Cell::Text(name.to_owned())], cells.to_vec()].concat());
        };
        let counters = |end: End| self.measured.counters[end as usize];
        let goodput = |end: End| self.measured.goodput_kbps(end);
        row("goodput, kbit/s", &|end| goodput(end).map_or("–".to_owned(), |kbps| format!("{kbps:.1}")));
        row("rate with headers, kbit/s", &|end| format!("{:.1}", self.rate_kbps(end)));
        row("delivered with headers, bytes", &|end| counters(end).delivered_bytes.to_string());
        row("congestion control", &|end| self.controls.words(end));
        row("packets sent", &|end| counters(end).offered.to_string());
        row("packets delivered", &|end| counters(end).delivered.to_string());
        row("in flight at the end", &|end| self.under_way[end as usize].to_string());
        for reason in LossReason::ALL {
            if self.measured.counters.iter().any(|end| end.lost[reason] > 0) {
                row(&format!("lost: {}", reason.name()), &|end| counters(end).lost[reason].to_string());
            }
        }
        type Count = fn(&EndCounters) -> u64;
        // Each sent packet and each duplicate is delivered, in flight, lost or refused. Damaged packets count as
        // delivered.
        let others: [(&str, Count); 3] = [
            ("duplicated on the path", |end| end.duplicated),
            ("delivered damaged", |end| end.damaged),
            ("refused by the receiving kernel", |end| end.refused),
        ];
        for (name, of) in others {
            if self.measured.counters.iter().any(|counters| of(counters) > 0) {
                row(name, &|end| of(&counters(end)).to_string());
            }
        }
        let columns = ["", "down", "up"].map(str::to_owned).to_vec();
        Table { caption: String::new(), columns, rows }
    }

    pub(super) fn conditions(&self) -> String {
        let lateness = self.measured.lateness();
        let micros = |span: lasthop_base::Duration| span.as_nanos() / 1000;
        let entry = self.measured.entry();
        let entry = if self.sees_entries {
            format!(
                "including the time before a packet entered the path: {} us (99th percentile), {} us (maximum)",
                micros(entry.p99),
                micros(entry.max)
            )
        } else {
            "counted from the time at which Lasthop read each packet, because entry times are unknown"
                .to_owned()
        };
        format!(
            "{:.1} s from the first packet to the last; late by {} us (median), {} us (99th percentile), \
             {} us (maximum), {entry}; {} lost in devices; {}; {}",
            self.measured.active().as_secs(),
            micros(lateness.p50),
            micros(lateness.p99),
            micros(lateness.max),
            self.lost_in_devices,
            self.waits.words(),
            self.machine(),
        )
    }

    pub(super) fn machine(&self) -> String {
        let load = self.load.map_or("unknown load".to_owned(), |load| {
            format!("processors idle {:.0} %, stolen {:.0} %", load.idle * 100.0, load.stolen * 100.0)
        });
        let how = if self.urgent { "SCHED_FIFO was granted" } else { "SCHED_FIFO was not granted" };
        format!("{load}; {how}")
    }

    pub(super) fn rate_kbps(&self, end: End) -> f64 {
        let seconds = self.measured.active().as_secs();
        let bits = self.measured.counters[end as usize].delivered_bytes as f64 * 8.0;
        if seconds > 0.0 { bits / seconds / 1e3 } else { 0.0 }
    }
}

fn lost(by_reason: &PerReason<u64>) -> Value {
    by_reason.iter().map(|(reason, count)| (reason.name().to_owned(), json!(count))).collect()
}
