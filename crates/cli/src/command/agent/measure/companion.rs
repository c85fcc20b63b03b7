//! Starts the agent in the client's network namespace.

use lasthop_emu::emulation::End;
use lasthop_os::ends::PathEnds;
use lasthop_os::program::Attachment;
use lasthop_os::user::Runner;
use lasthop_os::{Program, SystemError};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(super) struct Companion {
    _program: Program,
    _folder: PrivateFolder,
}

/// Folder of the agent's lock and socket, removed on drop.
struct PrivateFolder(PathBuf);

const START_TIMEOUT: Duration = Duration::from_secs(10);

impl Companion {
    pub(super) fn begin(ends: &PathEnds, arguments: &[String]) -> Result<Companion, SystemError> {
        let folder =
            PrivateFolder::create().map_err(|error| refused("make a directory for the agent", &error))?;
        let messages = folder.0.join("said");
        let program = std::env::current_exe().map_err(|error| refused("find this program", &error))?;
        let shown = |path: &Path| path.display().to_string();
        // The shell redirects the agent's messages to a file, so that an error can quote the messages.
        let mut words = ["sh", "-c", r#"exec "$@" 2>"$0""#].map(str::to_owned).to_vec();
        words.extend([shown(&messages), shown(&program), "agent".to_owned(), "run".to_owned()]);
        words.extend(["--run-dir".to_owned(), shown(&folder.0)]);
        words.extend_from_slice(arguments);
        let client = ends.namespace(End::Client as usize);
        let mut program = Program::start(client, &words, Attachment::Background, &Runner::Own, None, None)?;
        let start = Instant::now();
        // The agent prints `the agent runs` as soon as new connections are handled.
        while !fs::read_to_string(&messages).is_ok_and(|text| text.contains("the agent runs")) {
            if program.try_wait()?.is_some() || start.elapsed() > START_TIMEOUT {
                let text = fs::read_to_string(&messages).unwrap_or_default();
                return Err(SystemError {
                    message: format!("the agent did not start: {}", text.trim()),
                    help: "run `lasthop doctor` to check the agent's needs".to_owned(),
                });
            }
            sleep(Duration::from_millis(5));
        }
        Ok(Companion { _program: program, _folder: folder })
    }
}

impl PrivateFolder {
    fn create() -> io::Result<PrivateFolder> {
        let nanos = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
        let name = format!("lasthop-measure-{}-{nanos}", std::process::id());
        let folder = PrivateFolder(std::env::temp_dir().join(name));
        // Only this user may enter the folder. Creation fails if the folder already exists.
        DirBuilder::new().mode(0o700).create(&folder.0)?;
        Ok(folder)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(what: &str, error: &io::Error) -> SystemError {
    SystemError {
        message: format!("cannot {what}: {error}"),
        help: "see the system's error above".to_owned(),
    }
}
