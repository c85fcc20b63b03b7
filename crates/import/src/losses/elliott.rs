//! The Gilbert-Elliott model (Gilbert 1960; Elliott 1963): a good and a bad hidden state, each with its own loss
//! probability.

use super::LossRecord;
use super::search::highest;

/// The model's four probabilities, defined as in `netem loss gemodel` and in the channel `two_state`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Elliott {
    /// Probability per packet of a change from the good to the bad state.
    pub(crate) p: f64,
    /// Probability per packet of a change from the bad to the good state.
    pub(crate) r: f64,
    /// Probability of loss in the bad state (1 - h).
    pub(crate) bad: f64,
    /// Probability of loss in the good state (1 - k).
    pub(crate) good: f64,
}

/// Largest exponent in the table of powers.
const TABLE: usize = 2048;

/// Matrix, indexed `[from][to]`, by which one packet multiplies the likelihoods of the two states.
type Transition = [[f64; 2]; 2];

impl Elliott {
    pub(crate) fn share_bad(&self) -> f64 {
        match self.p + self.r {
            0.0 => 0.5,
            sum => self.p / sum,
        }
    }

    /// Returns the matrix of one packet that was lost (`is_lost`) or arrived.
    pub(crate) fn step(&self, is_lost: bool) -> Transition {
        let shows = if is_lost { [self.good, self.bad] } else { [1.0 - self.good, 1.0 - self.bad] };
        [[(1.0 - self.p) * shows[0], self.p * shows[1]], [self.r * shows[0], (1.0 - self.r) * shows[1]]]
    }

    /// Returns the log likelihood of a record by the forward algorithm (Rabiner 1989 §III.A). Each step of the
    /// algorithm covers one run of packets with the same outcome (lost or arrived).
    pub(crate) fn log_likelihood(&self, runs: &[(bool, u32)]) -> f64 {
        let powers = [false, true].map(|is_lost| Powers::of(self.step(is_lost)));
        let [arrived, lost] = [false, true].map(|which| {
            runs.iter()
                .filter(|(is_lost, _)| *is_lost == which)
                .map(|(_, length)| u64::from(*length))
                .sum::<u64>()
        });
        let bad = self.share_bad();
        let (mut state, mut product, mut sum) = ([1.0 - bad, bad], 1.0_f64, 0.0);
        for (is_lost, length) in runs {
            state = powers[usize::from(*is_lost)].apply(state, *length);
            let total = state[0] + state[1];
            if total.is_nan() || total <= 0.0 {
                return f64::NEG_INFINITY;
            }
            state = [state[0] / total, state[1] / total];
            product *= total;
            if !(1e-200..1e200).contains(&product) {
                sum += libm::log(product);
                product = 1.0;
            }
        }
        let scale = |count: u64, powers: &Powers| {
            if count > 0 { count as f64 * libm::log(powers.scale) } else { 0.0 }
        };
        sum + libm::log(product) + scale(arrived, &powers[0]) + scale(lost, &powers[1])
    }

    /// Distribution of the lengths of runs of losses (`is_lost`) or of arrivals. The returned function maps a length to
    /// the share of longer runs.
    pub(crate) fn longer(&self, is_lost: bool) -> impl Fn(u64) -> f64 + use<> {
        // A run of losses begins with a loss after an arrival, and a run of arrivals with an arrival after a loss.
        let (other, own) = (self.step(!is_lost), self.step(is_lost));
        let bad = self.share_bad();
        let before = once([1.0 - bad, bad], other);
        let begun = once(before, own);
        let total = begun[0] + begun[1];
        let powers = Powers::of(own);
        move |length: u64| match length {
            0 => 1.0,
            _ => {
                // A run is longer than `length` if each of the `length` packets after the first has the first packet's
                // outcome (lost or arrived).
                let more = powers.apply(begun, length.min(u64::from(u32::MAX)) as u32);
                let log = length as f64 * libm::log(powers.scale.max(f64::MIN_POSITIVE));
                ((more[0] + more[1]) / total * libm::exp(log)).clamp(0.0, 1.0)
            }
        }
    }

    fn at(place: &[f64; 4]) -> Elliott {
        let [p, r, bad, good] = place.map(logistic);
        Elliott { p, r, bad, good }
    }

    fn place(&self) -> [f64; 4] {
        [self.p, self.r, self.bad, self.good].map(logit)
    }
}

fn once(state: [f64; 2], step: Transition) -> [f64; 2] {
    [0, 1].map(|to| state[0] * step[0][to] + state[1] * step[1][to])
}

/// Powers of a matrix, divided by the same powers of its larger eigenvalue.
struct Powers {
    step: Transition,
    scale: f64,
    /// Spectral projections: (matrix - smaller eigenvalue) and (matrix - larger eigenvalue), divided by the difference
    /// of the eigenvalues.
    parts: Option<[Transition; 2]>,
    ratio: f64,
    table: Vec<f64>,
}

