//! Writes the result of a tick, as a line for people or as a JSON object for programs.

use std::fmt;
use std::io::{self, Write};

/// The number of leading values that the output shows.
const HEAD: usize = 4;

/// The format of the ticks on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A line for people.
    Human,
    /// One JSON object per line.
    Json,
}

/// The result of one tick: a tensor of `f32`.
#[derive(Debug, Clone, Copy)]
pub struct Tick<'a> {
    /// The number of the tick, from 0.
    pub tick: u64,
    /// The number of values in each dimension.
    pub shape: &'a [usize],
    /// The values.
    pub values: &'a [f32],
}

impl Tick<'_> {
    /// Writes the line, and flushes it, so that a reader gets each tick immediately.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, to: &mut impl Write, format: Format) -> io::Result<()> {
        match format {
            Format::Human => writeln!(to, "{self}")?,
            Format::Json => writeln!(to, "{}", Json(self))?,
        }
        to.flush()
    }

    fn head(&self) -> &[f32] {
        &self.values[..self.values.len().min(HEAD)]
    }

    /// The sum of the values, computed in `f64`, so that its own rounding error is negligible.
    fn sum(&self) -> f64 {
        self.values.iter().map(|&x| f64::from(x)).sum()
    }
}

impl fmt::Display for Tick<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.values.len() > HEAD { ", …" } else { "" };
        write!(f, "tick {}: {:?} float32, values [", self.tick, self.shape)?;
        for (i, x) in self.head().iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{x:?}")?;
        }
        write!(f, "{more}], sum {:?}", self.sum())
    }
}

/// A tick in the JSON format. JSON has no NaN and no infinity, so these are written as `null`.
struct Json<'a>(&'a Tick<'a>);

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{{"tick":{},"shape":["#, self.0.tick)?;
        list(f, self.0.shape, |f, dimension| write!(f, "{dimension}"))?;
        f.write_str(r#"],"dtype":"float32","head":["#)?;
        list(f, self.0.head(), |f, &x| number(f, x, x.is_finite()))?;
        let sum = self.0.sum();
        f.write_str(r#"],"sum":"#)?;
        number(f, sum, sum.is_finite())?;
        f.write_str("}")
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    item: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (i, x) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        item(f, x)?;
    }
    Ok(())
}

/// Writes a number as JSON. Rust's `{:?}` of a finite float is a JSON number, and the shortest that reads back as the same value.
fn number(f: &mut fmt::Formatter<'_>, value: impl fmt::Debug, finite: bool) -> fmt::Result {
    if finite { write!(f, "{value:?}") } else { f.write_str("null") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn json(values: &[f32]) -> serde_json::Value {
        let mut line = Vec::new();
        Tick { tick: 7, shape: &[values.len()], values }.write(&mut line, Format::Json).unwrap();
        assert_eq!(line.iter().filter(|&&b| b == b'\n').count(), 1, "one line per tick");
        serde_json::from_slice(&line).unwrap()
    }

    #[test]
    fn json_has_the_documented_keys() {
        let value = json(&[1.0, 2.5, -3.0e-20, 4.0e20, 5.0]);
        assert_eq!(value["tick"], 7);
        assert_eq!(value["shape"], serde_json::json!([5]));
        assert_eq!(value["dtype"], "float32");
        let head: Vec<f32> =
            value["head"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
        assert_eq!(head, [1.0, 2.5, -3.0e-20, 4.0e20]);
        assert_eq!(value.as_object().unwrap().len(), 5);
    }

    #[test]
    fn nan_and_infinity_are_null_in_json() {
        let value = json(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX]);
        let head = value["head"].as_array().unwrap();
        assert!(head[..3].iter().all(serde_json::Value::is_null), "{head:?}");
        assert_eq!(head[3].as_f64().unwrap() as f32, f32::MAX);
        assert!(value["sum"].is_null());
    }

    #[test]
    fn few_values_and_no_values_are_written() {
        assert_eq!(json(&[1.0])["head"], serde_json::json!([1.0]));
        let empty = json(&[]);
        assert_eq!(
            (&empty["head"], &empty["sum"]),
            (&serde_json::json!([]), &serde_json::json!(0.0))
        );
    }

    #[test]
    fn a_shape_may_have_several_dimensions() {
        let mut line = Vec::new();
        let tick = Tick { tick: 1, shape: &[2, 1], values: &[1.0, 2.0] };
        tick.write(&mut line, Format::Json).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["shape"], serde_json::json!([2, 1]));
        assert!(tick.to_string().starts_with("tick 1: [2, 1] float32"), "{tick}");
    }

    #[test]
    fn the_sum_is_computed_in_f64() {
        let values = vec![0.1_f32; 100_000];
        let expected = f64::from(0.1_f32) * 1e5;
        let sum = json(&values)["sum"].as_f64().unwrap();
        assert!((sum - expected).abs() <= 1e-9 * expected, "{sum} and {expected}");
    }

    #[test]
    fn the_human_format_shows_the_first_values() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        let text = Tick { tick: 0, shape: &[5], values: &values }.to_string();
        assert_eq!(text, "tick 0: [5] float32, values [1.0, 2.0, 3.0, 4.0, …], sum 15.0");
    }
}
