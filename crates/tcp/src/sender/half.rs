//! The sending half as its endpoint has it: nothing but what a [`Sender`] begins with, until there is something to send.
//!
//! An end that only receives never has one: what arrives touches nothing of it, and takes no room.

use super::application::Application;
use super::peer::Told;
use super::{Limit, Sender};
use lasthop_base::{Duration, Time};
use std::cell::OnceCell;

/// A sender, or none so far: what every segment touches. The rest of what it will begin with is a [`Beginning`].
#[repr(C)]
pub(crate) struct SendingHalf {
    /// Made with the first that is to be sent, or when somebody looks at it. From then on it alone counts.
    made: OnceCell<Box<Sender>>,
    told: Told,
}

/// What a sender will begin with.
pub(crate) struct Beginning {
    /// What was written before the connection was open.
    application: Application,
    /// Since when there was nothing to send; [`Time::NEVER`]: nobody has asked yet.
    silent_since: Time,
    /// Once the handshake is over: its round-trip time, if that can be told.
    handshake: Option<Option<Duration>>,
    /// The timeout with which data begins, if the handshake had to be repeated.
    careful: Option<Duration>,
    mss: u32,
}

impl Beginning {
    /// Nothing is written; a full segment will have `mss` bytes.
    pub(crate) fn new(mss: u32) -> Beginning {
        // Whether short segments wait is the sender's to know.
        let application = Application::new(false);
        Beginning { application, silent_since: Time::NEVER, handshake: None, careful: None, mss }
    }

    /// There is no sender, and it was asked what goes out.
    pub(crate) fn note_silence(&mut self, now: Time) {
        self.silent_since = self.silent_since.min(now);
    }
}

impl SendingHalf {
    pub(crate) fn new() -> SendingHalf {
        SendingHalf { made: OnceCell::new(), told: Told::default() }
    }

    /// The sender, if there is one.
    #[inline(always)]
    pub(crate) fn made(&self) -> Option<&Sender> {
        self.made.get().map(|sender| &**sender)
    }

    /// The same, to change it.
    #[inline(always)]
    pub(crate) fn made_mut(&mut self) -> Option<&mut Sender> {
        self.made.get_mut().map(|sender| &mut **sender)
    }

    /// The sender; if there is none yet, this one with what has happened so far.
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

    /// The sender that [`SendingHalf::get_or_make`] has made.
    pub(crate) fn just_made(&mut self) -> &mut Sender {
        match self.made.get_mut() {
            Some(sender) => sender,
            None => unreachable!("whoever asks for it has made it"),
        }
    }

    /// Nothing was sent yet, and full segments will have `mss` bytes: a sender is made anew when it is needed.
    pub(crate) fn begin_anew(&mut self, beginning: &mut Beginning, mss: u32) {
        if let Some(sender) = self.made.take() {
            beginning.application = sender.application;
        }
        beginning.mss = mss;
        self.told = Told::default();
    }

    /// The application has `bytes` more to send once the connection is open.
    pub(crate) fn write(&mut self, beginning: &mut Beginning, bytes: u64) {
        match self.made.get_mut() {
            Some(sender) => sender.write(bytes),
            None => beginning.application.write(bytes),
        }
    }

    /// What is written and was not sent yet, bytes.
    pub(crate) fn unsent(&self, beginning: &Beginning) -> u64 {
        self.made().map_or(beginning.application.written() - 1, Sender::unsent)
    }

    /// The handshake is over: the window that the peer told, and its round-trip time. `careful`: the least timeout.
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

    /// A segment of the peer at offset `at` that acknowledges `ack` tells the window, bytes.
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

    /// The same of a segment that acknowledges nothing but the SYN, while there is no sender.
    #[inline(always)]
    pub(crate) fn hear_in_silence(&mut self, at: u64, window: u64) {
        self.told.admit_from(at, window);
    }

    /// The first byte that is not acknowledged.
    #[inline(always)]
    pub(crate) fn una(&self) -> u64 {
        self.made().map_or(1, |sender| sender.board.una())
    }

    /// The first byte that was not sent yet.
    #[inline(always)]
    pub(crate) fn nxt(&self) -> u64 {
        self.made().map_or(1, |sender| sender.board.nxt())
    }

    /// Bytes sent and not acknowledged.
    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u64 {
        self.made().map_or(0, |sender| sender.board.outstanding())
    }

    /// See [`Sender::oldest_ack`].
    pub(crate) fn oldest_ack(&self) -> u64 {
        self.made().map_or(1_u64.saturating_sub(self.told.peer().largest_window()), Sender::oldest_ack)
    }

    /// See [`Sender::may_acknowledge`].
    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.made().map_or(1, Sender::may_acknowledge)
    }

    /// Payload of a full segment, bytes.
    pub(crate) fn segment(&self, beginning: &Beginning) -> u64 {
        self.made().map_or(u64::from(beginning.mss), Sender::segment)
    }

    /// When the sender's timer expires.
    #[inline(always)]
    pub(crate) fn timer(&self) -> Time {
        self.made().map_or(Time::NEVER, Sender::timer)
    }

    /// See [`Sender::is_sooner`].
    #[inline(always)]
    pub(crate) fn is_sooner(&self) -> bool {
        self.made().is_some_and(Sender::is_sooner)
    }
}
