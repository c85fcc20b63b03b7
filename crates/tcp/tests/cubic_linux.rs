//! CUBIC's variant `linux`: agreement with the closed form, and differences from RFC 9438.

mod fluid;

use fluid::{MSS, Path, cubic};
use lasthop_base::Value;
use lasthop_tcp::sender::congestion::CongestionControl;

fn linux(friendly: bool, window: u64, ssthresh: u64) -> Box<dyn CongestionControl> {
    let values = [("variant", Value::Word("linux")), ("reno_friendly", Value::Flag(friendly))];
    cubic(&values, window, ssthresh)
}

/// RFC 8312 §4.1: after a loss at 400 segments cwnd is C (t - K)^3 + 400 with C = 0.4 and K = cbrt(0.3 × 400 / 0.4) =
/// 6.7 s. The tolerance of 4 segments allows for Linux's approximations. Linux aims one RTT ahead and counts whole
/// segments. Linux rounds the number of ACKs per segment of growth, and updates this number only every 31 ms.
#[test]
fn the_window_is_the_cubic_of_the_time_since_the_loss() {
    let mut path = Path::new(linux(false, 400, 1), 100);
    path.lose();
    assert_eq!((path.control.window(), path.control.ssthresh()), (280 * MSS, 280 * MSS));
    path.acknowledge();
    let (began, rise) = (path.now, (0.3 * 400.0 / 0.4f64).cbrt());
    for second in 1..=10 {
        path.acknowledge_for(began.as_secs() + f64::from(second) - path.now.as_secs());
        let t = path.now.since(began).as_secs();
        let expected = 0.4 * (t - rise).powi(3) + 400.0;
        assert!((path.window() - expected).abs() < 4.0, "{t} s: {}, not {expected}", path.window());
    }
}

/// Returns the growth per RTT, in segments, when cwnd is above its value before the loss. The RTT is so short that cwnd
/// follows W_est (Reno-friendly region).
fn growth_above_the_last_maximum(variant: &'static str) -> f64 {
    let mut path = Path::new(cubic(&[("variant", Value::Word(variant))], 40, 1), 5);
    path.lose();
    while path.window() < 42.0 {
        path.acknowledge();
    }
    let (from, began) = (path.window(), path.now);
    path.acknowledge_for(0.3);
    (path.window() - from) / (path.now.since(began).as_secs() / 0.005)
}

/// When cwnd is above its value before the loss, RFC 9438 §4.3 sets α = 1, whereas Linux keeps α = 8/15 (netdev, August
/// 2024). α is the growth of W_est per RTT, in segments.
#[test]
fn alpha_does_not_become_one_above_the_last_maximum() {
    let (linux, rfc) = (growth_above_the_last_maximum("linux"), growth_above_the_last_maximum("rfc9438"));
    assert!((linux - 8.0 / 15.0).abs() < 0.07, "{linux}");
    assert!((rfc - 1.0).abs() < 0.07, "{rfc}");
}

/// A loss reduces cwnd to 0.7 of cwnd, rounded down to whole segments, but at least two segments. FlightSize, one
/// segment here, does not matter.
#[test]
fn a_loss_leaves_whole_segments_of_cwnd() {
    for (window, left) in [(15, 10), (10, 7), (2, 2)] {
        let mut path = Path::new(linux(true, window, 1), 100);
        path.wanted = MSS;
        path.lose();
        assert_eq!(path.control.ssthresh(), left * MSS, "{window}");
    }
}

/// A timeout discards the plateau. cwnd then grows by one segment for every 20 acknowledged segments, that is by 5 %
/// per RTT.
#[test]
fn a_timeout_forgets_the_plateau() {
    let mut path = Path::new(linux(false, 1000, 1), 100);
    path.control.on_timeout(&path.signal(), true);
    while path.control.window() < path.control.ssthresh() {
        path.acknowledge();
    }
    let from = path.window();
    assert!((from - 700.0).abs() < 1.0, "{from}");
    path.acknowledge_for(0.1);
    assert!((path.window() / from - 1.05).abs() < 0.01, "{}", path.window() / from);
}

#[test]
fn leaving_slow_start_keeps_the_window() {
    for variant in ["linux", "rfc9438"] {
        let mut path = Path::new(cubic(&[("variant", Value::Word(variant))], 50, 1000), 100);
        path.control.leave_slow_start();
        assert_eq!((path.control.window(), path.control.ssthresh()), (50 * MSS, 50 * MSS));
        path.acknowledge_for(0.1);
        assert!(path.window() < 53.0, "{variant}: {}", path.window());
    }
}
