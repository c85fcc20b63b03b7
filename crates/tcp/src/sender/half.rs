//! Lazily created [`Sender`]: an endpoint that only receives never allocates one.

use super::application::Application;
use super::peer::Told;
use super::{Limit, Sender};
use lasthop_base::{Duration, Time};
use std::cell::OnceCell;

/// The part of the sending half that every segment touches. A [`Beginning`] holds the rest until the sender is created.
#[repr(C)]
pub(crate) struct SendingHalf {
    /// Created with the first data to send, or when inspected. Once created, this sender is authoritative.
    made: OnceCell<Box<Sender>>,
    told: Told,
}

pub(crate) struct Beginning {
    application: Application,
    /// Time since which there was nothing to send; [`Time::NEVER`]: not polled yet.
    silent_since: Time,
    /// Set after the handshake: its round-trip time, if measured.
    handshake: Option<Option<Duration>>,
    /// Initial timeout, if the handshake was retransmitted.
    careful: Option<Duration>,
    mss: u32,
}

impl Beginning {
    pub(crate) fn new(mss: u32) -> Beginning {
        // The sender sets Nagle's algorithm.
        let application = Application::new(false);
        Beginning { application, silent_since: Time::NEVER, handshake: None, careful: None, mss }
    }

    pub(crate) fn note_silence(&mut self, now: Time) {
        self.silent_since = self.silent_since.min(now);
    }
}

impl SendingHalf {
    pub(crate) fn new() -> SendingHalf {
        SendingHalf { made: OnceCell::new(), told: Told::default() }
    }

    #[inline(always)]
    pub(crate) fn made(&self) -> Option<&Sender> {
        self.made.get().map(|sender| &**sender)
    }

    #[inline(always)]
    pub(crate) fn made_mut(&mut self) -> Option<&mut Sender> {
        self.made.get_mut().map(|sender| &mut **sender)
    }

    pub(crate) fn get_or_make(&self, beginning: &Beginning, make: impl FnOnce(u32) -> Sender) -> &Sender {
        self.made.get_or_init(|| {
            let mut sender = make(beginning.mss);
            sender.application.take_over(&beginning.application);
            sender.peer = self.told.peer();
            if let Some(timeout) = beginning.careful {
                sender.begin_carefully(timeout);
            }
            if let Some(rtt) = beginning.handshake {
                sender.measure_handshake(rtt);
            }
            if beginning.silent_since != Time::NEVER {
                sender.wait_for(beginning.silent_since, Limit::Application);
            }
            Box::new(sender)
        })
    }

    /// The sender that [`SendingHalf::get_or_make`] has created.
    pub(crate) fn just_made(&mut self) -> &mut Sender {
        match self.made.get_mut() {
            Some(sender) => sender,
            None => unreachable!("no sender: call `get_or_make` first"),
        }
    }

    /// Changes the segment size to `mss` before anything was sent: drops the sender, to be created again.
    pub(crate) fn begin_anew(&mut self, beginning: &mut Beginning, mss: u32) {
        if let Some(sender) = self.made.take() {
            beginning.application = sender.application;
        }
        beginning.mss = mss;
        self.told = Told::default();
    }

    pub(crate) fn write(&mut self, beginning: &mut Beginning, bytes: u64) {
        match self.made.get_mut() {
            Some(sender) => sender.write(bytes),
            None => beginning.application.write(bytes),
        }
    }

    pub(crate) fn unsent(&self, beginning: &Beginning) -> u64 {
        self.made().map_or(beginning.application.written() - 1, Sender::unsent)
    }

    /// The handshake is over: the peer's window, the round-trip time, and (`careful`) the least timeout.
    pub(crate) fn open(
        &mut self,
        beginning: &mut Beginning,
        window: u64,
        rtt: Option<Duration>,
        careful: Option<Duration>,
    ) {
        self.told.admit_from(0, window);
        (beginning.handshake, beginning.careful) = (Some(rtt), careful);
        if let Some(sender) = self.made.get_mut() {
            if let Some(timeout) = careful {
                sender.begin_carefully(timeout);
            }
            sender.peer = self.told.peer();
            sender.measure_handshake(rtt);
        }
    }

    /// A segment of the peer at offset `at` acknowledges `ack` and advertises `window` bytes.
    #[inline(always)]
    pub(crate) fn hear_window(&mut self, at: u64, ack: u64, window: u64) {
        match self.made_mut() {
            Some(sender) => sender.hear_window(at, ack, window),
            None => {
                debug_assert!(ack == 1, "nothing was sent");
                self.hear_in_silence(at, window);
            }
        }
    }

    /// As [`SendingHalf::hear_window`] while no sender exists, so that the segment acknowledges only the SYN.
    #[inline(always)]
    pub(crate) fn hear_in_silence(&mut self, at: u64, window: u64) {
        self.told.admit_from(at, window);
    }

    #[inline(always)]
    pub(crate) fn una(&self) -> u64 {
        self.made().map_or(1, |sender| sender.board.una())
    }

    #[inline(always)]
    pub(crate) fn nxt(&self) -> u64 {
        self.made().map_or(1, |sender| sender.board.nxt())
    }

    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u64 {
        self.made().map_or(0, |sender| sender.board.outstanding())
    }

    pub(crate) fn oldest_ack(&self) -> u64 {
        self.made().map_or(1_u64.saturating_sub(self.told.peer().largest_window()), Sender::oldest_ack)
    }

    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.made().map_or(1, Sender::may_acknowledge)
    }

    pub(crate) fn segment(&self, beginning: &Beginning) -> u64 {
        self.made().map_or(u64::from(beginning.mss), Sender::segment)
    }

    #[inline(always)]
    pub(crate) fn timer(&self) -> Time {
        self.made().map_or(Time::NEVER, Sender::timer)
    }

    #[inline(always)]
    pub(crate) fn is_sooner(&self) -> bool {
        self.made().is_some_and(Sender::is_sooner)
    }
}
