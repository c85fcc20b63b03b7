//! Finds the maximum of a function of a few variables with the simplex of Nelder and Mead (1965).

/// Returns the point of the maximum and its height. The search begins at `start` with steps of size `step`, and ends
/// when all corners of the simplex are close to each other and have nearly the same height. The search is
/// deterministic.
pub(crate) fn highest<const N: usize>(
    start: [f64; N],
    step: f64,
    height: impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let value = |at: &[f64; N]| {
        let height = height(at);
        if height.is_nan() { f64::NEG_INFINITY } else { height }
    };
    let mut corners: Vec<([f64; N], f64)> = vec![(start, value(&start))];
    for axis in 0..N {
        let mut corner = start;
        corner[axis] += step;
        corners.push((corner, value(&corner)));
    }
    for _ in 0..MAX_STEPS {
        corners.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (best, worst) = (corners[0].1, corners[N].1);
        if best - worst < LEVEL && spread(&corners) < CLOSE {
            break;
        }
        let mut middle = [0.0; N];
        for (corner, _) in &corners[..N] {
            (0..N).for_each(|axis| middle[axis] += corner[axis] / N as f64);
        }
        let towards = |times: f64| {
            let mut place = middle;
            (0..N).for_each(|axis| place[axis] += times * (middle[axis] - corners[N].0[axis]));
            place
        };
        let mirrored = towards(1.0);
        let at_mirror = value(&mirrored);
        let next = if at_mirror > best {
            let further = towards(2.0);
            let there = value(&further);
            if there > at_mirror { (further, there) } else { (mirrored, at_mirror) }
        } else if at_mirror > corners[N - 1].1 {
            (mirrored, at_mirror)
        } else {
            let nearer = if at_mirror > worst { towards(0.5) } else { towards(-0.5) };
            (nearer, value(&nearer))
        };
        if next.1 > worst {
            corners[N] = next;
            continue;
        }
        let best = corners[0].0;
        for (corner, height) in &mut corners[1..] {
            (0..N).for_each(|axis| corner[axis] = 0.5 * (corner[axis] + best[axis]));
            *height = value(corner);
        }
    }
    corners.sort_by(|a, b| b.1.total_cmp(&a.1));
    corners[0]
}

const MAX_STEPS: usize = 1000;
/// Differences in height (log likelihood) below this value count as zero.
const LEVEL: f64 = 1e-7;
/// Differences in a coordinate below this value count as zero.
const CLOSE: f64 = 1e-4;

fn spread<const N: usize>(corners: &[([f64; N], f64)]) -> f64 {
    let distance =
        |corner: &[f64; N]| (0..N).map(|axis| (corner[axis] - corners[0].0[axis]).abs()).fold(0.0, f64::max);
    corners.iter().map(|(corner, _)| distance(corner)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curved_ridge_is_climbed_to_its_top() {
        // Rosenbrock's valley turned upside down, with its maximum at (1, 1).
        let (at, height) =
            highest([-1.2, 1.0], 0.5, |[x, y]| -(100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2)));
        assert!((at[0] - 1.0).abs() < 1e-3 && (at[1] - 1.0).abs() < 1e-3 && height > -1e-6, "{at:?}");
    }
}
