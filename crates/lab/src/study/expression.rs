//! Formulas of metrics, such as `lost_queue_full - lost_overshoot` or
//! `sum(goodput_kbps @ reno) / sum(goodput_kbps @ w_cw)`.
//!
//! Grammar: numbers, names, `+ - * /`, parentheses, functions of numbers (`min`, `max`, `sqrt`, `log10`), and functions
//! over flows (`sum`, `mean`, `jain`, `cv`, `count`). A function over flows evaluates its argument for each flow, or
//! for each flow of a group (`@ GROUP`), and skips flows without a value. The result of any other operation on an
//! undefined value is undefined.

use super::value::{Coordinates, Value};

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// A name: a column of flows, an axis, or a column of links as `LINK.DIRECTION.COLUMN`.
    Name(String),
    /// A binary operation with one of the operators `+ - * /`.
    Binary(char, Box<Expression>, Box<Expression>),
    /// A function of numbers, with its arguments.
    Call(Function, Vec<Expression>),
    /// A function over flows, with its argument and the name of a group of flows.
    Over(Aggregate, Box<Expression>, Option<String>),
}

/// Functions of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Smaller of two numbers.
    Min,
    /// Larger of two numbers.
    Max,
    /// Square root.
    Sqrt,
    /// Decimal logarithm.
    Log10,
}

/// Functions over flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Sum of the values.
    Sum,
    /// Mean of the values.
    Mean,
    /// Jain's index (Jain, Chiu, Hawe 1984). The index is 1 if all values are equal, and 1/n if one of n flows receives
    /// everything.
    Jain,
    /// Coefficient of variation, computed with the population's standard deviation. The coefficient is 0 if all values
    /// are equal.
    Cv,
    /// Number of flows.
    Count,
}

impl Aggregate {
    /// Applies the function to these values. If `values` is empty, the count is 0 and every other function returns
    /// `None`.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let n = values.len() as f64;
        let sum = || values.iter().sum::<f64>();
        if values.is_empty() && self != Aggregate::Count {
            return None;
        }
        Some(match self {
            Aggregate::Sum => sum(),
            Aggregate::Mean => sum() / n,
            Aggregate::Count => n,
            Aggregate::Jain => {
                let squares: f64 = values.iter().map(|value| value * value).sum();
                if squares == 0.0 { 1.0 } else { sum() * sum() / (n * squares) }
            }
            Aggregate::Cv => {
                let mean = sum() / n;
                let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
                if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
            }
        })
    }
}

/// Source of the values of a formula's names.
pub trait Scope {
    /// Returns the value of a name. Returns `None` if the value is undefined.
    fn name(&self, name: &str) -> Option<f64>;
    /// Returns the values of a formula for each flow of a group, or for every flow if the group is `None`. Returns an
    /// empty list if the scope has no flows.
    fn flows(&self, _of: &Expression, _group: Option<&str>) -> Vec<f64> {
        Vec::new()
    }
}

impl Scope for Coordinates {
    fn name(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::number)
    }
}

