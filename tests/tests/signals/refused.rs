//! Numbers and messages that operators of signals refuse: the error names the operator, the port, and both sides.

use std::fmt;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::operators::{
    Fir, Gather, Hilbert, Interpolate, InterpolateAt, Istft, Peaks, Polyphase, Stft, Transpose,
};
use streamflow_tests::{Failed, check_equal, check_error, check_text};

use super::cases::push;

type C32 = Complex<f32>;

fn refused<O: fmt::Debug>(made: Result<O, Failure>, parts: &[&str]) -> Result<(), Failed> {
    check_text(&check_error("a wrong constructor", made, |_| true)?, parts)
}

pub(crate) fn constructors() -> Result<(), Failed> {
    let (nan, high) = (f32::NAN, f32::INFINITY);
    let none: [f32; 0] = [];
    refused(Fir::<f32>::new(none), &["`Fir`", "no taps", "at least one"])?;
    refused(Fir::<f32>::new([1.0, nan]), &["`Fir`", "2 taps", "number 1 is NaN"])?;
    let taps = [Complex::new(1.0, high)];
    refused(Fir::<C32, C32>::new(taps), &["`Fir`", "1 taps", "number 0 is"])?;
    refused(Polyphase::<f32>::new(none, 1, 1), &["`Polyphase`", "no taps"])?;
    refused(Polyphase::<f32>::new([high], 1, 1), &["`Polyphase`", "number 0 is inf"])?;
    for (up, down) in [(0, 1), (1, 0), (100_001, 1), (1, 1 << 32), (usize::MAX, 1)] {
        let text = format!("by {up} / {down}");
        refused(Polyphase::<f32>::new([1.0], up, down), &["`Polyphase`", &text, "1 to 100,000"])?;
    }
    refused(Stft::<f32>::new(none, 1), &["`Stft`", "no weights of its window"])?;
    refused(Stft::<f32>::new([1.0, nan], 1), &["`Stft`", "number 1 is NaN"])?;
    for hop in [0, 9, 1 << 32, usize::MAX] {
        let text = format!("a hop of {hop} samples and a window of 8");
        refused(Stft::<f32>::hann(8, hop), &["`Stft`", &text, "from 1 to 8"])?;
        refused(Istft::<f32>::hann(8, hop), &["`Istft`", &text, "from 1 to 8"])?;
    }
    refused(Stft::<f32>::hann(1 << 32, 1), &["`Stft`", "4294967296 samples", "at most 2^24"])?;
    refused(Istft::<f32>::hann(usize::MAX, 1), &["`Istft`", "at most 2^24"])?;
    // The first weight of a Hann window is 0.
    refused(
        Istft::<f32>::hann(8, 8),
        &["`Istft`", "8 weights", "hop of 8", "sample 0", "shorter"],
    )?;
    for most in [0, 1 << 32, usize::MAX] {
        refused(Peaks::new(most), &["`Peaks`", &format!("{most} places"), "4,294,967,295"])?;
    }
    refused(Peaks::new(1)?.distance(0), &["`Peaks`", "distance of 0", "at least 1"])?;
    for (low, high) in [(2.0, 1.0), (nan, 1.0), (1.0, nan)] {
        let text = format!("from {low} to {high}");
        refused(Peaks::new(1)?.heights(low, high), &["`Peaks`", &text, "not below"])?;
    }
    refused(Interpolate::<f32>::new(none), &["`Interpolate`", "no positions"])?;
    refused(Interpolate::<f32>::new([nan]), &["`Interpolate`", "number 0 is NaN"])?;
    let between = || Interpolate::<f32>::new([0.0]);
    refused(between()?.knots(none), &["`Interpolate`", "no knots"])?;
    refused(between()?.knots([1.0, high]), &["`Interpolate`", "number 1 is inf"])?;
    let text = ["`InterpolateAt`", "knots 2 and then 2", "indices 1 and 2", "ascend"];
    refused(InterpolateAt::<f32>::new().knots([1.0, 2.0, 2.0]), &text)?;
    for axes in [&[][..], &[1], &[0, 0], &[0, 2], &[0, 1, 2, 3, 4], &[0, 1 << 32]] {
        let text = format!("axes {axes:?}");
        refused(Transpose::<f32>::new(axes), &["`Transpose`", &text, "1 to 4 axes"])?;
    }
    Ok(())
}

/// Checks the error of a tick with one message.
macro_rules! refused {
    ($platform:expr, $operator:expr, $input:ident, $values:expr, $shape:expr, $parts:expr) => {{
        let mut harness = OperatorHarness::new($platform, $operator)?;
        push!($platform, harness, $input, $values, $shape);
        check_text(&check_error("a wrong message", harness.tick(), |_| true)?, &$parts)?;
    }};
}

