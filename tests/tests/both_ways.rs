//! Kernels of imaging, written with one body and with two, compute the same.
//!
//! The results are equal bit by bit, or within the errors of `log10` and `atan2` that the files of these state. Each is compared
//! with plain Rust in numbers of 64 bits or in integers. The results for other arguments must differ.
//!
//! The lines of each kernel and its launch, without blank lines and comments, as `lines.rs` counts them:
//!
//! | Kernel | One body | Two bodies | in Rust | in CUDA |
//! |---|---|---|---|---|
//! | delay and sum | 31 | 48 | 34 | 14 |
//! | envelope | 14 | 22 | 17 | 5 |
//! | scan conversion | 31 | 42 | 27 | 15 |
//! | resize, normalise, HWC→NCHW | 34 | 46 | 30 | 16 |
//! | arg-max | 10 | 24 | 17 | 7 |
//! | overlay | 21 | 25 | 19 | 6 |
//! | all | 141 | 207 | 144 | 63 |
//!
//! The products of the CUDA bodies are `__fmul_rn`, since NVRTC fuses others with an addition, and the two bodies of a kernel would
//! differ in the last bits. A kernel with one body needs no such function.

mod arg_max;
mod delay_and_sum;
mod envelope;
mod lines;
mod overlay;
mod preparation;
mod scan_conversion;

use streamflow::__private::KERNELS;
use streamflow::kernel::{CompiledCode, compile_for};
use streamflow::prelude::*;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_close};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("delay_and_sum", delay_and_sum::test)
        .both("envelope", envelope::test)
        .both("scan_conversion", scan_conversion::test)
        .both("preparation_for_a_network", preparation::test)
        .both("arg_max", arg_max::test)
        .both("overlay", overlay::test)
        .optional("the_text_in_cuda_compiles", "STREAMFLOW_REQUIRE_NVRTC", compiled)
        .plain("one_body_has_fewer_lines_than_two", lines::test)
        .plain("lines_are_those_of_code", lines::control)
}

/// Compiles the kernels of this suite for Hopper, those with one body and those with two.
fn compiled() -> Result<Option<String>, Failed> {
    if let Err(missing) = CompiledCode::compiler_version() {
        return Ok(Some(missing.to_string()));
    }
    let all = KERNELS.iter().copied().flatten().filter_map(|kernel| kernel.info.as_ref());
    let own: Vec<_> = all.filter(|info| info.file.contains("both_ways")).collect();
    for name in ["focus", "focus_twice", "arg_max_twice"] {
        check(own.iter().any(|info| info.name == name), || format!("no `{name}` in the list"))?;
    }
    for info in own {
        compile_for(info, (9, 0))?;
    }
    Ok(None)
}

/// Numbers from -1 to 1, none of them 0.
fn noise(seed: u64, n: usize) -> Vec<f32> {
    let numbers = Random::new(seed).floats(n);
    numbers.iter().map(|x| if *x == 0.0 { 0.5 } else { *x }).collect()
}

/// Bytes from 1 to 255.
fn noisy_bytes(seed: u64, n: usize) -> Vec<u8> {
    Random::new(seed).bytes(n).iter().map(|byte| (*byte).max(1)).collect()
}

/// The value of a signal at a place between two samples.
fn line_between(signal: &[f32], place: f64) -> f64 {
    let at = place as usize;
    let (a, b) = (f64::from(signal[at]), f64::from(signal[at + 1]));
    a + (b - a) * place.fract()
}

fn check_bits(found: &[f32], wanted: &[f32]) -> Result<(), Failed> {
    check(found.len() == wanted.len(), || format!("{} and {}", found.len(), wanted.len()))?;
    let mut pairs = found.iter().zip(wanted).enumerate();
    let other = pairs.find(|(_, (found, wanted))| found.to_bits() != wanted.to_bits());
    other.map_or(Ok(()), |(i, (found, wanted))| {
        Err(Failed::msg(format!("value {i} is {found:?}, not {wanted:?}")))
    })
}

fn check_near(found: &[f32], wanted: &[f64], error: f64) -> Result<(), Failed> {
    check_close(found, wanted, |_| error)
}

/// The control of a comparison: with other arguments, at least a third of the results are other ones.
fn check_control<T: PartialEq>(changed: &[T], wanted: &[T]) -> Result<(), Failed> {
    let others = changed.iter().zip(wanted).filter(|(a, b)| a != b).count();
    check(3 * others >= wanted.len(), || {
        format!("with other arguments, {others} results of {} differ", wanted.len())
    })
}