impl Powers {
    fn of(step: Transition) -> Powers {
        let [[a, b], [c, d]] = step;
        let root = ((a - d) * (a - d) + 4.0 * b * c).sqrt();
        let (large, small) = (0.5 * (a + d + root), 0.5 * (a + d - root));
        let scale = if large > 0.0 { large } else { 1.0 };
        let parts = (root > 1e-9 * scale).then(|| {
            let less = |value: f64| [[(a - value) / root, b / root], [c / root, (d - value) / root]];
            [less(small), less(large)]
        });
        let ratio = small / scale;
        let mut table = Vec::with_capacity(TABLE);
        let mut power = 1.0;
        for _ in 0..TABLE {
            table.push(power);
            power *= ratio;
        }
        Powers { step, scale, parts, ratio, table }
    }

    /// Returns the state after `length` packets, divided by `scale` to the power of `length`.
    fn apply(&self, state: [f64; 2], length: u32) -> [f64; 2] {
        let Some([first, second]) = self.parts else {
            // If the eigenvalues are equal, the power is linear in `length`.
            let [[a, b], [c, d]] = self.step.map(|row| row.map(|one| one / self.scale));
            let n = f64::from(length);
            let step = [[1.0 + n * (a - 1.0), n * b], [n * c, 1.0 + n * (d - 1.0)]];
            return once(state, step).map(|one| one.max(0.0));
        };
        let power = match self.table.get(length as usize) {
            Some(power) => *power,
            None => {
                libm::pow(self.ratio.abs(), f64::from(length))
                    * if self.ratio < 0.0 && length % 2 == 1 { -1.0 } else { 1.0 }
            }
        };
        let (one, other) = (once(state, first), once(state, second));
        // Negative values can only be rounding errors.
        [(one[0] - power * other[0]).max(0.0), (one[1] - power * other[1]).max(0.0)]
    }
}

