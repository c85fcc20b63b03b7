//! Effects of an ACK, in the order of the RFCs.
//!
//! [`Sender::conclude`] is generic and becomes three functions. `QUIET` omits repairs: nothing is lost, reported or
//! retransmitted. `PLAIN` also omits observers and rate samples: the ACK covers exactly the first segment.

use super::congestion::{AckEvent, Phase, Recovered};
use super::loss_discrimination::{Heard, Measured};
use super::rate::RateSample;
use super::recovery::{AckNews, Step};
use super::repair::{Answer, Echo, end_of_echo};
use super::scoreboard::Acked;
use super::{Ack, Sender};
use crate::endpoint::stamps::{peer_time, since_echo};
use crate::event::Log;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use lasthop_wire::Timestamps;

struct Taken {
    acked: Acked,
    /// Bytes that SACK newly reports.
    reported: u64,
    advanced: bool,
    /// Whether a later ACK overtook this one.
    is_old: bool,
    duplicate: bool,
    /// Whether the ACK reports data that arrived twice (D-SACK).
    twice: bool,
    /// Whether the ACK reports data that was outstanding at the timeout in question and was sent once.
    original: bool,
    /// Sending time of the oldest newly reported segment, if SACK yields round-trip samples.
    reported_at: Option<Time>,
}

struct Concluded {
    step: Step,
    /// The last step: a second one may have begun a recovery.
    entered: Step,
    lost: u64,
}

impl Ack<'_> {
    #[inline(always)]
    fn echoed_rtt(&self, now: Time) -> Option<Duration> {
        self.stamps.and_then(|stamps| since_echo(now, self.tick, stamps.echo))
    }

    #[inline(always)]
    fn clock(&self, now: Time) -> Option<Time> {
        self.stamps.map(|stamps| peer_time(now, self.tick, stamps.value))
    }

    /// Whether the first block is a D-SACK: below the ACK, or inside the second block (RFC 2883 §4).
    fn says_duplicate(&self) -> bool {
        let Some(first) = self.sack.first().filter(|first| !first.is_empty()) else { return false };
        let holds = |second: &Range| second.start <= first.start && first.end <= second.end;
        first.end <= self.ack || self.sack.get(1).is_some_and(holds)
    }
}

impl Sender {
    /// Handles an acceptable ACK (`oldest_ack() <= ack <= may_acknowledge()`). Below `una` only its SACK blocks count.
    pub(crate) fn handle_ack(&mut self, now: Time, ack: &Ack<'_>, log: &mut Log) {
        let advanced = ack.ack > self.board.una();
        let was_outstanding = self.board.outstanding() > 0;
        let is_old = ack.ack < self.board.una();
        let same_window = !is_old && ack.window == self.peer.window();
        if !is_old {
            self.hear_window(ack.at, ack.ack, ack.window);
        }
        if ack.ack > self.board.nxt() {
            self.probe_was_taken(now);
        }
        let thaws = self.persist.is_frozen() && self.peer.window() > 0;
        if self.is_calm() && ack.sack.is_empty() && !ack.ece {
            if advanced {
                return self.advance_whole(now, ack, log);
            }
            if !was_outstanding {
                // A peer that only sends: each of its segments carries such an ACK.
                return;
            }
        }
        let taken = self.take_in(ack, same_window, log);
        self.conclude::<false, false>(now, ack, &taken, log);
        if thaws {
            self.thaw(now);
        }
    }

    #[inline(never)]
    fn advance_whole(&mut self, now: Time, ack: &Ack<'_>, log: &mut Log) {
        self.advance(now, *ack, log);
    }

