//! The failure of a comparison of a kernel's two bodies: [`testing`](crate::testing) makes it, and an error holds it.

use std::fmt;

use super::Error;

/// A kernel's two bodies differ, or one of them fails, in a case of
/// [`compare_bodies`](crate::testing::compare_bodies).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyFailure {
    /// The kernel.
    pub kernel: &'static str,
    /// The mistake.
    pub problem: BodyProblem,
    /// The seed of the case.
    pub seed: u64,
    /// The way to repeat the case: an environment variable and its value, as `STREAMFLOW_TEST_SEED=5`.
    pub replay: String,
    /// The case: the grid, the lengths of the slices, and the scalars.
    pub launch: String,
}

/// The mistake in a kernel's bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyProblem {
    /// The two bodies write different values.
    Differ(BodyDifference),
    /// A body can't be compiled or launched, or fails when it runs; or the kernel refuses the input.
    Failed {
        /// The body.
        body: KernelBody,
        /// The error of the body.
        cause: Error,
    },
}

/// A body of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelBody {
    /// The body that the simulator runs.
    Rust,
    /// The body that a GPU runs.
    Cuda,
}

/// The first value that a kernel's two bodies write differently.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyDifference {
    /// The slice.
    pub argument: &'static str,
    /// The index of the value.
    pub index: usize,
    /// The value that the Rust body writes.
    pub rust: String,
    /// The value that the CUDA body writes.
    pub cuda: String,
    /// The difference of the two values.
    pub off: String,
    /// The distance of the two values, in representable floating-point numbers. `None` for integers, infinities and NaN.
    pub ulps: Option<u64>,
    /// How many values of the slice differ.
    pub count: usize,
    /// How many values the slice has.
    pub len: usize,
    /// The tolerance.
    pub tolerance: String,
}

impl fmt::Display for BodyFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, problem, replay, launch, .. } = self;
        match problem {
            BodyProblem::Differ(difference) => {
                write!(f, "the two bodies of kernel `{kernel}` differ: {difference}")?;
            }
            BodyProblem::Failed { body, cause } => {
                write!(f, "the {body} body of kernel `{kernel}` failed: {cause}")?;
            }
        }
        write!(f, "; the launch had {launch}; repeat it with {replay}")
    }
}

impl fmt::Display for BodyDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { argument, index, rust, cuda, off, ulps, count, len, tolerance } = self;
        write!(f, "`{argument}[{index}]` is {rust} in Rust and {cuda} in CUDA, off by {off}")?;
        if let Some(ulps) = ulps {
            write!(f, " ({ulps} ulp)")?;
        }
        write!(f, "; {count} of {len} values differ by more than {tolerance}")
    }
}

impl fmt::Display for KernelBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "Rust",
            Self::Cuda => "CUDA",
        })
    }
}
