//! Forms in turns, and their times.

use indicatif::ProgressBar;
use streamflow::prelude::*;

use crate::company;
use crate::forms::Form;

/// How much each turn of a workload runs.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) turns: usize,
    /// The ticks of a batch.
    pub(crate) ticks: u64,
    /// The number of ticks with a measured latency; 0 for none.
    pub(crate) latencies: u64,
    pub(crate) check: bool,
}

/// The seconds of one form.
#[derive(Default)]
pub(crate) struct Times {
    /// A tick while ticks are queued, in each turn.
    pub(crate) host: Vec<f64>,
    /// A tick until the results have arrived.
    pub(crate) wall: Vec<f64>,
    pub(crate) latency: Vec<f64>,
}

/// Runs the forms in turns, and their company before each turn. The first turn warms up and is not counted.
pub(crate) fn take_turns(
    forms: &mut [Box<dyn Form>],
    company: &mut [Box<dyn Form>],
    size: Size,
    bar: &ProgressBar,
) -> Result<Vec<Times>> {
    let mut times: Vec<Times> = forms.iter().map(|_| Times::default()).collect();
    for turn in 0..=size.turns {
        // Values of an earlier turn or of another tick are wrong ones.
        let salt = 1 + (turn * 1_000_003) as u32;
        for other in &mut *company {
            other.batch(salt, company::TICKS)?;
            other.check()?;
        }
        for place in 0..forms.len() {
            // Each form begins as many turns as the others.
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

/// A quantile: 0.5 is the median. `None` of nothing.
pub(crate) fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(values[(last as f64 * q).round() as usize])
}

/// The median of the turns' quotients.
pub(crate) fn ratio(times: &[f64], others: &[f64]) -> Option<f64> {
    let quotients: Vec<f64> = times.iter().zip(others).map(|(one, other)| one / other).collect();
    quantile(&quotients, 0.5)
}

/// The median of the turns' differences.
pub(crate) fn difference(times: &[f64], others: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = times.iter().zip(others).map(|(one, other)| one - other).collect();
    quantile(&differences, 0.5)
}
