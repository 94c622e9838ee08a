//! Compares the two bodies of the kernels of operators of signals.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::{Draw, Tolerance};
use streamflow_math::signal::kernels::{
    analytic, filter, frame, keep, mix, overlap, permute, take, thin,
};

use super::Bodies;

type C32 = Complex<f32>;
const CORNER: C32 = C32::new(1.0, 1.0);

/// Compares the kernels for one type of samples. `$draw` draws samples of at most 1.
macro_rules! of_samples {
    ($bodies:ident: $sample:ty, $nan:expr, $draw:ident) => {
        $bodies
            .same::<keep<$sample>>(Tolerance::EXACT, |draw| {
                let (rows, past, len) = (draw.len(0..=9), draw.len(1..=40), draw.len(0..=60));
                let (signals, history) = ($draw(draw, rows * len), $draw(draw, rows * past));
                let out = vec![$nan; rows * past];
                (out.len().into(), (out, signals, history, len, past))
            })
            .same::<frame<$sample>>(Tolerance::EXACT, |draw| {
                let (rows, len, segments) = (draw.len(0..=5), draw.len(0..=90), draw.len(1..=9));
                let (window, hop) = (draw.len(1..=33), draw.len(1..=20));
                let (signals, before) = ($draw(draw, rows * len), draw.len(0..=window));
                let weights = draw.values(window, -1.0..=1.0);
                let out = vec![$nan; rows * segments * window];
                (out.len().into(), (out, signals, weights, len, segments, hop, before))
            })
            // The results are at most twice as large as the samples.
            .same::<overlap<$sample>>(Tolerance::absolute(1e-5), |draw| {
                let (rows, len, segments) = (draw.len(0..=5), draw.len(1..=90), draw.len(1..=9));
                let (window, hop) = (draw.len(1..=33), draw.len(1..=20));
                let (frames, before) =
                    ($draw(draw, rows * segments * window), draw.len(0..=window));
                let weights = draw.values(window, 0.5..=1.0);
                let out = vec![$nan; rows * len];
                (out.len().into(), (out, frames, weights, len, segments, hop, before, 0.75))
            })
            .same::<permute<$sample>>(Tolerance::EXACT, |draw| {
                let [n0, n1, n2, n3] = [0; 4].map(|_| draw.len(1..=7));
                let a = $draw(draw, n0 * n1 * n2 * n3);
                // The axes in the order 2, 0, 3, 1, of a tensor with the lengths n1, n3, n0, n2.
                let steps = (n2, n3 * n0 * n2, 1, n0 * n2);
                let out = vec![$nan; a.len()];
                (a.len().into(), (out, a, n1, n2, n3, steps.0, steps.1, steps.2, steps.3))
            })
            .same::<take<$sample>>(Tolerance::EXACT, |draw| {
                let (outer, len, inner) = (draw.len(0..=6), draw.len(1..=40), draw.len(1..=6));
                let count = draw.len(1..=50);
                let (a, places) =
                    ($draw(draw, outer * len * inner), draw.values(count, 0..=len as u64 + 1));
                let out = vec![$nan; outer * count * inner];
                (out.len().into(), (out, a, places, len, inner, <$sample>::default()))
            })
            .same::<mix<$sample>>(Tolerance::absolute(1e-6), |draw| {
                let (rows, len, count) = (draw.len(0..=6), draw.len(1..=40), draw.len(1..=50));
                let (signals, places) =
                    ($draw(draw, rows * len), draw.values(count, 0..=len as u64 + 1));
                let weights = draw.values(count, 0.0..=1.0);
                let out = vec![$nan; rows * count];
                (out.len().into(), (out, signals, places, weights, len, $draw(draw, 1)[0]))
            })
    };
}

/// Compares the filter of one type of samples and one of taps: a result is a sum of at most 30 products.
macro_rules! of_taps {
    ($bodies:ident: $sample:ty, $taps:ty, $nan:expr, $samples:ident, $of_taps:ident) => {
        $bodies.same::<filter<$sample, $taps>>(Tolerance::absolute(1e-5), |draw| {
            let (rows, len, past) = (draw.len(0..=5), draw.len(0..=90), draw.len(0..=12));
            let (up, down, new_len) = (draw.len(1..=5), draw.len(1..=5), draw.len(1..=150));
            let (signals, history) = ($samples(draw, rows * len), $samples(draw, rows * past));
            let count = draw.len(1..=30);
            let (taps, out) = ($of_taps(draw, count), vec![$nan; rows * new_len]);
            (out.len().into(), (out, signals, history, taps, len, past, new_len, up, down))
        })
    };
}

fn real(draw: &mut Draw, len: usize) -> Vec<f32> {
    draw.values(len, -1.0..=1.0)
}

fn complex(draw: &mut Draw, len: usize) -> Vec<C32> {
    draw.values(len, -CORNER..=CORNER)
}

const NAN: C32 = C32::new(f32::NAN, f32::NAN);

pub(crate) fn add(bodies: Bodies) -> Bodies {
    let bodies = of_samples!(bodies: f32, f32::NAN, real);
    let bodies = of_samples!(bodies: C32, NAN, complex);
    let bodies = of_taps!(bodies: f32, f32, f32::NAN, real, real);
    let bodies = of_taps!(bodies: C32, f32, NAN, complex, real);
    let bodies = of_taps!(bodies: C32, C32, NAN, complex, complex);
    bodies
        .same::<analytic>(Tolerance::EXACT, |draw| {
            let (rows, len) = (draw.len(0..=6), draw.len(1..=65));
            let spectra = complex(draw, rows * (len / 2 + 1));
            ((rows * len).into(), (vec![NAN; rows * len], spectra, len, 0.25))
        })
        .same::<thin>(Tolerance::EXACT, |draw| {
            let (rows, most) = (draw.len(0..=5), draw.len(1..=700));
            let steps = draw.values(rows * most, 2..=9_u32);
            let ascend = |row: &[u32]| {
                row.iter().scan(0, |at, step| Some(std::mem::replace(at, *at + step))).collect()
            };
            let positions: Vec<u32> =
                steps.chunks(most).map(ascend).collect::<Vec<Vec<u32>>>().concat();
            // Few heights, so that many are equal.
            let heights = draw.values(rows * most, 0..=20_u8).into_iter().map(f32::from).collect();
            let counts = draw.values(rows, 0..=most as u32);
            let kept = vec![7; rows * most];
            let grid = Grid::blocks(rows.max(1));
            (grid, (kept, positions, heights, counts, most, draw.value(1..=60)))
        })
}