    /// A new ACK on the fast path, usually of exactly the first segment, without observers.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Time, ack: Ack<'_>, log: &mut Log) {
        let Ack { stamps, tick, marked, .. } = ack;
        if self.watches {
            return self.advance_any(now, ack.ack, (stamps, tick), marked, log);
        }
        let bytes = ack.ack - self.board.una();
        let Some(sent_at) = self.board.acknowledge_first(ack.ack) else {
            return self.advance_any(now, ack.ack, (stamps, tick), marked, log);
        };
        let acked = Acked { bytes, segments: 1, delivered: bytes, sent_at: Some(sent_at) };
        self.conclude::<true, true>(now, &ack, &Taken::new_data(acked), log);
    }

    /// [`Sender::advance`] for other ACKs, or with observers. Takes only the fields read, to avoid copying the ACK.
    #[inline(never)]
    fn advance_any(
        &mut self,
        now: Time,
        ack: u64,
        (stamps, tick): (Option<Timestamps>, u64),
        marked: u32,
        log: &mut Log,
    ) {
        self.board.begin_ack();
        let acked = self.board.acknowledge(ack);
        let ack = Ack { ack, stamps, tick, marked, ..Ack::BARE };
        self.conclude::<true, false>(now, &ack, &Taken::new_data(acked), log);
    }

    /// The receiver accepted the byte of a window probe. The byte counts as sent now, perhaps more than once.
    fn probe_was_taken(&mut self, now: Time) {
        let start = self.board.nxt();
        self.board.sent_new(1, now);
        self.board.sent_rescue(start, now);
    }

    #[inline(always)]
    fn take_in(&mut self, ack: &Ack<'_>, same_window: bool, log: &mut Log) -> Taken {
        let advanced = ack.ack > self.board.una();
        // An old ACK may have left the receiver before a timeout or another conclusion: no round-trip sample.
        let is_old = ack.ack < self.board.una();
        let was_outstanding = self.board.outstanding() > 0;
        self.board.begin_ack();
        let original = self.repair.tells_of_original(ack, &self.board);
        let acked = if advanced { self.board.acknowledge(ack.ack) } else { Acked::default() };
        self.reductions.reach(ack.ack);
        let twice = ack.says_duplicate();
        if twice {
            self.hear_duplicate(log);
        }
        let mut reported = 0;
        if self.repair.recovery().uses_sack() {
            for block in ack.sack {
                reported += self.board.sack(*block);
            }
        }
        let duplicate = match self.repair.recovery().uses_sack() && ack.selective {
            true => reported > 0,
            false => !advanced && was_outstanding && !ack.carries_data && same_window,
        };
        if duplicate {
            log.frequent.duplicate_acks += 1;
        }
        let reported_at =
            if self.repair.samples_sack() && !is_old { self.board.oldest_reported() } else { None };
        Taken { acked, reported, advanced, is_old, duplicate, twice, original, reported_at }
    }

    #[cold]
    #[inline(never)]
    fn hear_duplicate(&mut self, log: &mut Log) {
        log.rare().duplicates_reported += 1;
        self.window.on_told_twice();
        self.repair.on_told_twice();
    }

    /// Consequences of an ACK; see the head of this file for `QUIET` and `PLAIN`.
    #[inline(always)]
    fn conclude<const QUIET: bool, const PLAIN: bool>(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        taken: &Taken,
        log: &mut Log,
    ) {
        let sent_before = if QUIET { None } else { self.doubt_repairs(now, ack, taken, log) };
        let rtt = self.measure::<QUIET>(now, ack, taken);
        let certain = !QUIET && self.ask_judge(now, ack, taken);
        let watches = !PLAIN && (!QUIET || self.watches);
        let is_heard = taken.advanced || taken.duplicate;
        if watches && self.observes && is_heard {
            let news = self.news::<QUIET>(now, ack, taken, certain, rtt, sent_before);
            self.observe(&news);
        }
        let delivered = taken.acked.delivered + taken.reported;
        let mut rate = match &mut self.rates {
            Some(rates) if watches => rates.sample(now, delivered, &self.board, self.rtt.smallest()),
            _ => None,
        };
        let news = (!QUIET).then(|| self.news::<QUIET>(now, ack, taken, certain, rtt, sent_before));
        let concluded = match &news {
            None => Concluded { step: Step::Same, entered: Step::Same, lost: 0 },
            Some(news) => self.consult(now, ack, news, &mut rate, log),
        };
        let Concluded { step, entered, .. } = concluded;
        if is_heard {
            let is_unused = match &mut self.usage {
                Some(usage) if watches => {
                    let (acked, full) = (taken.acked.bytes, self.fits);
                    usage.leaves_unused(now, acked, full, &self.rtt, &self.board, &self.window)
                }
                _ => false,
            };
            let held = (!QUIET && ack.ece) || is_unused;
            let rate = if PLAIN { None } else { rate.as_ref() };
            let event = AckEvent { rtt, held, rate, ..self.event::<QUIET>(now, ack, taken, &concluded) };
            self.grow::<QUIET>(&event, watches);
        }
        if taken.advanced {
            self.restart_timer::<QUIET>(now, step, taken.acked.sent_at);
        } else if taken.reported_at < self.board.first_sent_at() && taken.reported_at.is_some() {
            // Later segments must not postpone the first hole's timeout (netdev, "tcp: do not rearm RTO when future
            // data are sacked", 2013).
            self.arm(now);
        }
        if let Some(news) = &news {
            if ack.ece {
                self.hold_back(now);
            }
            self.take_stock();
            if self.reductions.is_gradual() {
                let (target, told) = (self.window.bytes(), (delivered, taken.reported));
                self.reductions.come_down(entered, news, told, target, self.repair.recovery(), &self.board);
            }
        }
    }

    #[inline(always)]
    fn news<const QUIET: bool>(
        &self,
        now: Time,
        ack: &Ack<'_>,
        taken: &Taken,
        certain: bool,
        rtt: Option<Duration>,
        sent_before: Option<Time>,
    ) -> AckNews {
        let times = !QUIET && self.repair.needs_times();
        AckNews {
            now,
            acked: taken.acked.bytes,
            duplicate: taken.duplicate,
            twice: taken.twice,
            certain,
            rtt,
            clock: if self.observes { ack.clock(now) } else { None },
            sent_before,
            rtts: if times { self.rtt.srtt().zip(self.rtt.smallest()) } else { None },
            mss: self.mss,
        }
    }

    /// Builds the event for congestion control after recovery has concluded; `rtt`, `rate` and `held` are left unset.
    #[inline(always)]
    fn event<const QUIET: bool>(
        &self,
        now: Time,
        ack: &Ack<'_>,
        taken: &Taken,
        concluded: &Concluded,
    ) -> AckEvent<'static> {
        let leaves = concluded.step == Step::Leave;
        let counts_end = leaves && self.window.counts_end();
        AckEvent {
            now,
            phase: match leaves && !counts_end {
                true => Phase::Recovery,
                false if QUIET => Phase::Open,
                false => self.phase(),
            },
            una: self.board.una(),
            nxt: self.board.nxt(),
            // Bytes that SACK reported during the recovery do not count again.
            acked: if counts_end { taken.acked.delivered } else { taken.acked.bytes },
            segments: taken.acked.segments,
            delivered: taken.acked.delivered + taken.reported,
            reported: taken.reported,
            marked: u64::from(ack.marked),
            rtt: None,
            srtt: self.rtt.srtt(),
            in_flight: if QUIET { self.board.outstanding() } else { self.in_flight() },
            lost: concluded.lost,
            rate: None,
            held: false,
        }
    }

    /// Shows an ACK, before its effect, to congestion control and to loss discrimination that measures.
    #[inline(never)]
    fn observe(&mut self, news: &AckNews) {
        self.window.observe(news);
        if let (Some(discriminator), Some(rtt)) = (&mut self.discriminator, news.rtt) {
            discriminator.on_measured(&Measured {
                now: news.now,
                rtt,
                clock: news.clock,
                una: self.board.una(),
                outstanding: self.board.outstanding(),
                mss: news.mss,
            });
        }
    }

    /// Detects a spurious repair. Returns [`AckNews::sent_before`].
    #[inline(always)]
    fn doubt_repairs(&mut self, now: Time, ack: &Ack<'_>, taken: &Taken, log: &mut Log) -> Option<Time> {
        let Taken { acked, advanced, is_old, duplicate, twice, original, .. } = *taken;
        if !is_old {
            match self.repair.hear(acked.bytes, duplicate, original, self.board.una()) {
                Answer::Open => {}
                Answer::Spurious => self.take_back(now, Some(acked.bytes), ack.ece, log),
                Answer::Probed => {
                    // Room for a retransmission beside the two new segments (RFC 5682 §3.1, step 3 a).
                    let window = 3 * self.mss;
                    self.window.on_recovered(self.board.outstanding(), Recovered::Probed { window });
                }
            }
        }
        let tick = self.repair.eifel_tick().filter(|_| advanced)?;
        let sent_before = ack.echoed_rtt(now).map(|age| end_of_echo(now, tick, age));
        let echo = Echo { acked: acked.bytes, sent_before, twice };
        if self.repair.is_refuted_by_echo(&echo, &self.board, self.discriminator.is_some(), log) {
            self.take_back(now, Some(acked.bytes), ack.ece, log);
        }
        sent_before
    }

    #[inline(always)]
    fn measure<const QUIET: bool>(&mut self, now: Time, ack: &Ack<'_>, taken: &Taken) -> Option<Duration> {
        let rtt = match (taken.advanced, taken.acked.sent_at) {
            (true, Some(sent_at)) => Some(now.since(sent_at)),
            _ if taken.reported_at.is_some() => taken.reported_at.map(|sent_at| now.since(sent_at)),
            (true, None) => ack.echoed_rtt(now),
            (false, _) => None,
        };
        if let Some(rtt) = rtt {
            match QUIET {
                true => self.rtt.sample(&self.config.rto, rtt),
                false => self.sample_rtt(rtt),
            }
        }
        rtt
    }

    #[inline(always)]
    fn ask_judge(&mut self, now: Time, ack: &Ack<'_>, taken: &Taken) -> bool {
        let Taken { advanced, duplicate, .. } = *taken;
        let una = self.board.una();
        match &mut self.discriminator {
            Some(discriminator) if advanced || duplicate => discriminator.on_ack(&Heard {
                now,
                una,
                advanced,
                duplicate,
                hint: ack.hint,
                marked: ack.ece,
            }),
            _ => false,
        }
    }

    #[inline(always)]
    fn consult(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        news: &AckNews,
        rate: &mut Option<RateSample>,
        log: &mut Log,
    ) -> Concluded {
        let lost_before = self.board.lost_total();
        if self.tail.is_on() {
            self.conclude_probe(now, news.twice, news.acked > 0, ack.selective, log);
        }
        let step = self.repair.on_ack(news, &mut self.board);
        self.take_step(now, step, ack.ece, log);
        let mut entered = step;
        if step == Step::Leave && news.duplicate {
            // The ACK ends one recovery, and its reports can begin the next (RFC 6675 §5).
            entered = self.repair.on_ack(&AckNews { acked: 0, ..*news }, &mut self.board);
            self.take_step(now, entered, ack.ece, log);
        }
        if self.repair.undoes() && self.repair.is_refuted_by_dsack() {
            self.take_back(now, None, false, log);
        }
        if ack.ece {
            self.heed_mark(now, log);
        }
        let lost = self.reductions.news_of_losses(self.board.lost_total());
        if self.rates.is_some() && lost > 0 {
            if let Some(rate) = rate {
                rate.lost += self.board.lost_total() - lost_before;
            }
            self.report_losses(now);
        }
        Concluded { step, entered, lost }
    }

    #[inline(always)]
    fn grow<const QUIET: bool>(&mut self, event: &AckEvent, watches: bool) {
        if !watches {
            return self.window.grow(event);
        }
        self.window.grow_watched(event, self.mss);
        if let Some(rates) = &mut self.rates
            && self.window.rules().holds_back()
        {
            rates.on_silence(event.in_flight);
        }
        if QUIET {
            self.window.settle();
        }
    }

    /// RFC 6298 §5; NewReno restarts the timer only at the first partial ACK (RFC 6582 §4).
    #[inline(always)]
    fn restart_timer<const QUIET: bool>(&mut self, now: Time, step: Step, sent_at: Option<Time>) {
        if self.board.outstanding() == 0 {
            self.timer.stop();
            self.idle.begin(sent_at.unwrap_or(now));
        } else if QUIET || step != (Step::Partial { first: false }) || self.repair.recovery().uses_sack() {
            self.arm(now);
        }
    }
}

impl Taken {
    #[inline(always)]
    fn new_data(acked: Acked) -> Taken {
        Taken {
            acked,
            reported: 0,
            advanced: true,
            is_old: false,
            duplicate: false,
            twice: false,
            original: false,
            reported_at: None,
        }
    }
}
