//! The values of an argument on both sides, and how they are compared.

use std::any::Any;

use crate::driver::MemoryRange;
use crate::error::{BodyDifference, Result};
use crate::kernel::{CudaBody, Recorded, Work};
use crate::memory::{Block, Element, Tensor};
use crate::platform::Platform;
use crate::stream::CudaStream;
use crate::testing::bodies::Tolerance;

/// How the results of a launch are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The bits, where NaN equals NaN.
    Bits,
    /// Numbers may differ by rounding.
    Rounded,
    /// As above, and some integers may differ: a threshold of a number that both bodies round differently gives an integer far from
    /// the other one.
    Author,
}

/// The functions of `cuda/body.cuh` that another library of mathematics rounds otherwise.
const INEXACT: [&str; 17] = [
    "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "exp2", "hypot", "ln", "log10", "log2",
    "powf", "sin", "sinh", "tan", "tanh",
];

impl Rule {
    pub(super) fn of(launch: &Recorded) -> Self {
        match (&launch.work, launch.info.cuda) {
            (Work::Call(_), CudaBody::Made(made)) if is_exact(&made()) => Self::Bits,
            (_, CudaBody::Made(_)) => Self::Rounded,
            _ => Self::Author,
        }
    }

    /// How far two results may be from each other: functions as `exp` and fused products round differently on both sides.
    fn tolerance(self, dtype: &str) -> Tolerance {
        match dtype {
            _ if self == Self::Bits => Tolerance::BITS,
            "float16" | "bfloat16" => Tolerance::relative(3e-2).or_absolute(3e-2),
            "float64" | "complex128" => Tolerance::relative(1e-9).or_absolute(1e-9),
            "float32" | "complex64" => Tolerance::relative(1e-4).or_absolute(1e-4),
            _ => Tolerance::EXACT,
        }
    }
}

/// Whether a text made of Rust calls no function that is inexact.
fn is_exact(text: &str) -> bool {
    let names = text.split("sf::").skip(1).filter_map(|rest| rest.split_once('('));
    names.into_iter().all(|(name, _)| !INEXACT.contains(&name))
}

/// The values of an argument, on the host or on a device.
pub(super) trait Memory {
    fn again(&self) -> Box<dyn Memory>;
    fn upload(&mut self, on: &Platform) -> Result<()>;
    /// The memory on the device, once the values are uploaded.
    fn memory(&self) -> Option<(MemoryRange, &Block)>;
    fn download(&mut self, stream: &CudaStream) -> Result<()>;
    fn first_difference(
        &self,
        name: &'static str,
        cuda: &dyn Memory,
        rule: Rule,
    ) -> Option<BodyDifference>;
    fn any(&self) -> &dyn Any;
}

pub(super) struct Elements<T: Element> {
    values: Vec<T>,
    uploaded: Option<Tensor<T>>,
}

impl<T: Element> Elements<T> {
    pub(super) fn new(values: Vec<T>) -> Self {
        Self { values, uploaded: None }
    }
}

impl<T: Element> Memory for Elements<T> {
    fn again(&self) -> Box<dyn Memory> {
        Box::new(Self::new(self.values.clone()))
    }

    fn upload(&mut self, on: &Platform) -> Result<()> {
        self.uploaded = Some(on.upload(&self.values)?);
        Ok(())
    }

    fn memory(&self) -> Option<(MemoryRange, &Block)> {
        self.uploaded.as_ref().map(|buffer| (buffer.range(), buffer.block()))
    }

    fn download(&mut self, stream: &CudaStream) -> Result<()> {
        if let Some(buffer) = &self.uploaded {
            self.values = stream.download_blocking(buffer)?;
        }
        Ok(())
    }

    fn first_difference(
        &self,
        name: &'static str,
        cuda: &dyn Memory,
        rule: Rule,
    ) -> Option<BodyDifference> {
        let cuda = cuda.any().downcast_ref::<Self>()?;
        let tolerance = rule.tolerance(T::DTYPE);
        let difference = tolerance.first_difference(name, &self.values, &cuda.values)?;
        let is_integer = difference.ulps.is_none() && T::DTYPE.contains("int");
        let is_rare = difference.count * 100 <= difference.len;
        (rule != Rule::Author || !is_integer || !is_rare).then_some(difference)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = include_str!("../../kernel/cuda/body.cuh");

    /// Each function that `body.cuh` takes of a library of mathematics is one that rounds to a whole number or copies a sign, or is
    /// listed here.
    #[test]
    fn each_inexact_function_of_the_operators_is_known() {
        let exact = ["sqrt", "floor", "ceil", "round", "trunc", "copysign"];
        let lines = BODY.lines().filter_map(|line| {
            let rest = line.strip_prefix("STREAMFLOW_UNARY(");
            rest.or_else(|| line.strip_prefix("STREAMFLOW_BINARY("))
        });
        let mut names: Vec<&str> = lines.filter_map(|line| line.split(',').next()).collect();
        names.retain(|name| !exact.contains(name));
        names.sort_unstable();
        assert_eq!(names, INEXACT);
    }

    #[test]
    fn a_text_is_exact_without_these_functions() {
        assert!(is_exact("sf::add(sf::mul(a, b), sf::sqrt(exp))"));
        assert!(!is_exact("sf::add(a, sf::exp(b))") && !is_exact("sf::ln(sf::add(a, b))"));
    }
}
