//! The cases of `references/signals.json`, and how results are compared with them.

use serde::Deserialize;
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_tests::{Failed, check_close, check_equal};

/// Runs an operator for one message, and returns the shape and the values of one of its outputs.
macro_rules! ticked {
    ($platform:expr, $operator:expr, $input:ident -> $output:ident, $values:expr, $shape:expr) => {{
        let mut harness = streamflow::testing::OperatorHarness::new($platform, $operator)?;
        crate::signals::cases::push!($platform, harness, $input, $values, $shape);
        crate::signals::cases::tick!($platform, harness, $output)
    }};
}

/// Sends a message to an operator.
macro_rules! push {
    ($platform:expr, $harness:ident, $input:ident, $values:expr, $shape:expr) => {
        let message = streamflow_tests::setup::uploaded($platform, $values, $harness.stream())?
            .reshape($shape)?;
        $harness.push(|ports| &mut ports.$input, message)?
    };
}

/// Runs a tick, and returns the shape and the values of an output.
macro_rules! tick {
    ($platform:expr, $harness:ident, $output:ident) => {{
        streamflow_tests::check_equal($harness.tick()?, true)?;
        crate::signals::cases::sent!($platform, $harness, $output)
    }};
}

/// The shape and the values of an output.
macro_rules! sent {
    ($platform:expr, $harness:ident, $output:ident) => {{
        let out = $harness.take(|ports| &mut ports.$output);
        let out = out.ok_or_else(|| streamflow_tests::Failed::msg("nothing was emitted"))?.message;
        let values = $platform.download(&*out, $harness.stream())?.wait_blocking()?.to_vec();
        (out.shape().to_vec(), values)
    }};
}

pub(crate) use {push, sent, tick, ticked};

#[derive(Deserialize)]
pub(crate) struct Cases {
    versions: Versions,
    pub(crate) fir: Vec<Fir>,
    pub(crate) polyphase: Vec<Polyphase>,
    pub(crate) hilbert: Vec<Hilbert>,
    pub(crate) stft: Vec<Stft>,
    pub(crate) peaks: Vec<Peaks>,
    pub(crate) interpolate: Vec<Interpolate>,
    pub(crate) transpose: Vec<Transpose>,
    pub(crate) gather: Vec<Gather>,
}

#[derive(Deserialize)]
struct Versions {
    scipy: String,
    numpy: String,
}

#[derive(Deserialize)]
pub(crate) struct Fir {
    pub(crate) complex: bool,
    pub(crate) complex_taps: bool,
    pub(crate) taps: Vec<f64>,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Deserialize)]
pub(crate) struct Block {
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Polyphase {
    pub(crate) complex: bool,
    pub(crate) complex_taps: bool,
    pub(crate) taps: Vec<f64>,
    pub(crate) up: usize,
    pub(crate) down: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) new_shape: Vec<usize>,
    pub(crate) y: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Hilbert {
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Stft {
    pub(crate) complex: bool,
    pub(crate) window: Vec<f64>,
    pub(crate) hop: usize,
    pub(crate) pads: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) spectra_shape: Vec<usize>,
    pub(crate) spectra: Vec<f64>,
    pub(crate) changed: Vec<f64>,
    pub(crate) signal_shape: Vec<usize>,
    pub(crate) signal: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Peaks {
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) most: usize,
    pub(crate) heights: Option<[f32; 2]>,
    pub(crate) distance: Option<usize>,
    pub(crate) positions: Vec<u32>,
    pub(crate) tops: Vec<f32>,
    pub(crate) counts: Vec<u32>,
}

#[derive(Deserialize)]
pub(crate) struct Interpolate {
    pub(crate) complex: bool,
    pub(crate) knots: Option<Vec<f64>>,
    pub(crate) nearest: bool,
    pub(crate) fill: Option<f64>,
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) positions: Vec<f64>,
    pub(crate) new_shape: Vec<usize>,
    pub(crate) y: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Transpose {
    pub(crate) complex: bool,
    pub(crate) axes: Vec<usize>,
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) new_shape: Vec<usize>,
    pub(crate) y: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Gather {
    pub(crate) complex: bool,
    pub(crate) axis: usize,
    pub(crate) clamps: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) x: Vec<f64>,
    pub(crate) indices_shape: Vec<usize>,
    pub(crate) indices: Vec<i32>,
    pub(crate) new_shape: Vec<usize>,
    pub(crate) y: Vec<f64>,
}

/// Returns all cases.
pub(crate) fn all() -> Result<Cases, Failed> {
    let cases: Cases = serde_json::from_str(include_str!("../../references/signals.json"))?;
    check_equal((&*cases.versions.scipy, &*cases.versions.numpy), ("1.17.1", "2.4.6"))?;
    Ok(cases)
}

/// A number of a case: a complex one has its parts by turns.
pub(crate) trait Parts: Element {
    fn of(parts: &[f64]) -> Vec<Self>;
    fn parts(values: &[Self]) -> Vec<f32>;
}

impl Parts for f32 {
    fn of(parts: &[f64]) -> Vec<Self> {
        parts.iter().map(|part| *part as f32).collect()
    }

    fn parts(values: &[Self]) -> Vec<f32> {
        values.to_vec()
    }
}

impl Parts for Complex<f32> {
    fn of(parts: &[f64]) -> Vec<Self> {
        parts.chunks(2).map(|pair| Self::new(pair[0] as f32, pair[1] as f32)).collect()
    }

    fn parts(values: &[Self]) -> Vec<f32> {
        values.iter().flat_map(|value| [value.re, value.im]).collect()
    }
}

/// Checks a shape, and values to within `part` of the largest one.
pub(crate) fn near<T: Parts>(
    what: &str,
    (shape, found): &(Vec<usize>, Vec<T>),
    wanted_shape: &[usize],
    wanted: &[f64],
    part: f64,
) -> Result<(), Failed> {
    let most = wanted.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    check_equal(&**shape, wanted_shape)
        .and_then(|()| check_close(&T::parts(found), wanted, |_| part * most))
        .map_err(|failed| Failed::msg(format!("{what}: {failed}")))
}
