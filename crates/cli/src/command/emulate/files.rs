//! Output files of a run: summaries, capture and report.

use super::summary::Summary;
use crate::failure::Failure;
use crate::output;
use crate::target::{self, Target};
use crate::values;
use clap::Args;
use lasthop_capture::Capture;
use lasthop_emu::Emulation;
use lasthop_lab::document::Document;
use lasthop_lab::report;
use std::fs;
use std::path::PathBuf;

/// Output files of the run.
#[derive(Args)]
pub(super) struct EmulateFiles {
    /// Write summary.json, capture.pcapng and report.html to this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the summary as one JSON object in one line to this file, in addition to standard error
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,
    /// Capture both ends, and packets lost between them, as pcapng
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Keep at most this many bytes of each captured packet
    #[arg(long, value_name = "BYTES", value_parser = values::snap)]
    snap: Option<u32>,
}

pub(super) struct OpenFiles {
    summaries: [Option<Target>; 2],
    report: Option<Target>,
    capture: Option<Capture<Target>>,
}

impl EmulateFiles {
    /// Returns whether the run must sample the path, for the report.
    pub(super) fn needs_samples(&self) -> bool {
        self.out.is_some()
    }

    pub(super) fn open(&self, pipes: &[String]) -> Result<OpenFiles, Failure> {
        let summary = self.summary.as_deref().map(Target::create).transpose()?;
        let mut open = OpenFiles { summaries: [summary, None], report: None, capture: None };
        let mut capture = self.pcap.as_deref().map(Target::create).transpose()?;
        if let Some(folder) = &self.out {
            fs::create_dir_all(folder).map_err(|error| {
                let message = format!("cannot create the directory `{}`: {error}", folder.display());
                Failure::bad_input(message, "choose another path")
            })?;
            open.summaries[1] = Some(Target::create_in(folder, "summary.json")?);
            open.report = Some(Target::create_in(folder, "report.html")?);
            if capture.is_none() {
                capture = Some(Target::create_in(folder, "capture.pcapng")?);
            }
        }
        open.capture = capture.map(|target| self.begin_capture(target, pipes)).transpose()?;
        Ok(open)
    }

    fn begin_capture(&self, target: Target, pipes: &[String]) -> Result<Capture<Target>, Failure> {
        let path = target.path().to_owned();
        let names = Emulation::<Target>::interfaces(pipes);
        match self.snap {
            Some(snap) => Capture::with_snap_length(target, &names, snap),
            None => Capture::new(target, &names),
        }
        .map_err(|error| target::unfinished(&path, &error))
    }
}

impl OpenFiles {
    /// Takes the capture out of the open files. The caller must later pass the capture's file to [`OpenFiles::finish`].
    pub(super) fn take_capture(&mut self) -> Option<Capture<Target>> {
        self.capture.take()
    }

    /// Writes the summaries and the report. An error in one file does not prevent the others from being written.
    pub(super) fn fill(
        &mut self,
        summary: &Summary,
        document: impl FnOnce() -> Document,
    ) -> Result<(), Failure> {
        let [one, other] =
            self.summaries.each_mut().map(|file| fill(file, || format!("{}\n", summary.object())));
        let report_is = fill(&mut self.report, || report::html(&document()));
        one.and(other).and(report_is)
    }

    pub(super) fn finish(self, capture: Option<Target>) -> Result<(), Failure> {
        let [one, other] = self.summaries;
        for target in [one, other, capture, self.report].into_iter().flatten() {
            let shown = target.path().display().to_string();
            target.finish()?;
            output::note(&format!("{shown}: written"));
        }
        Ok(())
    }
}

fn fill(file: &mut Option<Target>, text: impl FnOnce() -> String) -> Result<(), Failure> {
    *file = file.take().map(|target| target.filled(&text())).transpose()?;
    Ok(())
}
