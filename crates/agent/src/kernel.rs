//! User-space side of the kernel program: sends requests and heartbeats to the program.

use crate::daemon::{AgentOptions, CLEANUP_INTERVAL, DataPath, Shared};
use crate::hook::Hook;
use crate::program::{MAX_PIECES, Program};
use crate::settings::AckSettings;
use lasthop_base::{Duration, Time};
use lasthop_os::SystemError;
use lasthop_tcp::receiver::ack_splitting::FixedSplit;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;
use std::thread::sleep;

/// Packet events within this time are processed as one batch.
const BATCH: std::time::Duration = std::time::Duration::from_millis(1);
/// Interval between two heartbeats. After the last heartbeat, the program continues to work for ten times this
/// interval.
const HEARTBEAT_INTERVAL: Duration = Duration::from_millis(HEARTBEAT_INTERVAL_MS as u64);
const HEARTBEAT_INTERVAL_MS: u8 = 20;
/// Idle time after which the loop waits for an event or the next heartbeat, instead of checking for events at every
/// [`BATCH`].
const QUIET: Duration = Duration::from_millis(20);

/// Starts the program. If the start fails with [`DataPath::Auto`], returns the reason for the failure instead of an
/// error.
pub(crate) fn program(options: &AgentOptions) -> Result<(Option<Program>, Option<String>), SystemError> {
    if options.path == DataPath::Nfqueue {
        return Ok((None, None));
    }
    let begun = match obstacle(&options.settings) {
        Some(message) => {
            Err(SystemError { message, help: "omit the option --path, or use --path nfqueue".to_owned() })
        }
        None => Program::start(match options.path {
            DataPath::Clsact => Hook::Clsact,
            _ => Hook::of_kernel(),
        }),
    };
    match begun {
        Ok(program) => Ok((Some(program), None)),
        Err(error) if options.path != DataPath::Auto => Err(error),
        Err(error) => Ok((None, Some(error.message))),
    }
}

fn obstacle(settings: &AckSettings) -> Option<String> {
    if settings.loss_discrimination.is_some() {
        return Some("loss discrimination (--loss-discrimination) works outside the kernel only".to_owned());
    }
    match settings.pieces() {
        Some(FixedSplit { count: 1..=MAX_PIECES, .. }) => None,
        Some(_) => Some(format!("the kernel program sends at most {MAX_PIECES} ACKs per kernel ACK")),
        None => Some("the kernel program needs a fixed number of ACKs per kernel ACK".to_owned()),
    }
}

/// Processes events, writes requests and sends heartbeats, in this order.
pub(crate) fn watch(shared: &Shared) -> io::Result<()> {
    let Some(files) = shared.core().program.as_ref().map(Program::poll_files).transpose()? else {
        return Ok(());
    };
    let (mut last_cleanup, mut last_heartbeat, mut last_event, mut silent_for) =
        (Time::ZERO, None, Time::ZERO, QUIET);
    loop {
        if silent_for > QUIET {
            // The poll returns for a new or ended connection, for a device change, or when the next heartbeat is due.
            let mut polled = files.each_ref().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN));
            let _ = poll(&mut polled, PollTimeout::from(HEARTBEAT_INTERVAL_MS));
        }
        let mut locked = shared.core();
        let (now, has_events) = locked.process_events(&shared.clock)?;
        last_event = if has_events { now } else { last_event };
        silent_for = now.since(last_event);
        if now.since(last_cleanup) > CLEANUP_INTERVAL {
            locked.table.remove_closed(now);
            last_cleanup = now;
        }
        let core = &mut *locked;
        // The agent removes the program when the agent is about to end.
        let Some(program) = &mut core.program else { return Ok(()) };
        program.update_devices();
        for key in core.table.take_closed() {
            program.remove_request(&key);
        }
        core.table.take_requests(|key, request| program.write_request(key, request))?;
        if last_heartbeat.is_none_or(|last| now.since(last) >= HEARTBEAT_INTERVAL) {
            last_heartbeat = Some(now);
            program.send_heartbeat()?;
        }
        drop(locked);
        sleep(BATCH);
    }
}