pub(crate) fn messages(platform: &Platform) -> Result<(), Failed> {
    let scalar: [usize; 0] = [];
    let text = |operator| [operator, "`signal`", "shape []", "[…, length]"];
    refused!(platform, Fir::<f32>::new([1.0])?, signal, &[1.0], scalar, text("`Fir`"));
    let twice = Polyphase::<f32>::new([1.0], 2, 1)?;
    refused!(platform, twice, signal, &[1.0], scalar, text("`Polyphase`"));
    refused!(platform, Hilbert::new(), signal, &[1.0], scalar, text("`Hilbert`"));
    refused!(platform, Stft::<f32>::hann(4, 2)?, signal, &[1.0], scalar, text("`Stft`"));
    refused!(platform, Peaks::new(2)?, signal, &[1.0], scalar, text("`Peaks`"));
    let between = || Interpolate::<f32>::new([0.0, 1.0]);
    refused!(platform, between()?, signal, &[1.0], scalar, text("`Interpolate`"));

    let parts = ["`Interpolate`", "3 knots", "`signal`", "[2, 2]", "of 3 samples"];
    refused!(platform, between()?.knots([0.0, 1.0, 2.0])?, signal, &[1.0; 4], [2, 2], parts);
    let parts = ["`Interpolate`", "2 positions", "`signal`", "[3, 0]", "at least one"];
    let none: [f32; 0] = [];
    refused!(platform, between()?, signal, &none, [3, 0], parts);

    let spectra = [Complex::new(1.0, 0.0); 12];
    let parts = ["`Istft`", "window of 4 samples", "`spectra`", "[3, 4]", "[…, segments, 3]"];
    refused!(platform, Istft::<f32>::hann(4, 2)?, spectra, &spectra, [3, 4], parts);
    let parts = ["`Istft`", "`spectra`", "[12]", "[…, segments, 4]"];
    refused!(platform, Istft::<C32>::hann(4, 2)?, spectra, &spectra, [12], parts);
    let parts = ["`Istft`", "sends 7 samples", "`spectra`", "of 6", "[4, 3]", "smaller `len`"];
    refused!(platform, Istft::<f32>::hann(4, 2)?.len(7), spectra, &spectra, [4, 3], parts);

    let parts = ["`Transpose`", "axes [1, 0]", "`tensor`", "[2, 2, 3]", "2 dimensions"];
    refused!(platform, Transpose::<f32>::new([1, 0])?, tensor, &[1.0; 12], [2, 2, 3], parts);
    filtered(platform)?;
    taken(platform)
}

/// Another number of signals than in the tick before.
fn filtered(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Fir::<f32>::new([1.0, 2.0])?)?;
    push!(platform, harness, signal, &[1.0; 6], [2, 3]);
    check_equal(harness.tick()?, true)?;
    push!(platform, harness, signal, &[1.0; 6], [3, 2]);
    let text = check_error("other signals", harness.tick(), |_| true)?;
    check_text(&text, &["`Fir`", "of 2 signals", "`signal`", "3 signals", "[3, 2]", "the same"])
}

fn taken(platform: &Platform) -> Result<(), Failed> {
    for axis in [2, 1 << 32, usize::MAX] {
        let mut harness = OperatorHarness::new(platform, Gather::<f32, i32>::along(axis))?;
        push!(platform, harness, data, &[1.0; 6], [2, 3]);
        push!(platform, harness, indices, &[0], [1]);
        let text = check_error("no such axis", harness.tick(), |_| true)?;
        let along = format!("along axis {axis}");
        check_text(&text, &["`Gather`", &along, "`data`", "[2, 3]", "below 2"])?;
    }
    let none: [f32; 0] = [];
    let mut harness = OperatorHarness::new(platform, Gather::<f32, i32>::along(1))?;
    push!(platform, harness, data, &none, [2, 0]);
    push!(platform, harness, indices, &[0, 1], [2]);
    let text = check_error("no elements", harness.tick(), |_| true)?;
    let parts = ["`Gather`", "axis 1", "[2, 0]", "`data`", "`indices`", "[2]", "no indices"];
    check_text(&text, &parts)?;
    // Nine dimensions are more than a tensor has.
    let mut harness = OperatorHarness::new(platform, Gather::<f32, i32>::along(0))?;
    push!(platform, harness, data, &[1.0], [1, 1, 1, 1, 1]);
    push!(platform, harness, indices, &[0], [1, 1, 1, 1, 1]);
    let text = check_error("nine dimensions", harness.tick(), |_| true)?;
    check_text(&text, &["[1, 1, 1, 1, 1, 1, 1, 1, 1]"])
}
