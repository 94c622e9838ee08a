//! The program `digits` as a graph, compared with double precision and with NumPy.

use serde_json::Value;
use streamflow::prelude::*;
use streamflow_examples::digits::{CLASSES, Digits, Network, batch, classes, labels};
use streamflow_tests::seen::{report, take};
use streamflow_tests::{Failed, Suite, check, check_close, check_equal};

/// The output of `examples/numpy/digits.py`. It is embedded, since the machine with the GPU has no source tree.
const NUMPY: &str = include_str!("../../../../examples/numpy/digits.json");

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("digits_are_read_as_by_numpy_and_in_double_precision", references)
        .both("control::without_a_bias_digits_are_read_otherwise", without_bias)
}

/// Runs the program, and returns the outputs of each tick.
fn run(platform: &Platform, network: &Network, count: u64) -> Result<Vec<(u64, Vec<f32>)>, Failed> {
    let (seen, show) = report();
    Digits::new(platform, network, count, show)?.run()?;
    Ok(take(&seen))
}

fn numpy() -> Result<Vec<Value>, Failed> {
    Ok(serde_json::from_str(NUMPY)?)
}

fn right(tick: u64, read: &[usize]) -> usize {
    read.iter().zip(labels(tick)).filter(|(read, shown)| **read == *shown).count()
}

fn references(platform: &Platform) -> Result<(), Failed> {
    let (network, numpy) = (Network::train(), numpy()?);
    let ticks = run(platform, &network, numpy.len() as u64)?;
    check_equal(ticks.len(), numpy.len())?;
    for ((tick, outputs), numpy) in ticks.iter().zip(&numpy) {
        check_close(outputs, &network.outputs(&batch(*tick)), |_| 1e-5)?;
        let read = classes(outputs);
        check_equal(serde_json::to_value(&read)?, numpy["classes"].clone())?;
        check_equal(serde_json::to_value(right(*tick, &read))?, numpy["right"].clone())?;
        let column =
            |class| outputs.iter().skip(class).step_by(CLASSES).map(|&x| f64::from(x)).sum();
        let sums: Vec<f64> = (0..CLASSES).map(column).collect();
        let wanted: Vec<f64> = serde_json::from_value(numpy["sums"].clone())?;
        check_close(&sums, &wanted, |_| 1e-4)?;
    }
    Ok(())
}

/// The control: the comparison fails if a bias is left out.
fn without_bias(platform: &Platform) -> Result<(), Failed> {
    let network = Network::train().without_hidden_bias();
    let ticks = run(platform, &network, 1)?;
    let read = serde_json::to_value(classes(&ticks[0].1))?;
    check(read != numpy()?[0]["classes"], || "the bias makes no difference".into())
}
