//! Runs the forms of a workload in turns, and measures their times.

use indicatif::ProgressBar;
use streamflow::prelude::*;

use crate::company;
use crate::forms::Form;

/// How much each form runs in a turn.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) turns: usize,
    /// How many ticks a batch has.
    pub(crate) ticks: u64,
    /// How many ticks have their latency measured; 0 for none.
    pub(crate) latencies: u64,
    pub(crate) check: bool,
}

/// The measured seconds of one form.
#[derive(Default)]
pub(crate) struct Times {
    /// For each turn, the host's seconds per tick while the ticks were being queued.
    pub(crate) host: Vec<f64>,
    /// For each turn, the seconds per tick until the results had arrived.
    pub(crate) wall: Vec<f64>,
    pub(crate) latency: Vec<f64>,
}

/// Runs all forms in each turn, after the graphs of the company. The first turn warms up and is not counted.
pub(crate) fn take_turns(
    forms: &mut [Box<dyn Form>],
    company: &mut [Box<dyn Form>],
    size: Size,
    bar: &ProgressBar,
) -> Result<Vec<Times>> {
    let mut times: Vec<Times> = forms.iter().map(|_| Times::default()).collect();
    for turn in 0..=size.turns {
        // Each turn has its own salt, so results left over from an earlier turn or another tick are recognised as wrong.
        let salt = 1 + (turn * 1_000_003) as u32;
        for other in &mut *company {
            other.batch(salt, company::TICKS)?;
            other.check()?;
        }
        for place in 0..forms.len() {
            // The forms rotate, so that each is the first one in equally many turns.
            let index = (turn + place) % forms.len();
            let (form, times) = (&mut forms[index], &mut times[index]);
            let (host, wall) = form.batch(salt, size.ticks)?;
            if size.check {
                form.check()?;
            }
            let latencies = match size.latencies {
                0 => Vec::new(),
                ticks => form.latencies(salt.wrapping_add(500_000), ticks)?,
            };
            if size.check && size.latencies > 0 {
                form.check()?;
            }
            if turn > 0 {
                times.host.push(host / size.ticks as f64);
                times.wall.extend(wall.map(|wall| wall / size.ticks as f64));
                times.latency.extend(latencies);
            }
        }
        bar.inc(1);
    }
    Ok(times)
}

/// Returns a quantile of the values (0.5 is the median), or `None` if there are no values.
pub(crate) fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(values[(last as f64 * q).round() as usize])
}

/// Returns the median of the ratios `times / others`, taken turn by turn.
pub(crate) fn ratio(times: &[f64], others: &[f64]) -> Option<f64> {
    let quotients: Vec<f64> = times.iter().zip(others).map(|(one, other)| one / other).collect();
    quantile(&quotients, 0.5)
}

/// Returns the median of the differences `times - others`, taken turn by turn.
pub(crate) fn difference(times: &[f64], others: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = times.iter().zip(others).map(|(one, other)| one - other).collect();
    quantile(&differences, 0.5)
}
