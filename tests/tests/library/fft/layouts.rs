//! Layouts of transforms: which elements are read, and which are written.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::fft::{Fft, InverseRealFft, Layout, Norm, RealFft};
use streamflow_tests::{Failed, Suite, check};

use super::compare::{close, device, factor, host, reference, tolerance};
use super::dft::{C64, Tested, complex_numbers, dft, numbers};
use super::within::{stream, within};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_transform_touches_the_elements_of_its_layout_alone", |platform| {
            layouts::<f32>(platform)?;
            layouts::<f64>(platform)
        })
        .both("an_inverse_transform_normalizes_the_elements_of_its_layout_alone", real_layouts)
}

/// The numbers of a layout: the lengths of the embedding array, the stride, and the distance.
type Numbers = ([usize; 2], usize, usize);

fn layout((embed, stride, distance): Numbers) -> Layout {
    Layout::embedded(embed).stride(stride).distance(distance)
}

/// Returns the index of each element, by the formula of the documentation.
fn indices((embed, stride, distance): Numbers, [n1, n2]: [usize; 2], batch: usize) -> Vec<usize> {
    let count = n1 * n2;
    let at = |i: usize| (i / n2 % n1 * embed[1] + i % n2) * stride + i / count * distance;
    (0..batch * count).map(at).collect()
}

fn layouts<T: Tested>(platform: &Platform) -> Result<(), Failed>
where
    Complex<T>: Element,
{
    // The layouts of input and output: columns, padded rows, windows that overlap, and transforms whose elements
    // interleave.
    let cases: [([usize; 2], usize, Numbers, Numbers); 4] = [
        ([1, 8], 5, ([1, 8], 5, 1), ([1, 8], 5, 1)),
        ([3, 5], 2, ([4, 7], 1, 30), ([3, 6], 2, 50)),
        ([1, 16], 4, ([1, 16], 1, 4), ([1, 17], 1, 17)),
        ([2, 3], 3, ([2, 3], 3, 1), ([3, 4], 2, 100)),
    ];
    within(platform, move |cx| {
        let s = stream(cx, "a")?;
        for (i, (lengths, batch, from, to)) in cases.into_iter().enumerate() {
            for norm in [Norm::None, Norm::Unitary] {
                let count = lengths[0] * lengths[1];
                let (read, written) = (indices(from, lengths, batch), indices(to, lengths, batch));
                let size = |all: &[usize]| all.iter().max().map_or(0, |last| last + 1);
                // The input has one element more than the layout needs.
                let x = complex_numbers(size(&read) + 1, i as u64);
                let dense: Vec<_> = read.iter().map(|&at| x[at]).collect();
                let factor = factor(norm, count, false);
                let around = complex_numbers(size(&written) + 2, 77);
                let mut wanted = around.clone();
                for (&at, y) in written.iter().zip(reference(&dense, &lengths, false, factor)) {
                    wanted[at] = y;
                }
                let mut y = device::<T>(cx, &around)?;
                let input = device::<T>(cx, &x)?;
                let plan = Fft::<T>::plan(lengths).batch(batch).norm(norm);
                let mut fft = plan.input(layout(from)).output(layout(to)).on(cx, &s)?;
                fft.forward(&s, &input, &mut y)?;
                let found = host(cx, &s, &y)?;
                close(&format!("case {i}, {norm:?}"), &found, &wanted, tolerance::<T>(count))?;
                for (at, (found, around)) in found.iter().zip(&around).enumerate() {
                    check(written.contains(&at) || *found == T::complex(*around), || {
                        format!("case {i}: element {at} is not the transform's")
                    })?;
                }
            }
        }
        Ok(())
    })
}

/// Checks rows of real numbers with gaps, transformed to spectra in columns and back.
fn real_layouts(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        for n in [9, 10] {
            let (batch, half, row) = (3, n / 2 + 1, n + 4);
            let x = numbers(batch * row, 5);
            let (rows, columns) = (
                Layout::embedded([n]).distance(row),
                Layout::embedded([half]).stride(batch).distance(1),
            );
            let values: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let input = cx.upload(&values)?;
            let mut spectrum = cx.tensor([batch * half], &s)?;
            let mut fft = RealFft::plan([n]).batch(batch).input(rows).output(columns).on(cx, &s)?;
            fft.forward(&s, &input, &mut spectrum)?;
            let found = host(cx, &s, &spectrum)?;
            for b in 0..batch {
                let of_row: Vec<_> = x[b * row..][..n].iter().map(|&x| C64::new(x, 0.0)).collect();
                let found: Vec<_> = found.iter().skip(b).step_by(batch).copied().collect();
                let wanted = &dft(&of_row, &[n], false)[..half];
                close::<f32>("a column", &found, wanted, tolerance::<f32>(n))?;
            }
            let mut back = cx.upload(&vec![4.0_f32; batch * row])?;
            let plan = InverseRealFft::plan([n]).batch(batch).norm(Norm::ByLength);
            let mut fft = plan.input(columns).output(rows).on(cx, &s)?;
            fft.inverse(&s, &mut spectrum, &mut back)?;
            for (at, found) in host(cx, &s, &back)?.into_iter().enumerate() {
                let wanted = if at % row < n { values[at] } else { 4.0 };
                let allowed = if at % row < n { 1e-5 } else { 0.0 };
                check((found - wanted).abs() <= allowed, || {
                    format!("{at}: {found}, not {wanted}")
                })?;
            }
        }
        Ok(())
    })
}
