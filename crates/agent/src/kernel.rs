//! User space side of the kernel program: writes requests and heartbeats.

use crate::daemon::{Options, Path, Shared, TIDYING};
use crate::hook::Hook;
use crate::program::{MOST_PIECES, Program};
use crate::settings::Settings;
use lasthop_base::{Duration, Time};
use lasthop_os::SystemError;
use lasthop_tcp::receiver::ack_splitting::FixedSplit;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::thread::sleep;

/// Events within this time form a batch.
const BATCH: std::time::Duration = std::time::Duration::from_millis(1);
/// Interval of heartbeats; the program tolerates ten times as much.
const BEAT: Duration = Duration::from_millis(BEAT_MILLIS as u64);
const BEAT_MILLIS: u8 = 20;
/// Idle time after which the loop waits for a wake-up instead of polling every [`BATCH`].
const QUIET: Duration = Duration::from_millis(20);

/// Starts the program; if that fails with [`Path::Auto`], returns the reason instead.
pub(crate) fn program(options: &Options) -> Result<(Option<Program>, Option<String>), SystemError> {
    if options.path == Path::Nfqueue {
        return Ok((None, None));
    }
    let begun = match obstacle(&options.settings) {
        Some(message) => {
            Err(SystemError { message, help: "omit the option --path, or use --path nfqueue".to_owned() })
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

fn obstacle(settings: &Settings) -> Option<String> {
    if settings.loss_discrimination.is_some() {
        return Some("loss discrimination (--loss-discrimination) works outside the kernel only".to_owned());
    }
    match settings.pieces() {
        Some(FixedSplit { count: 1..=MOST_PIECES, .. }) => None,
        Some(_) => Some(format!("the kernel program sends at most {MOST_PIECES} ACKs per kernel ACK")),
        None => Some("the kernel program needs a fixed number of ACKs per kernel ACK".to_owned()),
    }
}

/// Processes events, writes requests and sends heartbeats, in this order.
pub(crate) fn watch(shared: &Shared) -> io::Result<()> {
    let Some(files) = shared.core().program.as_ref().map(Program::news).transpose()? else {
        return Ok(());
    };
    let (mut tidied, mut beaten, mut heard, mut silent_for) = (Time::ZERO, None, Time::ZERO, QUIET);
    loop {
        if silent_for > QUIET {
            // Wakes for a new or ended connection, a device change, or the next heartbeat.
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
        // No program: the agent is about to end.
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
