//! Short SVG path data. Coordinates are rounded, and each coordinate is relative to the previous point.

use std::fmt::Write;

/// Width of a plot, path units. The page stretches a path unit to about one pixel.
pub const WIDTH: f64 = 1000.0;
/// Height of a plot, path units.
pub const HEIGHT: f64 = 500.0;

/// Largest distance between an omitted point and the drawn line, path units.
const SLACK: f64 = 0.5;

pub type Position = (f64, f64);

pub struct Pen {
    data: String,
    /// Coordinates are rounded to 1 / `fine` path units. The value is 1 for long lines, and 10 for lines with markers.
    fine: f64,
    at: (i64, i64),
    start: (i64, i64),
    command: char,
}

impl Pen {
    pub fn new(fine: u8) -> Pen {
        Pen { data: String::new(), fine: f64::from(fine.max(1)), at: (0, 0), start: (0, 0), command: ' ' }
    }

    pub fn data(self) -> String {
        self.data
    }

    pub fn move_to(&mut self, place: Position) {
        let (x, y) = self.steps(place);
        self.put('m', &[x - self.at.0, y - self.at.1]);
        (self.at, self.start) = ((x, y), (x, y));
    }

    pub fn line_to(&mut self, place: Position) {
        let (x, y) = self.steps(place);
        match (x - self.at.0, y - self.at.1) {
            (0, 0) => {}
            (right, 0) => self.put('h', &[right]),
            (0, down) => self.put('v', &[down]),
            (right, down) => self.put('l', &[right, down]),
        }
        self.at = (x, y);
    }

    /// Draws a line of length 0. The line is visible as a dot because the ends of lines are round.
    pub fn dot(&mut self, place: Position) {
        self.move_to(place);
        self.put('h', &[0]);
    }

    pub fn close(&mut self) {
        self.data.push('z');
        self.at = self.start;
        self.command = ' ';
    }

    /// Draws a line through `positions`. Omits points that lie almost on the line.
    pub fn polyline(&mut self, positions: &[Position]) {
        for (index, place) in simplified(positions).into_iter().enumerate() {
            if index == 0 { self.move_to(place) } else { self.line_to(place) }
        }
    }

    /// Draws a step function. Each step is a horizontal line to the next x, followed by a vertical line.
    pub fn steps_through(&mut self, positions: &[Position]) {
        let Some(first) = positions.first() else { return };
        self.move_to(*first);
        let mut before = first.1;
        for (index, (x, y)) in positions.iter().enumerate().skip(1) {
            if *y != before || index + 1 == positions.len() {
                self.line_to((*x, before));
                self.line_to((*x, *y));
                before = *y;
            }
        }
    }

    fn steps(&self, (x, y): Position) -> (i64, i64) {
        (libm::round(x * self.fine) as i64, libm::round(y * self.fine) as i64)
    }

    fn put(&mut self, command: char, numbers: &[i64]) {
        // In SVG, additional coordinates after a move command mean lines. Each move therefore needs a command letter.
        let repeats = command == self.command && command != 'm';
        if !repeats {
            self.data.push(command);
        }
        for (index, number) in numbers.iter().enumerate() {
            if *number >= 0 && (repeats || index > 0) {
                self.data.push(' ');
            }
            self.number(*number);
        }
        self.command = command;
    }

    fn number(&mut self, steps: i64) {
        let text = (steps as f64 / self.fine).to_string();
        let text = text.replacen("0.", ".", usize::from(text.trim_start_matches('-').starts_with("0.")));
        let _ = write!(self.data, "{text}");
    }
}

/// Simplifies a line (Douglas and Peucker 1973). Omits positions whose distance from the line through the remaining
/// positions is at most [`SLACK`].
fn simplified(positions: &[Position]) -> Vec<Position> {
    let mut kept = vec![false; positions.len()];
    let Some(last) = positions.len().checked_sub(1) else { return Vec::new() };
    (kept[0], kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        let mut worst = (SLACK, None);
        for index in from + 1..to {
            let off = distance(positions[index], positions[from], positions[to]);
            if off > worst.0 {
                worst = (off, Some(index));
            }
        }
        if let (_, Some(index)) = worst {
            kept[index] = true;
            open.extend([(from, index), (index, to)]);
        }
    }
    positions.iter().zip(kept).filter_map(|(place, kept)| kept.then_some(*place)).collect()
}

fn distance(place: Position, from: Position, to: Position) -> f64 {
    let (along, down) = (to.0 - from.0, to.1 - from.1);
    let (right, below) = (place.0 - from.0, place.1 - from.1);
    let length = libm::hypot(along, down);
    let share =
        if length > 0.0 { ((right * along + below * down) / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
    libm::hypot(right - share * along, below - share * down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_relative_and_short() {
        let mut pen = Pen::new(1);
        pen.polyline(&[(10.0, 20.0), (30.0, 0.0), (30.0, 40.2), (90.0, 40.0), (91.0, 3.0)]);
        assert_eq!(pen.data(), "m10 20l20-20v40h60l1-37");
        let mut pen = Pen::new(10);
        pen.move_to((0.5, 0.25));
        pen.line_to((0.0, 10.0));
        assert_eq!(pen.data(), "m.5 .3l-.5 9.7");
        let mut pen = Pen::new(1);
        pen.dot((3.0, 4.0));
        pen.dot((5.0, 1.0));
        assert_eq!(pen.data(), "m3 4h0m2-3h0");
    }

    #[test]
    fn a_closed_line_ends_where_it_began() {
        let mut pen = Pen::new(1);
        pen.polyline(&[(10.0, 10.0), (20.0, 10.0), (20.0, 30.0)]);
        pen.close();
        pen.move_to((15.0, 10.0));
        assert_eq!(pen.data(), "m10 10h10v20zm5 0");
    }

    #[test]
    fn repeated_commands_share_their_letter() {
        let mut pen = Pen::new(1);
        for x in [0.0, 1.0, 2.0, 3.0] {
            pen.line_to((x, x * x));
        }
        assert_eq!(pen.data(), "l1 1 1 3 1 5");
    }

    #[test]
    fn rounding_adds_no_error_up() {
        // The line has a thousand steps of 0.4 units. If each step were rounded separately, every step would be 0.
        let mut pen = Pen::new(1);
        for index in 0..=1000 {
            pen.line_to((f64::from(index) * 0.4, 0.0));
        }
        assert_eq!(pen.at, (400, 0));
    }

    #[test]
    fn steps_go_level_first() {
        let mut pen = Pen::new(1);
        pen.steps_through(&[(0.0, 0.0), (5.0, 0.0), (10.0, 30.0), (15.0, 30.0), (20.0, 30.0)]);
        assert_eq!(pen.data(), "m0 0h10v30h10");
    }

    #[test]
    fn a_line_keeps_its_corners_only() {
        let saw: Vec<Position> =
            (0..=100).map(|index| (f64::from(index), f64::from(index % 50) * 4.0)).collect();
        assert_eq!(simplified(&saw), [(0.0, 0.0), (49.0, 196.0), (50.0, 0.0), (99.0, 196.0), (100.0, 0.0)]);
        assert!(simplified(&[]).is_empty());
        let there_and_back = [(0.0, 0.0), (0.0, 50.0), (0.0, 0.0)];
        assert_eq!(simplified(&there_and_back), there_and_back);
    }
}
