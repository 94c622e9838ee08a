//! Random operands of each library function: numbers of all sizes, NaNs and infinities, and shapes with lengths of 0 and 1.
//!
//! No call may panic or make the device unusable. A result is right to within rounding if the type can represent it and
//! its terms; otherwise it is as documented.
//!
//! - `STREAMFLOW_EXTREMES_SECONDS=n` tries operands for `n` seconds, and not the first 40,000.
//! - `STREAMFLOW_EXTREMES_SEED=n` tries those that a failure names.

mod dense;
mod products;
mod sizes;
mod transforms;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::matmul::BlasElement;
use streamflow_math::sparse::SparseElement;
use streamflow_math::{fft, matmul, random, solve};
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Search, Suite, check};

use super::in_tick::in_ticks;
use super::matrices::Number;

const NAME: &str = "STREAMFLOW_EXTREMES";

/// The number of operands that are tried in one tick.
const IN_A_TICK: u64 = 16;

/// The number of operands that are tried. Each function gets more than a thousand of them.
const COUNT: u64 = 40_000;

pub(crate) fn add(suite: Suite) -> Suite {
    sizes::add(suite.plain("functions_take_numbers_and_shapes_of_all_sizes::host", all))
}

/// A real number type that all libraries have.
trait Real:
    Number
    + BlasElement
    + SparseElement
    + matmul::MatmulElement
    + fft::Real
    + solve::Real
    + random::Real
{
    const MOST: f64;
    const LEAST: f64;

    fn rounded(value: f64) -> Self {
        <Self as Number>::of(value)
    }
}

impl Real for f32 {
    const MOST: f64 = f32::MAX as f64;
    const LEAST: f64 = f32::MIN_POSITIVE as f64;
}

impl Real for f64 {
    const MOST: f64 = f64::MAX;
    const LEAST: f64 = f64::MIN_POSITIVE;
}

/// What a call of a function gets: the context, the stream and random numbers.
struct Setting<'a, 't> {
    cx: &'a ExecutionContext,
    stream: &'a Stream<'t>,
    random: Random,
    /// How extreme the random numbers are.
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Numbers between -1 and 1.
    Moderate,
    /// Finite numbers of all sizes.
    Extreme,
    /// Numbers of all sizes, NaNs and infinities.
    Any,
}

impl Setting<'_, '_> {
    fn length(&mut self) -> usize {
        [0, 1, 1, 2, 3, 4, 5, 7, 8, 13][self.random.below(10)]
    }

    fn number<T: Real>(&mut self) -> T {
        let signed = f64::from(self.random.signed());
        if self.kind == Kind::Moderate {
            return T::rounded(signed);
        }
        let sizes = [
            T::MOST,
            T::MOST.sqrt(),
            1e9,
            1.0,
            1.0,
            1e-9,
            T::LEAST.sqrt(),
            T::LEAST,
            T::LEAST * T::EPSILON,
            0.0,
        ];
        let size = sizes[self.random.below(sizes.len())];
        match self.random.below(if self.kind == Kind::Any { 40 } else { 36 }) {
            0..18 => T::rounded(size * signed),
            18..36 => T::rounded(size.copysign(signed)),
            36 | 37 => T::rounded(f64::NAN),
            38 => T::rounded(f64::INFINITY),
            _ => T::rounded(f64::NEG_INFINITY),
        }
    }

    fn numbers<T: Real>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| self.number()).collect()
    }

    fn upload<T: Element>(&self, values: &[T], shape: &[usize]) -> Result<Tensor<T>> {
        Ok(self.cx.upload(values)?.reshape(shape)?)
    }
}

type Try = fn(&mut Setting<'_, '_>) -> Result<()>;

/// Returns each function of the libraries, in both precisions.
fn functions() -> Vec<(&'static str, Try)> {
    fn of<T: Real>() -> Vec<(&'static str, Try)>
    where
        Complex<T>: Element,
    {
        [products::functions::<T>(), dense::functions::<T>(), transforms::functions::<T>()].concat()
    }
    [of::<f32>(), of::<f64>()].concat()
}

fn all() -> Result<(), Failed> {
    match Search::from_env(NAME, COUNT / IN_A_TICK)? {
        Search::One(seed) => tick(seed, 1),
        ticks => ticks.seeds().try_for_each(|nth| tick(nth * IN_A_TICK, IN_A_TICK)),
    }
}

/// Tries `count` operands in one tick, each with its own seed. The device must be usable afterwards.
fn tick(first: u64, count: u64) -> Result<(), Failed> {
    let platform = Platform::host().seed(first / IN_A_TICK).build()?;
    let functions = functions();
    in_ticks(&platform, 1, move |cx, stream, _| {
        for seed in first..first + count {
            let mut random = Random::new(seed);
            let (name, function) = functions[random.below(functions.len())];
            let kind = [Kind::Moderate, Kind::Extreme, Kind::Any][random.below(3)];
            let mut setting = Setting { cx, stream, random, kind };
            let named =
                |problem: String| format!("{NAME}_SEED={seed}: {name}, {kind:?}: {problem}");
            function(&mut setting).map_err(|error| Failure::msg(named(error.to_string())))?;
            let alive = cx.upload(&[seed]).and_then(|it| stream.download_blocking(&it));
            let alive = alive.map_err(|error| Failure::msg(named(error.to_string())))?;
            check(alive == [seed], || named("the device has other data".to_owned()))?;
        }
        Ok(())
    })
}

/// The terms of a sum of products: each term is a product of two numbers.
type Terms = Vec<(f64, f64)>;

/// Checks sums of products. A sum with terms that `T` can represent is right to within rounding, and a sum with a NaN
/// is a NaN.
fn sums<T: Real>(found: &[T], wanted: impl ExactSizeIterator<Item = Terms>) -> Result<()> {
    check(found.len() == wanted.len(), || format!("{} sums", found.len()))?;
    for (at, (&found, terms)) in found.iter().zip(wanted).enumerate() {
        let found: f64 = found.into();
        let products = || terms.iter().map(|(a, b)| a * b);
        let (sum, size) = (products().sum::<f64>(), products().map(f64::abs).sum::<f64>());
        if size.is_nan() || terms.iter().any(|(a, b)| !a.is_finite() || !b.is_finite()) {
            // With a factor of 0 the earlier content is not read, so the result may be a number although the terms have a
            // NaN.
            continue;
        }
        if size > T::MOST / 8.0 {
            continue;
        }
        let count = (terms.len() + 1) as f64;
        let tolerance = 4.0 * count * (T::EPSILON * size + T::LEAST);
        let off = (found - sum).abs();
        check(off <= tolerance, || format!("sum {at} is {found:e}, and not {sum:e}: {terms:?}"))?;
    }
    Ok(())
}

/// Returns whether no value is a NaN or infinite.
fn are_finite<T: Real>(values: &[T]) -> bool {
    values.iter().all(|&value| Into::<f64>::into(value).is_finite())
}
