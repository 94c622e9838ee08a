//! Writes the tables of times of a report.

use std::fmt;
use std::time::Duration;

use crate::operator::Summary;

/// A table of times: its title, and its rows. Each row has a name and a summary.
pub(super) type Table<'a> = (&'static str, Vec<(String, &'a Summary)>);

/// Writes the tables that have rows. Columns of different tables have the same width. `of` is added to each title: it says which
/// of the clock and the devices are simulated.
pub(super) fn write(f: &mut fmt::Formatter<'_>, tables: &[Table<'_>], of: &str) -> fmt::Result {
    let names = tables.iter().flat_map(|(title, rows)| {
        let title = title.len() + of.len();
        rows.iter().map(|(name, _)| name.chars().count()).chain([title])
    });
    let width = names.max().unwrap_or_default();
    for (title, rows) in tables.iter().filter(|(_, rows)| !rows.is_empty()) {
        writeln!(f)?;
        let [count, p50, p99, max] = ["count", "p50", "p99", "max"];
        let title = format!("{title}{of}");
        writeln!(f, "{title:width$}  {count:>12}  {p50:>9}  {p99:>9}  {max:>9}")?;
        for (name, summary) in rows {
            let [p50, p99, max] = [summary.p50, summary.p99, summary.max].map(short);
            let count = summary.count;
            writeln!(f, "{name:width$}  {count:>12}  {p50:>9}  {p99:>9}  {max:>9}")?;
        }
    }
    Ok(())
}

/// Formats a number per second with three digits.
pub(super) fn rate(rate: f64) -> String {
    let decimals = match rate {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{rate:.decimals$}")
}

/// Formats a duration with three digits and its unit.
pub(super) fn short(duration: Duration) -> String {
    let nanoseconds = duration.as_nanos();
    let units = [(1e3, "ns"), (1e6, "µs"), (1e9, "ms")];
    // A number that would be rounded to 1000 gets the next larger unit.
    let unit = units.into_iter().find(|(next, _)| (nanoseconds as f64) < next * 0.9995);
    let (value, unit) = match unit {
        Some((next, unit)) => (nanoseconds as f64 / (next / 1e3), unit),
        None => (nanoseconds as f64 / 1e9, "s"),
    };
    let decimals = match value {
        _ if unit == "ns" => 0,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_a_unit() {
        let text = |nanoseconds| short(Duration::from_nanos(nanoseconds));
        assert_eq!([0, 7, 999].map(text), ["0 ns", "7 ns", "999 ns"]);
        assert_eq!([1_000, 1_234, 99_949].map(text), ["1.00 µs", "1.23 µs", "99.9 µs"]);
        assert_eq!([99_950, 999_499, 999_500].map(text), ["100 µs", "999 µs", "1.00 ms"]);
        let second = 1_000_000_000;
        assert_eq!([second, 90 * second].map(text), ["1.00 s", "90.0 s"]);
        assert_eq!(text(3600 * second), "3600 s");
    }

    #[test]
    fn rates_have_three_digits() {
        let rates = [0.0, 0.126, 9.994, 9.996, 99.94, 99.96, 1234.5].map(rate);
        assert_eq!(rates, ["0.00", "0.13", "9.99", "10.0", "99.9", "100", "1234"]);
    }
}
