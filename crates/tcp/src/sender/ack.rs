//! Effects of an ACK, in the order of the RFCs.
//!
//! The generic [`Sender::apply_ack`] is compiled into three variants, which two flags select. With `FAST_PATH`, no
//! outstanding segment is lost, SACKed or retransmitted, so the variant omits loss recovery. With `UNOBSERVED`, the
//! variant also omits observers and rate samples, and the ACK covers exactly the first outstanding segment.

use super::congestion::{AckEvent, LossPhase, Recovered};
use super::loss_discrimination::{AckHint, RttSample};
use super::rate::RateSample;
use super::recovery::{AckNews, RecoveryStep};
use super::repair::{Echo, FrtoResult, end_of_echo};
use super::scoreboard::Acked;
use super::{Ack, Sender};
use crate::endpoint::stamps::{peer_time, since_echo};
use crate::event::Log;
use crate::ranges::Range;
use lasthop_base::{Duration, Time};
use lasthop_wire::Timestamps;

struct AckSummary {
    acked: Acked,
    /// Bytes that SACK newly reports.
    reported: u64,
    advanced: bool,
    /// Whether the ACK is below `una`: a later ACK has overtaken this ACK.
    is_old: bool,
    duplicate: bool,
    is_dsack: bool,
    /// Whether the ACK reports data that was outstanding at the timeout that F-RTO tests, and was sent only once.
    original: bool,
    /// Sending time of the oldest segment that SACK newly reports. `None` unless SACK reports serve as round-trip
    /// samples.
    reported_at: Option<Time>,
}

struct RecoveryOutcome {
    step: RecoveryStep,
    /// Last recovery step that the ACK caused. Differs from `step` if the ACK ends one recovery and the SACK blocks of
    /// this ACK begin another recovery.
    entered: RecoveryStep,
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
    fn is_dsack(&self) -> bool {
        let Some(first) = self.sack.first().filter(|first| !first.is_empty()) else { return false };
        let holds = |second: &Range| second.start <= first.start && first.end <= second.end;
        first.end <= self.ack || self.sack.get(1).is_some_and(holds)
    }
}

impl Sender {
    /// Handles an acceptable ACK: `oldest_ack() <= ack <= may_acknowledge()`. If the ACK is below `una`, only its SACK
    /// blocks take effect.
    pub(crate) fn handle_ack(&mut self, now: Time, ack: &Ack<'_>, log: &mut Log) {
        let advanced = ack.ack > self.scoreboard.una();
        let was_outstanding = self.scoreboard.outstanding() > 0;
        let is_old = ack.ack < self.scoreboard.una();
        let same_window = !is_old && ack.window == self.peer.window();
        if !is_old {
            self.update_window(ack.at, ack.ack, ack.window);
        }
        if ack.ack > self.scoreboard.nxt() {
            self.on_window_probe_acknowledged(now);
        }
        let thaws = self.persist.is_frozen() && self.peer.window() > 0;
        if self.is_on_fast_path() && ack.sack.is_empty() && !ack.ece {
            if advanced {
                return self.advance_on_fast_path(now, ack, log);
            }
            if !was_outstanding {
                // Only the peer sends data, and each of its data segments repeats this ACK number.
                return;
            }
        }
        let summary = self.update_scoreboard(ack, same_window, log);
        self.apply_ack::<false, false>(now, ack, &summary, log);
        if thaws {
            self.thaw(now);
        }
    }

    #[inline(never)]
    fn advance_on_fast_path(&mut self, now: Time, ack: &Ack<'_>, log: &mut Log) {
        self.advance(now, *ack, log);
    }

