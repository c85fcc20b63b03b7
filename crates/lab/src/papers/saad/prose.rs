//! The chapter's sentences with numbers in them: all from the run.

use super::Row;
use super::chapter::threshold_of;
use super::friendliness::FAIR_SHARE;
use super::goodput::Goodput;
use super::sender::Sender;
use crate::item::{Item, Verdict};

/// Fig. 6 and Table I.
pub(super) fn one_kind(items: &[Item], short: &Goodput) -> String {
    let fairness = || items.iter().filter(|item| item.item == "table1" && item.published.is_some());
    let agree = fairness().filter(|item| item.verdict == Some(Verdict::Agrees)).count();
    let marked = gain(short, Sender::W_CW, Sender::RENO, 0).map_or(String::new(), |gain| {
        format!(" At the lowest loss rate W_CW's goodput differs from Reno's by {gain:+.1} %.")
    });
    format!(
        "Of {} fairness indices of Table I {agree} agree. Fig. 6: with one flow the path of Fig. 5 holds two to three \
         packets (2 Mbit/s times 6 ms and a packet's time), so that estimate times smallest RTT is the smallest window \
         there is, from which a further loss ends in a timeout; half of Reno's window, filled by 50 packets of buffer, \
         is many times that. Marks at an average queue of 5 packets cost goodput without any error, because the average \
         follows the queue too slowly.{marked} The path of Fig. 8 (92 ms) holds 23 packets: see the merits below.",
        fairness().count()
    )
}

/// Tables II and III.
pub(super) fn side_by_side(rows: &[Row]) -> String {
    let ratios = || rows.iter().filter_map(|row| Some((threshold_of(row)?, (*row.ratios.get(1)?)?)));
    let reno_first =
        ratios().filter(|(_, ratio)| *ratio > 1.0).map(|(threshold, _)| threshold).reduce(f64::max);
    let w_cw_first =
        ratios().filter(|(_, ratio)| *ratio < 1.0).map(|(threshold, _)| threshold).reduce(f64::min);
    let mut words = String::from(
        "Tables II and III: a sender that halves at an average queue of 5 packets stands beside one that halves when 50 \
         packets are full. The marking threshold alone decides who starves whom, and where nothing is ever marked it is \
         Westwood beside Reno.",
    );
    if let (Some(reno), Some(w_cw)) = (reno_first, w_cw_first) {
        words += &format!(
            " Three beside three without errors, Reno gets more at thresholds up to {reno} packets, W_CW from {w_cw} on."
        );
    }
    let hearing = rows.iter().find(|row| row.setting.question == "Reno hears marks");
    if let Some((ratio, idle)) = hearing.and_then(|row| Some(((*row.ratios.get(1)?)?, idle(row)?))) {
        words += &format!(
            " Where Reno is ECN-capable too it gets {ratio:.2} of W_CW's goodput and {idle:.0} % of the link stay idle: \
             marks that go on while the average decays could be why the paper's sums are 1.22 Mbit/s on a link of 2 \
             Mbit/s, but it does not say that its Reno has ECN."
        );
    }
    words
}

/// The estimate and the warning apart.
pub(super) fn merits(short: &Goodput, long: &Goodput) -> String {
    let [_, westwood, .., new_reno, westwood_new, _, _] = Sender::ALL;
    let most = |grid: &Goodput, one, other| {
        let gains = (0..grid.losses.len()).filter_map(|at| gain(grid, one, other, at));
        gains.reduce(f64::max).map_or("undefined".into(), |gain| format!("{gain:+.0} %"))
    };
    format!(
        "Reno and NewReno hear no marks; Westwood alone takes the estimate at every loss; CW alone halves at marks and at \
         every loss; W_CW has both. The estimate's largest gain over the loss rates: on a path of three packets {} on \
         Reno and {} on NewReno, on one of 23 packets {} and {}. W_CW's largest gain on Reno there is {}: it comes up to \
         Westwood where little is marked.",
        most(short, westwood, Sender::RENO),
        most(short, westwood_new, new_reno),
        most(long, westwood, Sender::RENO),
        most(long, westwood_new, new_reno),
        most(long, Sender::W_CW, Sender::RENO),
    )
}

/// The test by marks.
pub(super) fn test(items: &[Item]) -> String {
    let worst = |metric: &str| {
        let tests = items.iter().filter(|item| item.item == "mark-test-fig6" && item.metric == metric);
        let least = tests.filter_map(|item| item.measured).reduce(f64::min);
        least.map_or("undefined".into(), |least| format!("{:.0} %", 100.0 * least))
    };
    format!(
        "The claim behind the scheme: marked duplicates mean congestion, unmarked ones a random error, with higher \
         confidence. Acc_w is the share of random losses tested as random, Acc_c the share of losses in queues tested as \
         congestion; losses that only the timer repaired were not tested. The smallest Acc_c over the loss rates is {}, \
         the smallest Acc_w {}: at low loss rates the average is above the threshold a large part of the time although no \
         queue overflows.",
        worst("Acc_c"),
        worst("Acc_w"),
    )
}

/// How much more one sender carries than another, per cent of the other's.
fn gain(grid: &Goodput, one: Sender, other: Sender, at: usize) -> Option<f64> {
    let (one, other) = (grid.goodput(one, at)?.mean, grid.goodput(other, at)?.mean);
    (other > 0.0).then(|| 100.0 * (one / other - 1.0))
}

/// Share of the link that three beside three leave idle without errors, per cent.
fn idle(row: &Row) -> Option<f64> {
    let mean = |sender: Sender| {
        let is_it = |item: &&Item| {
            item.item == "sensitivity-table2"
                && item.series == sender.name()
                && item.x.get("reno").and_then(|reno| reno.as_u64()) == Some(3)
        };
        row.items.iter().find(is_it)?.measured
    };
    Some(100.0 * (1.0 - (mean(Sender::RENO)? + mean(Sender::W_CW)?) / (2.0 * FAIR_SHARE)))
}
