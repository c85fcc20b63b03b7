//! Formatting of numbers with their intervals.

use crate::change::PercentChange;
use crate::stats::Estimate;

/// Formats the mean and the half width of the interval as `1915 ± 12`. The half width has two significant digits, and
/// the mean has as many decimals as the half width. If only one repetition ran, the text is only the mean.
pub fn with_interval(estimate: &Estimate) -> String {
    let Some(half) = estimate.half_width() else { return plain(estimate.mean) };
    // A half width smaller than the rounding error of sums counts as zero.
    let decimals = if half > 1e-12 * estimate.mean.abs() {
        (1 - magnitude(half)).clamp(0, 9) as usize
    } else {
        return format!("{} ± 0", plain(estimate.mean));
    };
    format!("{} ± {half:.decimals$}", fixed(estimate.mean, decimals))
}

/// Formats a difference with its sign: `+12.3 ± 1.5`.
pub fn signed(estimate: &Estimate) -> String {
    let text = with_interval(estimate);
    let is_negative_or_zero = text.starts_with('-') || text.starts_with("0 ");
    if is_negative_or_zero { text } else { format!("+{text}") }
}

/// Formats a change in per cent with its asymmetric interval: `+198 (+92 to +420)`. If the baseline may be zero, the
/// text is `+198 (no bound)`. With a single pair of repetitions, the text is only the change.
pub fn change(change: &PercentChange) -> String {
    let with_sign = |value: f64, decimals: usize| {
        let text = fixed(value, decimals);
        let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
        if is_zero || text.starts_with('-') { text } else { format!("+{text}") }
    };
    // If the change has an interval, the half width of the interval gets two significant digits, and the change gets
    // the same number of decimals. Without an interval, the change has three significant digits.
    let (half, digits) = match change.ci95 {
        Some([low, high]) if high - low > 1e-9 => ((high - low) / 2.0, 1),
        _ => (change.percent.abs(), 2),
    };
    let decimals = if half > 0.0 { (digits - magnitude(half)).clamp(0, 9) as usize } else { 0 };
    let percent = with_sign(change.percent, decimals);
    match change.ci95 {
        Some([low, high]) => {
            format!("{percent} ({} to {})", with_sign(low, decimals), with_sign(high, decimals))
        }
        None if change.runs > 1 => format!("{percent} (no bound)"),
        None => percent,
    }
}

/// Formats an integer with all digits, and any other number with five significant digits.
pub fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return "–".into();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return fixed(value, 0);
    }
    let decimals = (4 - magnitude(value)).clamp(0, 12) as usize;
    let text = fixed(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// Formats a number with a fixed number of decimals. A zero has no minus sign.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(mean: f64, half: f64) -> Estimate {
        let ci95 = half.is_finite().then_some([mean - half, mean + half]);
        Estimate { mean, ci95, runs: 10 }
    }

    #[test]
    fn the_mean_is_as_exact_as_its_interval() {
        assert_eq!(with_interval(&estimate(1915.3, 12.4)), "1915 ± 12");
        assert_eq!(with_interval(&estimate(0.98765, 0.00131)), "0.9877 ± 0.0013");
        assert_eq!(with_interval(&estimate(123_456.0, 7_890.0)), "123456 ± 7890");
        assert_eq!(with_interval(&estimate(3.0, 0.0)), "3 ± 0");
        assert_eq!(with_interval(&estimate(1915.34, f64::INFINITY)), "1915.3");
        assert_eq!(with_interval(&estimate(214.24, 2e-14)), "214.24 ± 0");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(signed(&estimate(12.34, 1.5)), "+12.3 ± 1.5");
        assert_eq!(signed(&estimate(-12.34, 1.5)), "-12.3 ± 1.5");
        assert_eq!(signed(&estimate(0.0, 0.0)), "0 ± 0");
        assert_eq!(signed(&estimate(1e-14, 0.0)), "0 ± 0");
    }

    #[test]
    fn changes_have_the_ends_of_their_interval() {
        let text = |percent, ci95, runs| change(&PercentChange { percent, ci95, runs });
        assert_eq!(text(198.37, Some([92.4, 419.6]), 10), "+198 (+92 to +420)");
        assert_eq!(text(-1.234, Some([-2.5, 0.04]), 10), "-1.2 (-2.5 to 0.0)");
        assert_eq!(text(198.37, None, 10), "+198 (no bound)");
        assert_eq!(text(-1.234, None, 1), "-1.23");
        assert_eq!(text(0.0, Some([0.0, 0.0]), 3), "0 (0 to 0)");
        assert_eq!(text(50.0, Some([50.0, 50.0]), 3), "+50.0 (+50.0 to +50.0)");
    }

    #[test]
    fn plain_numbers_are_short() {
        assert_eq!(plain(50_000.0), "50000");
        assert_eq!(plain(0.000_123_456_7), "0.00012346");
        assert_eq!(plain(-0.0), "0");
        assert_eq!(plain(2.5), "2.5");
    }
}
