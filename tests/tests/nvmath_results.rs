//! The transforms of the programs on nvmath-python's page about streams have the results that nvmath-python has.
//!
//! `examples/numpy/nvmath_streams.py` writes its results to the directory that `STREAMFLOW_NVMATH_RESULTS` names. The
//! program says which numbers the operands have. Here an operand is uploaded, transformed on one stream of an operator
//! and, for `device_stateless`, back on another one.
#![allow(clippy::print_stdout, reason = "the differences are a result")]

use std::path::{Path, PathBuf};
use std::{env, fs};

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::fft::{Fft, Layout, Real};
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check};

/// The environment variable with the directory of the results.
const RESULTS: &str = "STREAMFLOW_NVMATH_RESULTS";

/// The name of each result, the seed of its operand, and a factor that it has.
const PROGRAMS: [(&str, u64, f64); 10] = [
    ("host_stateless_1", 1, 1.0),
    ("host_stateless_2", 1, 2.0),
    ("device_stateless", 1, 1.0),
    ("deallocation", 2, 2.0),
    ("host_stateful_1", 1, 1.0),
    ("host_stateful_2", 3, 1.0),
    ("device_stateful_1", 4, 1.0),
    ("device_stateful_2", 5, 1.0),
    ("current_stream", 6, 1.0),
    ("operand_lifetime", 7, 1.0),
];

/// The tolerances for double and for single precision: 16 ulp for each of 25 steps, relative to the median.
const TOLERANCES: [f64; 2] = [16.0 * 25.0 / (1_u64 << 53) as f64, 16.0 * 25.0 / (1 << 24) as f64];

pub(crate) fn suite() -> Suite {
    // The simulator runs this only if the directory is named, since the transforms are large.
    Suite::new()
        .optional("results_equal_nvmath_pythons::cuda", "STREAMFLOW_REQUIRE_CUDA", || {
            with_results(|results| match Platform::cuda() {
                Ok(platform) => all(&platform, results).map(|()| None),
                Err(missing) => Ok(Some(missing.to_string())),
            })
        })
        .optional("results_equal_nvmath_pythons::host", "", || {
            with_results(|results| all(&Platform::host().build()?, results).map(|()| None))
        })
}

fn with_results(
    compare: impl FnOnce(&Path) -> Result<Option<String>, Failed>,
) -> Result<Option<String>, Failed> {
    match env::var_os(RESULTS).map(PathBuf::from) {
        Some(results) => compare(&results),
        None => Ok(Some(format!("{RESULTS} names no results"))),
    }
}

fn all(platform: &Platform, results: &Path) -> Result<(), Failed> {
    for (name, seed, factor) in PROGRAMS {
        let (expected, is_double) = read(&results.join(format!("{name}.npy")))?;
        let shape = shape_of(results, name)?;
        let is_twice = name == "device_stateless";
        let found = match is_double {
            true => transformed(platform, shape, (seed, factor), is_twice, |x| x)?,
            false => transformed(platform, shape, (seed, factor), is_twice, |x| x as f32)?,
        };
        let off = difference(&samples(&found), &expected)?;
        if name == "deallocation" {
            let other =
                transformed(platform, shape_of(results, name)?, (seed + 1, factor), false, |x| x)?;
            let off = difference(&samples(&other), &expected)?;
            check(off > 1e-3, || "control: another operand has the same transform".into())?;
        }
        let tolerance = TOLERANCES[usize::from(!is_double)];
        println!("{name:<18} {off:.1e} of {tolerance:.1e}");
        check(off <= tolerance, || format!("{name} is off by {off:e}, more than {tolerance:e}"))?;
    }
    Ok(())
}

fn shape_of(results: &Path, name: &str) -> Result<Vec<usize>, Failed> {
    let shape = fs::read_to_string(results.join(format!("{name}.shape")))?;
    Ok(shape.split(' ').map(str::parse).collect::<Result<_, _>>()?)
}

/// An operator that transforms its operand over the first two dimensions on one stream, and back on another
/// stream if `is_twice`.
#[operator(streams(s1, s2))]
struct Transforms<T: Real>
where
    Complex<T>: Element,
{
    #[output]
    result: HostData<Vec<Complex<T>>>,
    operand: Vec<Complex<T>>,
    shape: Vec<usize>,
    is_twice: bool,
}