fn logit(p: f64) -> f64 {
    let p = p.clamp(1e-12, 1.0 - 1e-12);
    libm::log(p / (1.0 - p))
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// Returns the most likely model, its log likelihood, and the 95 % confidence interval of each of its four
/// probabilities.
pub(crate) fn likeliest(record: &LossRecord, gilbert: (f64, f64)) -> (Elliott, f64, [[f64; 2]; 4]) {
    let runs: Vec<(bool, u32)> = record.runs().collect();
    let loss = record.lost() as f64 / record.packets() as f64;
    let (p, r) = gilbert;
    let height = |place: &[f64; 4]| {
        if place.iter().all(|x| x.abs() < FARTHEST) {
            Elliott::at(place).log_likelihood(&runs)
        } else {
            f64::NEG_INFINITY
        }
    };
    // Starting points: short bursts with few losses between them; longer bursts that lose half of the packets; long
    // bursts with frequent losses between them.
    let starts = [
        Elliott { p, r, bad: 0.95, good: (0.05 * loss).max(1e-6) },
        Elliott { p: 0.3 * p, r: 0.3 * r, bad: 0.5, good: (0.2 * loss).max(1e-6) },
        Elliott { p: 0.02, r: 0.05, bad: (2.0 * loss).min(0.9), good: (0.5 * loss).max(1e-6) },
    ];
    let climbed = starts.iter().map(|start| {
        let (place, _) = highest(start.place(), 0.5, height);
        // The simplex may have collapsed before the maximum. Restart the search once, from the point that was reached.
        highest(place, 0.25, height)
    });
    let (mut place, top) =
        climbed.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((starts[0].place(), f64::NEG_INFINITY));
    // The bad state is by definition the state with more losses.
    if place[2] < place[3] {
        place = [place[1], place[0], place[3], place[2]];
    }
    let intervals = intervals(&place, top, &height);
    (Elliott::at(&place), top, intervals)
}

/// Largest absolute log odds in the search. All probabilities are thus at least exp(-25) away from 0 and 1.
const FARTHEST: f64 = 25.0;
/// Absolute log odds above which a probability counts as 0 or 1.
const EDGE: f64 = 11.0;

/// Computes the confidence intervals in log odds from the observed information (Efron and Hinkley 1978). For a
/// probability that counts as 0 or 1, the interval is computed from the likelihood as a function of this probability
/// alone.
fn intervals(place: &[f64; 4], top: f64, height: &impl Fn(&[f64; 4]) -> f64) -> [[f64; 2]; 4] {
    let moved = |axis: usize, by: f64| {
        let mut there = *place;
        there[axis] += by;
        there
    };
    // For each axis, find a step that changes the log likelihood by about one half.
    let steps: Vec<f64> = (0..4)
        .map(|axis| {
            let mut step = 1e-4;
            while step < 8.0 && top - height(&moved(axis, step)).min(height(&moved(axis, -step))) < 0.5 {
                step *= 1.5;
            }
            step
        })
        .collect();
    let inside: Vec<usize> = (0..4).filter(|axis| place[*axis].abs() < EDGE && steps[*axis] < 4.0).collect();
    let information: Vec<Vec<f64>> = inside
        .iter()
        .map(|i| {
            let second = |j: &usize| {
                let both = |a: f64, b: f64| {
                    let mut there = *place;
                    there[*i] += a * steps[*i];
                    there[*j] += b * steps[*j];
                    height(&there)
                };
                let area = steps[*i] * steps[*j];
                if i == j {
                    -(both(0.5, 0.5) - 2.0 * top + both(-0.5, -0.5)) / area
                } else {
                    -(both(1.0, 1.0) - both(1.0, -1.0) - both(-1.0, 1.0) + both(-1.0, -1.0)) / (4.0 * area)
                }
            };
            inside.iter().map(second).collect()
        })
        .collect();
    let covariance = inverse(information);
    let mut all = [[0.0, 1.0]; 4];
    for (axis, interval) in all.iter_mut().enumerate() {
        let at = inside.iter().position(|inside| *inside == axis);
        let variance = at.zip(covariance.as_ref()).map(|(at, covariance)| covariance[at][at]);
        if let Some(variance) = variance.filter(|variance| *variance > 0.0 && variance.is_finite()) {
            let half = 1.959_964 * variance.sqrt();
            *interval = [logistic(place[axis] - half), logistic(place[axis] + half)];
        } else {
            // Varies only this probability. The resulting interval is too narrow if changes of the model's remaining
            // probabilities could compensate for the variation.
            let edge = |sign: f64| {
                let mut by = 1e-3;
                while by < 2.0 * FARTHEST && top - height(&moved(axis, sign * by)) < 1.92 {
                    by *= 1.2;
                }
                place[axis] + sign * by
            };
            let [low, high] = [edge(-1.0), edge(1.0)];
            *interval = [
                if low < -EDGE { 0.0 } else { logistic(low) },
                if high > EDGE { 1.0 } else { logistic(high) },
            ];
        }
    }
    all
}

/// Inverse of a symmetric matrix by elimination; `None` if the matrix is singular.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..size).map(|row| (0..size).map(|column| f64::from(u8::from(row == column))).collect()).collect();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let by = matrix[column][column];
        if !(by.abs() > 1e-12 && by.is_finite()) {
            return None;
        }
        for at in 0..size {
            matrix[column][at] /= by;
            inverse[column][at] /= by;
        }
        for row in (0..size).filter(|row| *row != column) {
            let times = matrix[row][column];
            for at in 0..size {
                matrix[row][at] -= times * matrix[column][at];
                inverse[row][at] -= times * inverse[column][at];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the log likelihood with the textbook forward algorithm, one packet at a time.
    fn plain(model: &Elliott, packets: &[bool]) -> f64 {
        let bad = model.share_bad();
        let (mut state, mut sum) = ([1.0 - bad, bad], 0.0);
        for is_lost in packets {
            state = once(state, model.step(*is_lost));
            let total = state[0] + state[1];
            sum += libm::log(total);
            state = state.map(|one| one / total);
        }
        sum
    }

    #[test]
    fn runs_have_the_likelihood_of_their_packets() {
        let packets: Vec<bool> =
            (0..5000_u32).map(|n| n % 17 == 3 || n % 400 < 9 || (n > 4000 && n < 4003)).collect();
        let record: LossRecord = packets.iter().copied().collect();
        let runs: Vec<(bool, u32)> = record.runs().collect();
        for (p, r, bad, good) in
            [(0.01, 0.2, 0.9, 0.03), (0.9, 0.8, 0.3, 0.01), (0.2, 0.8, 0.5, 0.5), (0.001, 0.01, 0.999, 1e-6)]
        {
            let model = Elliott { p, r, bad, good };
            let (fast, slow) = (model.log_likelihood(&runs), plain(&model, &packets));
            assert!((fast - slow).abs() < 1e-6 * slow.abs(), "{model:?}: {fast}, not {slow}");
        }
    }

    #[test]
    fn without_hidden_states_it_is_gilbert_s() {
        // The bad state loses all packets and the good state none, so the lengths of runs are geometric.
        let model = Elliott { p: 0.02, r: 0.25, bad: 1.0, good: 0.0 };
        let (bursts, gaps) = (model.longer(true), model.longer(false));
        for length in [1, 2, 5, 20] {
            assert!(
                (bursts(length) - 0.75_f64.powi(length as i32)).abs() < 1e-12,
                "{length}: {}",
                bursts(length)
            );
            assert!((gaps(length) - 0.98_f64.powi(length as i32)).abs() < 1e-12);
        }
    }
}