impl Expression {
    /// Parses a formula. The error is a message for the user.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Parser { rest: text };
        let expression = reader.sum()?;
        match reader.peek() {
            None => Ok(expression),
            Some(c) => Err(format!("`{c}` is not expected in `{text}`")),
        }
    }

    /// Returns the value of the formula. Returns `None` if the value is undefined or infinite.
    pub fn value(&self, scope: &dyn Scope) -> Option<f64> {
        let value = match self {
            Expression::Number(number) => *number,
            Expression::Name(name) => scope.name(name)?,
            Expression::Binary(operator, one, other) => {
                let (one, other) = (one.value(scope)?, other.value(scope)?);
                match operator {
                    '+' => one + other,
                    '-' => one - other,
                    '*' => one * other,
                    _ => one / other,
                }
            }
            Expression::Call(function, arguments) => {
                let values: Option<Vec<f64>> = arguments.iter().map(|one| one.value(scope)).collect();
                let values = values?;
                let first = *values.first()?;
                match function {
                    Function::Min => values.iter().copied().fold(first, f64::min),
                    Function::Max => values.iter().copied().fold(first, f64::max),
                    Function::Sqrt => libm::sqrt(first),
                    Function::Log10 => libm::log10(first),
                }
            }
            Expression::Over(total, of, group) => total.of(&scope.flows(of, group.as_deref()))?,
        };
        value.is_finite().then_some(value)
    }

    /// Whether the value cannot be negative, because no operand can be negative and the formula has no subtraction.
    pub fn is_never_negative(&self, is_name: &dyn Fn(&str) -> bool) -> bool {
        let is = |one: &Expression| one.is_never_negative(is_name);
        match self {
            Expression::Number(number) => *number >= 0.0,
            Expression::Name(name) => is_name(name),
            Expression::Binary(operator, one, other) => *operator != '-' && is(one) && is(other),
            Expression::Call(Function::Log10, _) => false,
            Expression::Call(_, arguments) => arguments.iter().all(is),
            Expression::Over(Aggregate::Count | Aggregate::Jain | Aggregate::Cv, ..) => true,
            Expression::Over(_, of, _) => is(of),
        }
    }

    /// Calls `visit` for each name and each group in the formula.
    pub fn each_name(&self, visit: &mut dyn FnMut(NameRef<'_>)) {
        self.walk(false, visit);
    }

    fn walk(&self, of_flows: bool, visit: &mut dyn FnMut(NameRef<'_>)) {
        match self {
            Expression::Number(_) => {}
            Expression::Name(name) => visit(NameRef::Column { name, of_flows }),
            Expression::Binary(_, one, other) => {
                one.walk(of_flows, visit);
                other.walk(of_flows, visit);
            }
            Expression::Call(_, arguments) => arguments.iter().for_each(|one| one.walk(of_flows, visit)),
            Expression::Over(_, of, group) => {
                if let Some(group) = group {
                    visit(NameRef::Group(group));
                }
                of.walk(true, visit);
            }
        }
    }
}

/// Name in a formula.
pub enum NameRef<'a> {
    /// A column or an axis.
    Column {
        /// Name of the column or axis.
        name: &'a str,
        /// Whether the formula evaluates the name for each flow.
        of_flows: bool,
    },
    /// A group of flows.
    Group(&'a str),
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) {
            Ok(())
        } else {
            Err(format!("`{wanted}` is missing before `{}`", self.rest))
        }
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.chain(&['+', '-'], Parser::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.chain(&['*', '/'], Parser::factor)
    }

    fn chain(
        &mut self,
        operators: &[char],
        part: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = part(self)?;
        while let Some(operator) = operators.iter().copied().find(|operator| self.accept(*operator)) {
            left = Expression::Binary(operator, Box::new(left), Box::new(part(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        if self.accept('-') {
            let of = self.factor()?;
            return Ok(Expression::Binary('-', Box::new(Expression::Number(0.0)), Box::new(of)));
        }
        if self.accept('(') {
            let inner = self.sum()?;
            self.expect(')')?;
            return Ok(inner);
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if c.is_alphabetic() => self.named(),
            Some(c) => Err(format!("`{c}` is not expected")),
            None => Err("the formula ends too early".into()),
        }
    }

    fn number(&mut self) -> Result<Expression, String> {
        let is_part = |(at, c): (usize, char)| {
            let after_e = at > 0 && matches!(self.rest.as_bytes()[at - 1], b'e' | b'E');
            c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || (matches!(c, '+' | '-') && after_e)
        };
        let end = self.rest.char_indices().find(|one| !is_part(*one)).map_or(self.rest.len(), |(at, _)| at);
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text.parse().map(Expression::Number).map_err(|_| format!("`{text}` is not a number"))
    }

    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn named(&mut self) -> Result<Expression, String> {
        let word = self.word();
        if !self.accept('(') {
            return Ok(Expression::Name(word.into()));
        }
        let over = match word {
            "sum" => Some(Aggregate::Sum),
            "mean" => Some(Aggregate::Mean),
            "jain" => Some(Aggregate::Jain),
            "cv" => Some(Aggregate::Cv),
            "count" => Some(Aggregate::Count),
            _ => None,
        };
        if let Some(total) = over {
            let of = self.sum()?;
            let group = self.accept('@').then(|| self.word().to_owned());
            self.expect(')')?;
            return Ok(Expression::Over(total, Box::new(of), group));
        }
        let (function, arguments) = match word {
            "min" => (Function::Min, 2),
            "max" => (Function::Max, 2),
            "sqrt" => (Function::Sqrt, 1),
            "log10" => (Function::Log10, 1),
            _ => {
                return Err(format!(
                    "`{word}` is not a function: sum, mean, jain, cv, count (over flows), min, max, sqrt, log10"
                ));
            }
        };
        let mut given = vec![self.sum()?];
        while self.accept(',') {
            given.push(self.sum()?);
        }
        self.expect(')')?;
        if given.len() == arguments {
            Ok(Expression::Call(function, given))
        } else {
            Err(format!("`{word}` takes {arguments} argument(s), not {}", given.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flows;

    impl Scope for Flows {
        fn name(&self, name: &str) -> Option<f64> {
            match name {
                "a" => Some(2.0),
                "wireless.down.lost" => Some(7.0),
                _ => None,
            }
        }

        fn flows(&self, _: &Expression, group: Option<&str>) -> Vec<f64> {
            if group == Some("odd") { vec![1.0, 3.0] } else { vec![1.0, 2.0, 3.0] }
        }
    }

    fn value(text: &str) -> Option<f64> {
        Expression::parse(text).expect(text).value(&Flows)
    }

    #[test]
    fn formulas_by_hand() {
        for (text, result) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("8 - 2 - 1", 5.0),
            ("8 / 2 / 2", 2.0),
            ("-a + 1e-1", -1.9),
            ("sum(x @ odd) / mean(x)", 2.0),
            ("count(x @ odd)", 2.0),
            ("wireless.down.lost * 2", 14.0),
            ("min(a, 3) + max(a, 3) + sqrt(9) + log10(100)", 10.0),
        ] {
            assert!((value(text).unwrap() - result).abs() < 1e-12, "{text}");
        }
        assert_eq!(value("a / 0"), None, "a division by zero must give an undefined value");
        assert_eq!(value("unknown + 1"), None);
    }

    #[test]
    fn totals_by_hand() {
        assert_eq!(Aggregate::Jain.of(&[1.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(Aggregate::Jain.of(&[1.0; 3]), Some(1.0));
        let cv = Aggregate::Cv.of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((cv - 0.4).abs() < 1e-12);
        assert_eq!(Aggregate::Mean.of(&[]), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, message) in [
            ("1 +", "the formula ends too early"),
            ("(1", "`)` is missing before ``"),
            ("1 2", "`2` is not expected in `1 2`"),
            (
                "total(a)",
                "`total` is not a function: sum, mean, jain, cv, count (over flows), min, max, sqrt, log10",
            ),
            ("min(1)", "`min` takes 2 argument(s), not 1"),
        ] {
            assert_eq!(Expression::parse(text).unwrap_err(), message);
        }
    }

    #[test]
    fn what_only_adds_multiplies_and_divides_is_never_negative() {
        let is = |text: &str| Expression::parse(text).unwrap().is_never_negative(&|name| name != "offset");
        for text in ["goodput_kbps", "8 * sum(delivered_bytes @ tcp) / 20 / 1e6", "min(cwnd_bytes / 100, 20)"]
        {
            assert!(is(text), "{text}");
        }
        for text in ["lost - overshoot", "log10(loss)", "goodput_kbps * offset", "-1 * rate"] {
            assert!(!is(text), "{text}");
        }
    }
}