    /// Handles an ACK that advances `una` on the fast path. The common case is fastest: the ACK covers exactly the
    /// first segment, and no observer is present.
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Time, ack: Ack<'_>, log: &mut Log) {
        let Ack { stamps, tick, marked, .. } = ack;
        if self.has_observers {
            return self.advance_general(now, ack.ack, (stamps, tick), marked, log);
        }
        let bytes = ack.ack - self.scoreboard.una();
        let Some(sent_at) = self.scoreboard.acknowledge_first(ack.ack) else {
            return self.advance_general(now, ack.ack, (stamps, tick), marked, log);
        };
        let acked = Acked { bytes, segments: 1, delivered: bytes, sent_at: Some(sent_at) };
        self.apply_ack::<true, true>(now, &ack, &AckSummary::new_data(acked), log);
    }

    /// Variant of [`Sender::advance`] for senders with observers, and for ACKs that do not cover exactly one segment.
    /// Takes only the fields of the ACK that this function reads, to avoid copying the whole ACK.
    #[inline(never)]
    fn advance_general(
        &mut self,
        now: Time,
        ack: u64,
        (stamps, tick): (Option<Timestamps>, u64),
        marked: u32,
        log: &mut Log,
    ) {
        self.scoreboard.begin_ack();
        let acked = self.scoreboard.acknowledge(ack);
        let ack = Ack { ack, stamps, tick, marked, ..Ack::BARE };
        self.apply_ack::<true, false>(now, &ack, &AckSummary::new_data(acked), log);
    }

    /// Handles the ACK of a zero-window probe's byte. The scoreboard records the byte as sent only now. The record is a
    /// retransmission, because several probes may have carried the byte.
    fn on_window_probe_acknowledged(&mut self, now: Time) {
        let start = self.scoreboard.nxt();
        self.scoreboard.record_new(1, now);
        self.scoreboard.record_rescue(start, now);
    }

    #[inline(always)]
    fn update_scoreboard(&mut self, ack: &Ack<'_>, same_window: bool, log: &mut Log) -> AckSummary {
        let advanced = ack.ack > self.scoreboard.una();
        // An ACK below SND.UNA gives no round-trip sample: the ACK may have left the receiver before a timeout or
        // before the sender's last recovery step.
        let is_old = ack.ack < self.scoreboard.una();
        let was_outstanding = self.scoreboard.outstanding() > 0;
        self.scoreboard.begin_ack();
        let original = self.repair.shows_original(ack, &self.scoreboard);
        let acked = if advanced { self.scoreboard.acknowledge(ack.ack) } else { Acked::default() };
        self.reductions.on_ack(ack.ack);
        let is_dsack = ack.is_dsack();
        if is_dsack {
            self.on_dsack(log);
        }
        let mut reported = 0;
        if self.repair.recovery().uses_sack() {
            for block in ack.sack {
                reported += self.scoreboard.sack(*block);
            }
        }
        let duplicate = if self.repair.recovery().uses_sack() && ack.selective {
            reported > 0
        } else {
            !advanced && was_outstanding && !ack.carries_data && same_window
        };
        if duplicate {
            log.frequent.duplicate_acks += 1;
        }
        let reported_at =
            if self.repair.samples_sack() && !is_old { self.scoreboard.oldest_reported() } else { None };
        AckSummary { acked, reported, advanced, is_old, duplicate, is_dsack, original, reported_at }
    }

    #[cold]
    #[inline(never)]
    fn on_dsack(&mut self, log: &mut Log) {
        log.rare().duplicates_reported += 1;
        self.window.on_dsack();
        self.repair.on_dsack();
    }

    /// Applies the consequences of an ACK. The module documentation explains `FAST_PATH` and `UNOBSERVED`.
    #[inline(always)]
    fn apply_ack<const FAST_PATH: bool, const UNOBSERVED: bool>(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        summary: &AckSummary,
        log: &mut Log,
    ) {
        let sent_before = if FAST_PATH { None } else { self.detect_spurious_repair(now, ack, summary, log) };
        let rtt = self.sample_ack_rtt::<FAST_PATH>(now, ack, summary);
        let certain = !FAST_PATH && self.discriminate(now, ack, summary);
        let has_observers = !UNOBSERVED && (!FAST_PATH || self.has_observers);
        let changes_state = summary.advanced || summary.duplicate;
        if has_observers && self.observes && changes_state {
            let news = self.news::<FAST_PATH>(now, ack, summary, certain, rtt, sent_before);
            self.observe(&news);
        }
        let delivered = summary.acked.delivered + summary.reported;
        let mut rate = match &mut self.rates {
            Some(rates) if has_observers => {
                rates.sample(now, delivered, &self.scoreboard, self.rtt.smallest())
            }
            _ => None,
        };
        let news = (!FAST_PATH).then(|| self.news::<FAST_PATH>(now, ack, summary, certain, rtt, sent_before));
        let outcome = match &news {
            None => RecoveryOutcome { step: RecoveryStep::Same, entered: RecoveryStep::Same, lost: 0 },
            Some(news) => self.run_recovery(now, ack, news, &mut rate, log),
        };
        let RecoveryOutcome { step, entered, .. } = outcome;
        if changes_state {
            let is_unused = match &mut self.usage {
                Some(usage) if has_observers => {
                    let (acked, full) = (summary.acked.bytes, self.full_payload);
                    usage.leaves_unused(now, acked, full, &self.rtt, &self.scoreboard, &self.window)
                }
                _ => false,
            };
            let held = (!FAST_PATH && ack.ece) || is_unused;
            let rate = if UNOBSERVED { None } else { rate.as_ref() };
            let event = AckEvent { rtt, held, rate, ..self.event::<FAST_PATH>(now, ack, summary, &outcome) };
            self.grow::<FAST_PATH>(&event, has_observers);
        }
        if summary.advanced {
            self.restart_timer::<FAST_PATH>(now, step, summary.acked.sent_at);
        } else if summary.reported_at < self.scoreboard.first_sent_at() && summary.reported_at.is_some() {
            // SACK restarts the timer only for data sent before the first hole. Reports of later data must not postpone
            // the first hole's timeout (netdev, "tcp: do not rearm RTO when future data are sacked", 2013).
            self.arm(now);
        }
        if let Some(news) = &news {
            if ack.ece {
                self.hold_new_data(now);
            }
            self.update_fast_path();
            if self.reductions.is_gradual() {
                let (target, newly_delivered) = (self.window.bytes(), (delivered, summary.reported));
                self.reductions.update_allowance(
                    entered,
                    news,
                    newly_delivered,
                    target,
                    self.repair.recovery(),
                    &self.scoreboard,
                );
            }
        }
    }

    #[inline(always)]
    fn news<const FAST_PATH: bool>(
        &self,
        now: Time,
        ack: &Ack<'_>,
        summary: &AckSummary,
        certain: bool,
        rtt: Option<Duration>,
        sent_before: Option<Time>,
    ) -> AckNews {
        let times = !FAST_PATH && self.repair.needs_times();
        AckNews {
            now,
            acked: summary.acked.bytes,
            duplicate: summary.duplicate,
            is_dsack: summary.is_dsack,
            certain,
            rtt,
            clock: if self.observes { ack.clock(now) } else { None },
            sent_before,
            rtts: if times { self.rtt.srtt().zip(self.rtt.smallest()) } else { None },
            mss: self.mss,
        }
    }

    /// Builds the event for congestion control, after loss recovery has handled the ACK. The caller sets `rtt`, `rate`
    /// and `held`.
    #[inline(always)]
    fn event<const FAST_PATH: bool>(
        &self,
        now: Time,
        ack: &Ack<'_>,
        summary: &AckSummary,
        outcome: &RecoveryOutcome,
    ) -> AckEvent<'static> {
        let leaves = outcome.step == RecoveryStep::Leave;
        let counts_end = leaves && self.window.counts_end();
        AckEvent {
            now,
            phase: if leaves && !counts_end {
                LossPhase::Recovery
            } else if FAST_PATH {
                LossPhase::Open
            } else {
                self.phase()
            },
            una: self.scoreboard.una(),
            nxt: self.scoreboard.nxt(),
            // `delivered` leaves out the bytes that SACK reported during the recovery, so that no byte counts twice.
            acked: if counts_end { summary.acked.delivered } else { summary.acked.bytes },
            segments: summary.acked.segments,
            delivered: summary.acked.delivered + summary.reported,
            reported: summary.reported,
            marked: u64::from(ack.marked),
            rtt: None,
            srtt: self.rtt.srtt(),
            in_flight: if FAST_PATH { self.scoreboard.outstanding() } else { self.in_flight() },
            lost: outcome.lost,
            rate: None,
            held: false,
        }
    }

    /// Passes an ACK, before its effects, to congestion control, and to loss discrimination that needs RTT samples.
    #[inline(never)]
    fn observe(&mut self, news: &AckNews) {
        self.window.observe(news);
        if let (Some(discriminator), Some(rtt)) = (&mut self.discriminator, news.rtt) {
            discriminator.on_rtt_sample(&RttSample {
                now: news.now,
                rtt,
                clock: news.clock,
                una: self.scoreboard.una(),
                outstanding: self.scoreboard.outstanding(),
                mss: news.mss,
            });
        }
    }

    /// Detects a spurious retransmission by F-RTO or Eifel, and undoes its effects. Returns the value for
    /// [`AckNews::sent_before`].
    #[inline(always)]
    fn detect_spurious_repair(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        summary: &AckSummary,
        log: &mut Log,
    ) -> Option<Time> {
        let AckSummary { acked, advanced, is_old, duplicate, is_dsack, original, .. } = *summary;
        if !is_old {
            match self.repair.advance_test(acked.bytes, duplicate, original, self.scoreboard.una()) {
                FrtoResult::Undecided => {}
                FrtoResult::Spurious => self.undo_repair(now, Some(acked.bytes), ack.ece, log),
                FrtoResult::Probed => {
                    // cwnd becomes three segments: one retransmission and the two new segments (RFC 5682 §3.1, step 3
                    // a).
                    let window = 3 * self.mss;
                    self.window.on_recovered(self.scoreboard.outstanding(), Recovered::Probed { window });
                }
            }
        }
        let tick = self.repair.eifel_tick().filter(|_| advanced)?;
        let sent_before = ack.echoed_rtt(now).map(|age| end_of_echo(now, tick, age));
        let echo = Echo { acked: acked.bytes, sent_before, is_dsack };
        if self.repair.is_spurious_by_echo(&echo, &self.scoreboard, self.discriminator.is_some(), log) {
            self.undo_repair(now, Some(acked.bytes), ack.ece, log);
        }
        sent_before
    }

    #[inline(always)]
    fn sample_ack_rtt<const FAST_PATH: bool>(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        summary: &AckSummary,
    ) -> Option<Duration> {
        let rtt = match (summary.advanced, summary.acked.sent_at) {
            (true, Some(sent_at)) => Some(now.since(sent_at)),
            _ if summary.reported_at.is_some() => summary.reported_at.map(|sent_at| now.since(sent_at)),
            (true, None) => ack.echoed_rtt(now),
            (false, _) => None,
        };
        if let Some(rtt) = rtt {
            if FAST_PATH {
                self.rtt.sample(&self.config.rto, rtt);
            } else {
                self.sample_rtt(rtt);
            }
        }
        rtt
    }

    #[inline(always)]
    fn discriminate(&mut self, now: Time, ack: &Ack<'_>, summary: &AckSummary) -> bool {
        let AckSummary { advanced, duplicate, .. } = *summary;
        let una = self.scoreboard.una();
        match &mut self.discriminator {
            Some(discriminator) if advanced || duplicate => discriminator.on_ack(&AckHint {
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
    fn run_recovery(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        news: &AckNews,
        rate: &mut Option<RateSample>,
        log: &mut Log,
    ) -> RecoveryOutcome {
        let lost_before = self.scoreboard.lost_total();
        if self.tail.is_on() {
            self.finish_tail_probe(now, news.is_dsack, news.acked > 0, ack.selective, log);
        }
        let step = self.repair.on_ack(news, &mut self.scoreboard);
        self.apply_step(now, step, ack.ece, log);
        let mut entered = step;
        if step == RecoveryStep::Leave && news.duplicate {
            // The ACK ends one recovery, and its SACK blocks can begin the next recovery (RFC 6675 §5).
            entered = self.repair.on_ack(&AckNews { acked: 0, ..*news }, &mut self.scoreboard);
            self.apply_step(now, entered, ack.ece, log);
        }
        if self.repair.may_undo() && self.repair.is_spurious_by_dsack() {
            self.undo_repair(now, None, false, log);
        }
        if ack.ece {
            self.react_to_mark(now, log);
        }
        let lost = self.reductions.newly_lost(self.scoreboard.lost_total());
        if self.rates.is_some() && lost > 0 {
            if let Some(rate) = rate {
                rate.lost += self.scoreboard.lost_total() - lost_before;
            }
            self.report_losses(now);
        }
        RecoveryOutcome { step, entered, lost }
    }

    #[inline(always)]
    fn grow<const FAST_PATH: bool>(&mut self, event: &AckEvent, has_observers: bool) {
        if !has_observers {
            return self.window.grow(event);
        }
        self.window.grow_monitored(event, self.mss);
        if let Some(rates) = &mut self.rates
            && self.window.control().holds_back()
        {
            rates.mark_app_limited(event.in_flight);
        }
        if FAST_PATH {
            self.window.update_cwnd();
        }
    }

    /// Restarts the retransmission timer (RFC 6298 §5). NewReno restarts the timer only at the first partial ACK of a
    /// recovery (RFC 6582 §4).
    #[inline(always)]
    fn restart_timer<const FAST_PATH: bool>(&mut self, now: Time, step: RecoveryStep, sent_at: Option<Time>) {
        if self.scoreboard.outstanding() == 0 {
            self.timer.stop();
            self.idle.begin(sent_at.unwrap_or(now));
        } else if FAST_PATH
            || step != (RecoveryStep::Partial { first: false })
            || self.repair.recovery().uses_sack()
        {
            self.arm(now);
        }
    }
}

impl AckSummary {
    #[inline(always)]
    fn new_data(acked: Acked) -> AckSummary {
        AckSummary {
            acked,
            reported: 0,
            advanced: true,
            is_old: false,
            duplicate: false,
            is_dsack: false,
            original: false,
            reported_at: None,
        }
    }
}
