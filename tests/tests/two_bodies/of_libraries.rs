//! Compares the two bodies of the kernels of `streamflow::library` and `streamflow::operators`.

use streamflow::__private::{convolve_2d, multiply_rows, normalize, resample};
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::{Draw, Tolerance};
use streamflow_math::fft::kernels::{Number, scale, scale_embedded};
use streamflow_math::random::kernels::{
    normal_f32, normal_f64, random_u32, uniform_f32, uniform_f64,
};

use super::Bodies;

/// Draws a grid, and the length, the seed, the counter and the place of random numbers.
fn numbers(draw: &mut Draw) -> (Grid, usize, u64, u64, u32) {
    let len = draw.len(0..=5000);
    let any = 0..=u64::MAX;
    // In some cases the numbers begin at the end of a round, so that some of the values are in the next round.
    let place = if draw.value(0..=1_u32) == 0 {
        draw.value(0..=262_143)
    } else {
        draw.value(262_100..=262_143)
    };
    // The kernels loop over their elements, so any grid is right.
    let grid = Grid::from(draw.len(1..=5000));
    (grid, len, draw.value(any.clone()), draw.value(any), place)
}

/// Compares the kernels of Fourier transforms for one type of numbers.
macro_rules! fourier {
    ($bodies:ident: $number:ty, $most:expr) => {{
        type Z = $number;
        type R = <Z as Number>::Real;
        let numbers = |draw: &mut Draw, len: usize| -> Vec<Z> { draw.values(len, -$most..=$most) };
        $bodies
            .same::<scale<Z>>(Tolerance::ulps(1), move |draw| {
                let len = draw.len(0..=3000);
                (Grid::from(len), (numbers(draw, len), draw.value(-2.0..=2.0 as R)))
            })
            .same::<scale_embedded<Z>>(Tolerance::ulps(1), move |draw| {
                let [n0, n1, n2] = [0; 3].map(|_| draw.len(1..=4));
                let [e1, e2] = [n1 + draw.len(0..=2), n2 + draw.len(0..=2)];
                let (stride, batch) = (draw.len(1..=3), draw.len(0..=3));
                let distance = n0 * e1 * e2 * stride + draw.len(0..=5);
                let (data, count) = (numbers(draw, batch * distance), batch * n0 * n1 * n2);
                let factor = draw.value(-2.0..=2.0 as R);
                (Grid::from(count), (data, factor, count, n0, n1, n2, e1, e2, stride, distance))
            })
    }};
}

pub(crate) fn add(bodies: Bodies) -> Bodies {
    let bodies = fourier!(bodies: f32, 1.0);
    let bodies = fourier!(bodies: f64, 1.0);
    let bodies = fourier!(bodies: Complex<f32>, Complex::new(1.0, 1.0));
    let bodies = fourier!(bodies: Complex<f64>, Complex::new(1.0, 1.0));
    bodies
        .same::<random_u32>(Tolerance::EXACT, |draw| {
            let (grid, len, seed, counter, place) = numbers(draw);
            (grid, (vec![0; len], seed, counter, place))
        })
        .same::<uniform_f32>(Tolerance::EXACT, |draw| {
            let (grid, len, seed, counter, place) = numbers(draw);
            (grid, (vec![f32::NAN; len], seed, counter, place))
        })
        .same::<uniform_f64>(Tolerance::EXACT, |draw| {
            let (grid, len, seed, counter, place) = numbers(draw);
            (grid, (vec![f64::NAN; len], seed, counter, place, draw.value(0..=65_535)))
        })
        // CUDA's logarithm, sine and cosine have errors of 1 and 2 ulp.
        .same::<normal_f32>(Tolerance::ulps(4), |draw| {
            let (grid, len, seed, counter, place) = numbers(draw);
            (grid, (vec![f32::NAN; len], seed, counter, place, 0.0, 1.0))
        })
        .same::<normal_f64>(Tolerance::ulps(4), |draw| {
            let (grid, len, seed, counter, place) = numbers(draw);
            let behind = draw.value(0..=65_535);
            (grid, (vec![f64::NAN; len], seed, counter, place, behind, 0.0, 1.0))
        })
        .same::<normalize>(Tolerance::ulps(2), |draw| {
            let n = draw.len(0..=5000);
            let x = draw.values(n, -100.0..=100.0);
            (n.into(), (x, draw.value(-10.0..=10.0), draw.value(0.5..=10.0)))
        })
        // The results are sums of at most 35 products of at most 1 each.
        .same::<convolve_2d>(Tolerance::absolute(1e-5), |draw| {
            let (rows, cols, images) = (draw.len(1..=40), draw.len(1..=40), draw.len(0..=3));
            let (weight_rows, weight_cols) = (2 * draw.len(0..=2) + 1, 2 * draw.len(0..=3) + 1);
            let n = rows * cols * images;
            let weights = draw.values(weight_rows * weight_cols, -1.0..=1.0);
            let values = (vec![f32::NAN; n], draw.values(n, -1.0..=1.0), weights, rows, cols);
            let (out, image, weights, rows, cols) = values;
            let nearest = (draw.value(0..=1_u8) == 1).into();
            (n.into(), (out, image, weights, rows, cols, weight_rows, weight_cols, nearest))
        })
        .same::<multiply_rows<f32>>(Tolerance::EXACT, |draw| {
            let (rows, length) = (draw.len(0..=20), draw.len(1..=300));
            let (signals, weights) =
                (draw.values(rows * length, -1.0..=1.0), draw.values(length, -1.0..=1.0));
            (signals.len().into(), (signals, weights, length))
        })
        .same::<multiply_rows<Complex<f32>>>(Tolerance::EXACT, |draw| {
            let (rows, length) = (draw.len(0..=20), draw.len(1..=300));
            let corner = Complex::new(1.0, 1.0);
            let (signals, weights) =
                (draw.values(rows * length, -corner..=corner), draw.values(length, -1.0..=1.0));
            (signals.len().into(), (signals, weights, length))
        })
        .same::<resample<f32>>(Tolerance::absolute(1e-5), |draw| {
            let (rows, length) = (draw.len(0..=5), draw.len(1..=300));
            let (up, down, half) = (draw.len(1..=7), draw.len(1..=7), draw.len(0..=40));
            let new_len = (length * up).div_ceil(down);
            let signals = draw.values(rows * length, -1.0..=1.0);
            let filter = draw.values(2 * half + 1, -1.0..=1.0);
            let out = vec![f32::NAN; rows * new_len];
            (out.len().into(), (out, signals, filter, length, new_len, up, down))
        })
        .same::<resample<Complex<f32>>>(Tolerance::absolute(1e-5), |draw| {
            let (rows, length) = (draw.len(0..=5), draw.len(1..=300));
            let (up, down, half) = (draw.len(1..=7), draw.len(1..=7), draw.len(0..=40));
            let new_len = (length * up).div_ceil(down);
            let corner = Complex::new(1.0, 1.0);
            let signals = draw.values(rows * length, -corner..=corner);
            let filter = draw.values(2 * half + 1, -1.0..=1.0);
            let out = vec![Complex::new(f32::NAN, f32::NAN); rows * new_len];
            (out.len().into(), (out, signals, filter, length, new_len, up, down))
        })
}
