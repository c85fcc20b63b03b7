//! The kernel decides, by a program of ours: here its wishes are written, and it is told that somebody is there.

use crate::daemon::{Options, Path, Shared, TIDYING};
use crate::hook::Hook;
use crate::program::{MOST_PIECES, Program};
use crate::settings::Settings;
use lasthop_base::{Duration, Time};
use lasthop_os::SystemError;
use lasthop_tcp::receiver::shape::Pieces;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::thread::sleep;

/// Packets are looked at together that arrive within this time: each wish holds for many ACKs.
const BATCH: std::time::Duration = std::time::Duration::from_millis(1);
/// How often the program is told that somebody is there; it waits ten times as long.
const BEAT: Duration = Duration::from_millis(BEAT_MILLIS as u64);
const BEAT_MILLIS: u8 = 20;
/// When nothing has been heard for so long we wait to be woken; until then we look after each [`BATCH`].
const QUIET: Duration = Duration::from_millis(20);

/// The program, and why there is none if there could be one.
pub(crate) fn program(options: &Options) -> Result<(Option<Program>, Option<String>), SystemError> {
    if options.path == Path::Nfqueue {
        return Ok((None, None));
    }
    let begun = match obstacle(&options.settings) {
        Some(message) => {
            Err(SystemError { message, help: "leave --path away, or use --path nfqueue".to_owned() })
        }
        None => Program::start(match options.path {
            Path::Clsact => Hook::Clsact,
            _ => Hook::of_kernel(),
        }),
    };
    match begun {
        Ok(program) => Ok((Some(program), None)),
        Err(error) if options.path != Path::Auto => Err(error),
        Err(error) => Ok((None, Some(error.message))),
    }
}

/// Why the program cannot do what is wanted.
fn obstacle(settings: &Settings) -> Option<String> {
    if settings.cause.is_some() {
        return Some("with a judge each ACK is decided on outside the kernel".to_owned());
    }
    match settings.pieces() {
        Some(Pieces { count: 1..=MOST_PIECES, .. }) => None,
        Some(_) => Some(format!("the kernel's program makes no more than {MOST_PIECES} ACKs of one")),
        None => Some("the kernel's program makes a fixed number of ACKs of one".to_owned()),
    }
}

/// Looks at packets, writes wishes, and says that somebody is there once all is looked at.
pub(crate) fn watch(shared: &Shared) -> io::Result<()> {
    let Some(files) = shared.core().program.as_ref().map(Program::news).transpose()? else {
        return Ok(());
    };
    let (mut tidied, mut beaten, mut heard, mut silent_for) = (Time::ZERO, None, Time::ZERO, QUIET);
    loop {
        if silent_for > QUIET {
            // Until a connection begins or ends, a device comes, or the next beat is due: nothing else wakes us.
            let mut polled = files.each_ref().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN));
            let _ = poll(&mut polled, PollTimeout::from(BEAT_MILLIS));
        }
        let mut locked = shared.core();
        let (now, has_heard) = locked.hear(&shared.clock)?;
        heard = if has_heard { now } else { heard };
        silent_for = now.since(heard);
        if now.since(tidied) > TIDYING {
            locked.table.tidy(now);
            tidied = now;
        }
        let core = &mut *locked;
        // Without a program the agent is about to end.
        let Some(program) = &mut core.program else { return Ok(()) };
        program.follow();
        for key in core.table.forgotten() {
            program.forget(&key);
        }
        core.table.wishes(|key, wish| program.wish(key, wish))?;
        if beaten.is_none_or(|beaten| now.since(beaten) >= BEAT) {
            beaten = Some(now);
            program.beat()?;
        }
        drop(locked);
        sleep(BATCH);
    }
}