impl<T: Real> Compute for Transforms<T>
where
    Complex<T>: Element,
{
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (s1, s2) = (cx.allocate_cuda_stream(io.s1)?, cx.allocate_cuda_stream(io.s2)?);
        let (plane, len) = ([self.shape[0], self.shape[1]], self.operand.len());
        let others = self.shape.get(2).copied().unwrap_or(1);
        let layout = Layout::embedded(plane).stride(others).distance(1);
        let planner = Fft::<T>::plan(plane).batch(others).input(layout).output(layout);
        let (a, mut b) = (cx.upload(&self.operand)?, cx.tensor([len], &s1)?);
        planner.clone().on(cx, &s1)?.forward(&s1, &a, &mut b)?;
        if self.is_twice {
            let mut c = cx.tensor([len], &s2)?;
            planner.on(cx, &s2)?.inverse(&s2, &b, &mut c)?;
            b = c;
        }
        let result = s2.download_blocking(&b)?;
        io.result.emit(HostData(result))
    }
}

/// Returns the transform of the operand that a seed gives.
fn transformed<T: Real + Into<f64>>(
    platform: &Platform,
    shape: Vec<usize>,
    (seed, factor): (u64, f64),
    is_twice: bool,
    of: fn(f64) -> T,
) -> Result<Vec<Complex<f64>>, Failed>
where
    Complex<T>: Element,
{
    let mut random = Random::new(seed);
    let mut number = || of(factor * ((random.bits() >> 11) as f64 / (1_u64 << 53) as f64));
    let elements: usize = shape.iter().product();
    let operand = (0..elements).map(|_| Complex::new(number(), number())).collect();
    let mut harness = OperatorHarness::new(platform, Transforms::new(operand, shape, is_twice))?;
    harness.tick()?;
    let result = harness.take(|ports| &mut ports.result);
    harness.stop()?;
    let result = result.ok_or_else(|| Failed::msg("no result"))?.message;
    Ok(result.iter().map(|x| Complex::new(x.re.into(), x.im.into())).collect())
}

/// Returns every `s`-th element, with the smallest odd `s` that leaves at most 8192 elements.
fn samples(all: &[Complex<f64>]) -> Vec<Complex<f64>> {
    all.iter().step_by(all.len().div_ceil(8192).max(1) | 1).copied().collect()
}

/// Returns the largest difference, divided by the median.
fn difference(found: &[Complex<f64>], expected: &[Complex<f64>]) -> Result<f64, Failed> {
    let lengths = (found.len(), expected.len());
    check(lengths.0 == lengths.1, || format!("{lengths:?} elements"))?;
    let mut sizes: Vec<_> = expected.iter().map(|x| x.norm()).collect();
    sizes.sort_by(f64::total_cmp);
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).norm());
    // A NaN counts as farther off than any number.
    let off = off.map(|off| if off.is_nan() { f64::INFINITY } else { off }).fold(0.0, f64::max);
    Ok(off / sizes.get(sizes.len() / 2).copied().unwrap_or(0.0))
}

/// Reads a file of complex numbers in NumPy's format, version 1. Returns the numbers, and whether they are of
/// double precision.
fn read(path: &Path) -> Result<(Vec<Complex<f64>>, bool), Failed> {
    let file =
        fs::read(path).map_err(|error| Failed::msg(format!("{}: {error}", path.display())))?;
    let other = || Failed::msg(format!("{} has no complex numbers", path.display()));
    let (Some(b"\x93NUMPY\x01\0"), Some(&[low, high])) = (file.get(..8), file.get(8..10)) else {
        return Err(other());
    };
    let begin = 10 + usize::from(u16::from_le_bytes([low, high]));
    let (header, data) = file.split_at_checked(begin).ok_or_else(other)?;
    let header = String::from_utf8_lossy(header);
    let doubles = |x: &[u8; 16]| {
        let (re, im) = x.split_at(8);
        let part = |x: &[u8]| x.try_into().map_or(f64::NAN, f64::from_le_bytes);
        Complex::new(part(re), part(im))
    };
    let singles = |x: &[u8; 8]| {
        let (re, im) = x.split_at(4);
        let part = |x: &[u8]| x.try_into().map_or(f64::NAN, |x| f32::from_le_bytes(x).into());
        Complex::new(part(re), part(im))
    };
    if header.contains("'<c16'") {
        Ok((data.as_chunks().0.iter().map(doubles).collect(), true))
    } else if header.contains("'<c8'") {
        Ok((data.as_chunks().0.iter().map(singles).collect(), false))
    } else {
        Err(other())
    }
}
