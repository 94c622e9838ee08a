//! Compares the two bodies of the examples' kernels.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::{Draw, Tolerance};
use streamflow_examples::edges::grey;
use streamflow_examples::radar::{average, cfar, compress, listen};
use streamflow_examples::seed_app::{exp_linspace, multiply_sum_rows};
use streamflow_examples::stream_semantics::{join, scale};
use streamflow_examples::temporal::share;

use super::Bodies;

/// The value of elements that the kernels do not write.
const UNWRITTEN: f32 = f32::NAN;

/// Draws complex numbers with parts from -1 to 1. Returns them with as many numbers to write to.
fn signal(draw: &mut Draw, len: usize) -> (Vec<Complex<f32>>, Vec<Complex<f32>>) {
    let corner = Complex::new(1.0, 1.0);
    (vec![Complex::new(UNWRITTEN, UNWRITTEN); len], draw.values(len, -corner..=corner))
}

pub(crate) fn add(bodies: Bodies) -> Bodies {
    // In most cases only positive values are added, so no cancellation makes a rounding error large: the CUDA bodies
    // fuse products and sums.
    bodies
        // Rounding an exponent of up to 16 changes the result by a fraction of 2⁻²⁰.
        .same::<exp_linspace>(Tolerance::relative(1e-5), |draw| {
            let n = draw.len(0..=5000);
            let step: f32 = draw.value(-5.0..=5.0);
            let (start, step) = (draw.value(-5.0..=5.0), step / n.max(1) as f32);
            (n.into(), (vec![UNWRITTEN; n], start, step))
        })
        .same::<multiply_sum_rows>(Tolerance::relative(1e-5), |draw| {
            let (cols, rows) = (draw.len(0..=3000), draw.len(0..=20));
            let (a, b) = (draw.values(rows * cols, 0.0..=1.0), draw.values(rows * cols, 0.0..=1.0));
            (Grid::blocks(rows), (vec![UNWRITTEN; rows], a, b, cols as u32))
        })
        .same::<grey>(Tolerance::ulps(4), |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (vec![UNWRITTEN; n], draw.values(3 * n, 0..=255)))
        })
        .same::<share>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let frame = draw.values(n, -1.0..=1.0);
            (n.into(), (vec![UNWRITTEN; n], frame, draw.value(0.0..=1.0)))
        })
        // Only two numbers are added, so the result is exact.
        .same::<listen>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let (out, scene) = signal(draw, n);
            (n.into(), (out, scene, draw.value(0..=u32::MAX)))
        })
        // The result is a sum of at most 20 products of at most 2 each.
        .same::<compress>(Tolerance::absolute(5e-5), |draw| {
            let (samples, chips) = (draw.len(1..=300), draw.len(0..=20));
            let (pulses, channels) = (draw.len(1..=5), draw.len(0..=4));
            let (out, echoes) = signal(draw, channels * pulses * samples);
            let code = draw.values(chips, -1.0..=1.0);
            (out.len().into(), (out, echoes, code, samples, pulses))
        })
        // The result is a sum of at most eight squares.
        .same::<average>(Tolerance::relative(1e-6).or_absolute(1e-6), |draw| {
            let (samples, pulses, channels) = (draw.len(1..=70), draw.len(1..=32), draw.len(1..=4));
            let map = vec![UNWRITTEN; pulses * samples];
            let mean = draw.values(map.len(), 0.0..=1.0);
            let (_, cells) = signal(draw, channels * map.len());
            (map.len().into(), (mean, map, cells, samples, draw.value(0.0..=1.0)))
        })
        // The sums have no products, and there is one product on each side of the comparison, so the result is exact.
        .same::<cfar>(Tolerance::EXACT, |draw| {
            let (samples, rows) = (draw.len(1..=300), draw.len(0..=40));
            let map = draw.values(rows * samples, 0.0..=1.0);
            let (guard, training) = (draw.value(0..=5), draw.value(0..=10));
            let found = draw.values(map.len(), 0..=255);
            let threshold = draw.value(1.0..=3.0);
            (map.len().into(), (found, map, samples, guard, training, threshold))
        })
        .same::<join>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let (re, im) = (draw.values(n, -1.0..=1.0), draw.values(n, -1.0..=1.0));
            (n.into(), (vec![Complex::new(f64::NAN, f64::NAN); n], re, im))
        })
        .same::<scale>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            let corner = Complex::new(1.0, 1.0);
            (n.into(), (draw.values(n, -corner..=corner), draw.value(-3.0..=3.0)))
        })
}
