//! Lazily created [`Sender`]: an endpoint that only receives never allocates a sender.

use super::application::Application;
use super::congestion::Steer;
use super::peer::InitialWindow;
use super::{Limit, Sender};
use lasthop_base::{Duration, Time};
use std::cell::OnceCell;

/// The part of the sending half that the endpoint reads for every segment. A [`PendingSender`] holds the other state
/// until the sender is created.
#[repr(C)]
pub(crate) struct SendingHalf {
    /// Sender, created when data is first sent or when its state is first read. From then on, the sender holds the
    /// whole state of the sending half.
    sender: OnceCell<Box<Sender>>,
    initial_window: InitialWindow,
}

pub(crate) struct PendingSender {
    application: Application,
    /// Time of the first poll that found nothing to send; [`Time::NEVER`] before this poll.
    idle_since: Time,
    /// `None` until the handshake is complete. The inner value is the handshake's round-trip time, if measured.
    handshake: Option<Option<Duration>>,
    /// Lower bound of the initial RTO; `None` unless the SYN was retransmitted (RFC 6298 §5.7).
    first_timeout: Option<Duration>,
    mss: u32,
    /// Order from outside that takes effect when the connection opens.
    order: Option<Box<Steer>>,
}

impl PendingSender {
    pub(crate) fn new(mss: u32) -> PendingSender {
        // Nagle's algorithm is off here, because the created `Sender` takes the setting from its configuration.
        let application = Application::new(false);
        let idle_since = Time::NEVER;
        PendingSender { application, idle_since, handshake: None, first_timeout: None, mss, order: None }
    }

    pub(crate) fn note_nothing_to_send(&mut self, now: Time) {
        self.idle_since = self.idle_since.min(now);
    }
}

impl SendingHalf {
    pub(crate) fn new() -> SendingHalf {
        SendingHalf { sender: OnceCell::new(), initial_window: InitialWindow::default() }
    }

    #[inline(always)]
    pub(crate) fn sender(&self) -> Option<&Sender> {
        self.sender.get().map(|sender| &**sender)
    }

    #[inline(always)]
    pub(crate) fn sender_mut(&mut self) -> Option<&mut Sender> {
        self.sender.get_mut().map(|sender| &mut **sender)
    }

    pub(crate) fn get_or_create(
        &self,
        pending_sender: &PendingSender,
        make: impl FnOnce(u32) -> Sender,
    ) -> &Sender {
        self.sender.get_or_init(|| {
            let mut sender = make(pending_sender.mss);
            sender.application.copy_data(&pending_sender.application);
            sender.peer = self.initial_window.peer();
            if let Some(timeout) = pending_sender.first_timeout {
                sender.set_first_timeout(timeout);
            }
            if let Some(rtt) = pending_sender.handshake {
                sender.measure_handshake(rtt);
            }
            if pending_sender.idle_since != Time::NEVER {
                sender.set_limit(pending_sender.idle_since, Limit::Application);
            }
            if let (Some(order), Some(_)) = (&pending_sender.order, pending_sender.handshake) {
                sender.steer(Time::ZERO, order);
            }
            Box::new(sender)
        })
    }

    /// Returns the sender that [`SendingHalf::get_or_create`] created earlier.
    pub(crate) fn created(&mut self) -> &mut Sender {
        match self.sender.get_mut() {
            Some(sender) => sender,
            None => unreachable!("no sender: call `get_or_create` first"),
        }
    }

    /// Changes the segment size to `mss` before anything was sent. Drops an existing sender, which is created anew when
    /// it is needed.
    pub(crate) fn discard_sender(&mut self, pending_sender: &mut PendingSender, mss: u32) {
        if let Some(sender) = self.sender.take() {
            pending_sender.application = sender.application;
        }
        pending_sender.mss = mss;
        self.initial_window = InitialWindow::default();
    }

    pub(crate) fn write(&mut self, pending_sender: &mut PendingSender, bytes: u64) {
        match self.sender.get_mut() {
            Some(sender) => sender.write(bytes),
            None => pending_sender.application.write(bytes),
        }
    }

    pub(crate) fn unsent(&self, pending_sender: &PendingSender) -> u64 {
        self.sender().map_or(pending_sender.application.written() - 1, Sender::unsent)
    }

    /// Ends the handshake: sets the peer's window, the round-trip time, and a lower bound of the RTO (`first_timeout`).
    pub(crate) fn open(
        &mut self,
        pending_sender: &mut PendingSender,
        window: u64,
        rtt: Option<Duration>,
        first_timeout: Option<Duration>,
    ) {
        self.initial_window.update_from(0, window);
        (pending_sender.handshake, pending_sender.first_timeout) = (Some(rtt), first_timeout);
        if let Some(sender) = self.sender.get_mut() {
            if let Some(timeout) = first_timeout {
                sender.set_first_timeout(timeout);
            }
            sender.peer = self.initial_window.peer();
            sender.measure_handshake(rtt);
            if let Some(order) = pending_sender.order.take() {
                sender.steer(Time::ZERO, &order);
            }
        }
    }

    /// Passes an order from outside to congestion control, as soon as the connection is open.
    pub(crate) fn steer(&mut self, pending_sender: &mut PendingSender, now: Time, order: &Steer) {
        match self.sender.get_mut().filter(|_| pending_sender.handshake.is_some()) {
            Some(sender) => sender.steer(now, order),
            None => {
                let earlier = pending_sender.order.take().map_or(Steer::default(), |earlier| *earlier);
                pending_sender.order = Some(Box::new(order.over(earlier)));
            }
        }
    }

    /// Handles the peer's segment at offset `at`, which acknowledges `ack` and advertises `window` bytes.
    #[inline(always)]
    pub(crate) fn update_window(&mut self, at: u64, ack: u64, window: u64) {
        match self.sender_mut() {
            Some(sender) => sender.update_window(at, ack, window),
            None => {
                debug_assert!(ack == 1, "nothing was sent");
                self.update_initial_window(at, window);
            }
        }
    }

    /// Does the work of [`SendingHalf::update_window`] while no sender exists. The segment then acknowledges only the
    /// SYN.
    #[inline(always)]
    pub(crate) fn update_initial_window(&mut self, at: u64, window: u64) {
        self.initial_window.update_from(at, window);
    }

    #[inline(always)]
    pub(crate) fn una(&self) -> u64 {
        self.sender().map_or(1, |sender| sender.scoreboard.una())
    }

    #[inline(always)]
    pub(crate) fn nxt(&self) -> u64 {
        self.sender().map_or(1, |sender| sender.scoreboard.nxt())
    }

    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u64 {
        self.sender().map_or(0, |sender| sender.scoreboard.outstanding())
    }

    pub(crate) fn oldest_ack(&self) -> u64 {
        self.sender()
            .map_or(1_u64.saturating_sub(self.initial_window.peer().largest_window()), Sender::oldest_ack)
    }

    pub(crate) fn may_acknowledge(&self) -> u64 {
        self.sender().map_or(1, Sender::may_acknowledge)
    }

    pub(crate) fn segment(&self, pending_sender: &PendingSender) -> u64 {
        self.sender().map_or(u64::from(pending_sender.mss), Sender::segment)
    }

    #[inline(always)]
    pub(crate) fn timer(&self) -> Time {
        self.sender().map_or(Time::NEVER, Sender::timer)
    }

    #[inline(always)]
    pub(crate) fn is_sooner(&self) -> bool {
        self.sender().is_some_and(Sender::is_sooner)
    }
}
