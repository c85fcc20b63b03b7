//! The folder of `--qlog`: for each flow a qlog file with the events of the network, and for each end of a flow with
//! another stack (QUIC) the log of the stack.

use crate::failure::Failure;
use crate::output;
use crate::target::{self, Target};
use lasthop_scenario::Scenario;
use lasthop_sim::StackLog;
use lasthop_sim::qlog::Qlog;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Largest number of flows. A flow has up to three open files, and a process usually may have 1024.
const MAX_FLOWS: usize = 300;

/// The files of the folder during the run.
pub(crate) struct QlogFolder {
    folder: PathBuf,
    stacks: Vec<SharedFile>,
}

impl QlogFolder {
    /// Creates the folder and its files. Returns the folder, the observer that writes the network's files, and the
    /// writers of the stacks' logs.
    pub(crate) fn create(
        folder: &Path,
        scenario: &Scenario,
    ) -> Result<(QlogFolder, Qlog<Target>, Vec<StackLog>), Failure> {
        if scenario.flows.len() > MAX_FLOWS {
            return Err(Failure::bad_input(
                format!("--qlog: a file for each of {} flows is too much", scenario.flows.len()),
                format!("record at most {MAX_FLOWS} flows, or all events in one file with --trace"),
            ));
        }
        fs::create_dir_all(folder).map_err(|error| target::unwritable(folder, &error))?;
        let (mut network, mut stacks, mut logs) = (Vec::new(), Vec::new(), Vec::new());
        for (index, flow) in scenario.flows.iter().enumerate() {
            let name = file_name(&flow.name);
            network.push(Target::create(&folder.join(format!("{name}.sqlog")))?);
            if flow.stack.is_none() {
                continue;
            }
            for (is_source, end) in [(true, "source"), (false, "destination")] {
                let file = SharedFile::new(Target::create(&folder.join(format!("{name}-{end}.sqlog")))?);
                logs.push(StackLog { flow: index, is_source, writer: Box::new(file.clone()) });
                stacks.push(file);
            }
        }
        let observer = Qlog::new(scenario, network).map_err(|error| target::unfinished(folder, &error))?;
        Ok((QlogFolder { folder: folder.to_owned(), stacks }, observer, logs))
    }

    /// Gives all files their names. `network` is the observer of [`QlogFolder::create`]. Removes the files of stacks
    /// that have written no log.
    pub(crate) fn finish(self, network: Qlog<Target>, seed: u64) -> Result<(), Failure> {
        let failed = |error: &io::Error| target::unfinished(&self.folder, error);
        let has_stacks = !self.stacks.is_empty();
        let mut files = network.into_files().map_err(|error| failed(&error))?;
        let of_network = files.len();
        for log in self.stacks {
            files.extend(log.into_written().map_err(|error| failed(&error))?);
        }
        let count = files.len();
        files.into_iter().try_for_each(Target::finish)?;
        let shown = self.folder.display();
        output::note(&format!("{shown}: {count} qlog files, first repetition, seed {seed}"));
        if has_stacks && count == of_network {
            output::note(
                "no log of a QUIC library: only noq has one, in programs built with --features qlog",
            );
        }
        Ok(())
    }
}

/// Name of a flow as part of a file's name.
fn file_name(flow: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    flow.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

/// A file that a stack's library writes, and that this program finishes.
#[derive(Clone)]
struct SharedFile(Arc<Mutex<Option<LogFile>>>);

struct LogFile {
    target: Target,
    is_written: bool,
    failed: Option<io::Error>,
}

impl SharedFile {
    fn new(target: Target) -> SharedFile {
        SharedFile(Arc::new(Mutex::new(Some(LogFile { target, is_written: false, failed: None }))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<LogFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the file, or `None` if nothing was written.
    ///
    /// # Errors
    /// The first error during the run. Libraries do not report errors of their writer.
    fn into_written(self) -> io::Result<Option<Target>> {
        match self.lock().take() {
            Some(LogFile { failed: Some(error), .. }) => Err(error),
            Some(file) => Ok(file.is_written.then_some(file.target)),
            None => Ok(None),
        }
    }
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = self.lock().as_mut() {
            file.is_written = true;
            if let Err(error) = file.target.write_all(bytes) {
                file.failed.get_or_insert(error);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
