//! `Hilbert`, `Stft` and `Istft`. The rounding of transforms of up to 64 numbers in `f32` is within 2e-6 of the largest one.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::operators::{Hilbert, Istft, Stft};
use streamflow_math::signal::Sample;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, check_equal};

use super::cases::{self, Parts, near, ticked};

type C32 = Complex<f32>;

pub(crate) fn analytic(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.hilbert.iter().enumerate() {
        let x = f32::of(&case.x);
        let found = ticked!(platform, Hilbert::new(), signal -> analytic, &x, &*case.shape);
        near(&format!("case {number}"), &found, &case.shape, &case.y, 2e-6)?;
    }
    Ok(())
}

fn stft_of<T: Sample>(case: &cases::Stft) -> Result<Stft<T>> {
    let made = Stft::new(f32::of(&case.window), case.hop)?;
    Ok(if case.pads { made } else { made.unpadded() })
}

fn istft_of<T: Sample>(case: &cases::Stft) -> Result<Istft<T>> {
    let made = Istft::new(f32::of(&case.window), case.hop)?;
    Ok(if case.pads { made } else { made.unpadded() })
}

pub(crate) fn forward(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.stft.iter().enumerate() {
        if case.complex {
            forward_of::<C32>(platform, case, number)?;
        } else {
            forward_of::<f32>(platform, case, number)?;
        }
    }
    Ok(())
}

fn forward_of<T: Sample + Parts>(
    platform: &Platform,
    case: &cases::Stft,
    number: usize,
) -> Result<(), Failed> {
    let operator = stft_of::<T>(case)?;
    let found = ticked!(platform, operator, signal -> spectra, &T::of(&case.x), &*case.shape);
    near(&format!("case {number}"), &found, &case.spectra_shape, &case.spectra, 2e-6)
}

pub(crate) fn inverse(platform: &Platform) -> Result<(), Failed> {
    for (number, case) in cases::all()?.stft.iter().enumerate() {
        if case.complex {
            inverse_of::<C32>(platform, case, number)?;
        } else {
            inverse_of::<f32>(platform, case, number)?;
        }
    }
    Ok(())
}

fn inverse_of<T: Sample + Parts>(
    platform: &Platform,
    case: &cases::Stft,
    number: usize,
) -> Result<(), Failed> {
    let (what, spectra, shape) =
        (format!("case {number}"), C32::of(&case.changed), &*case.spectra_shape);
    let operator = istft_of::<T>(case)?;
    let found = ticked!(platform, operator, spectra -> signal, &spectra, shape);
    near(&what, &found, &case.signal_shape, &case.signal, 5e-6)?;
    // The first samples of each signal alone.
    let len = case.shape[case.shape.len() - 1];
    let operator = istft_of::<T>(case)?.len(len.min(case.signal_shape[case.shape.len() - 1]));
    let (shorter, found) = ticked!(platform, operator, spectra -> signal, &spectra, shape);
    let len = shorter[shorter.len() - 1];
    let all = case.signal_shape[case.shape.len() - 1];
    let each = if case.complex { 2 } else { 1 };
    let wanted = case.signal.chunks(all * each).flat_map(|row| &row[..len * each]).copied();
    near(&what, &(shorter.clone(), found), &shorter, &wanted.collect::<Vec<_>>(), 5e-6)
}

pub(crate) fn round_trip(platform: &Platform) -> Result<(), Failed> {
    for (window, hop, len) in [(8, 4, 1), (8, 3, 50), (15, 7, 100), (64, 16, 1000), (5, 4, 13)] {
        let real = Random::new(len as u64).floats(2 * len);
        let complex = Random::new(hop as u64).floats(4 * len);
        let complex: Vec<C32> = complex.chunks(2).map(|z| Complex::new(z[0], z[1])).collect();
        round_trip_of(platform, window, hop, &real)?;
        round_trip_of(platform, window, hop, &complex)?;
    }
    Ok(())
}

fn round_trip_of<T: Sample + Parts>(
    platform: &Platform,
    window: usize,
    hop: usize,
    x: &[T],
) -> Result<(), Failed> {
    let len = x.len() / 2;
    let there = Stft::<T>::hann(window, hop)?;
    let (shape, spectra) = ticked!(platform, there, signal -> spectra, x, [2, len]);
    let back = Istft::<T>::hann(window, hop)?.len(len);
    let found = ticked!(platform, back, spectra -> signal, &spectra, &*shape);
    let wanted: Vec<f64> = T::parts(x).into_iter().map(f64::from).collect();
    near(&format!("window {window}, hop {hop}"), &found, &[2, len], &wanted, 2e-6)
}

/// Without samples, without signals, without a segment, and without a window's length.
pub(crate) fn empty(platform: &Platform) -> Result<(), Failed> {
    let none: [f32; 0] = [];
    for (shape, segments) in [([3, 0], 0), ([0, 16], 5)] {
        let spectra = vec![shape[0], segments, 5];
        let stft = Stft::<f32>::hann(8, 4)?;
        let found = ticked!(platform, stft, signal -> spectra, &none, shape);
        check_equal(found, (spectra.clone(), vec![]))?;
        let (istft, of_none): (_, [C32; 0]) = (Istft::<f32>::hann(8, 4)?, []);
        let found = ticked!(platform, istft, spectra -> signal, &of_none, &*spectra);
        check_equal(found, (shape.to_vec(), vec![]))?;
        let found = ticked!(platform, Hilbert::new(), signal -> analytic, &none, shape);
        check_equal(found, (shape.to_vec(), vec![]))?;
    }
    let stft = Stft::<f32>::hann(8, 4)?.unpadded();
    let found = ticked!(platform, stft, signal -> spectra, &[1.0; 7], [7]);
    check_equal(found, (vec![0, 5], vec![]))
}
