//! The failure of a comparison of a kernel's two bodies. [`testing`](crate::testing) makes it, and [`Error::Bodies`] contains it.

use std::fmt;

use super::Error;

/// A kernel's two bodies differ, or one of them fails, in a case of
/// [`compare_bodies`](crate::testing::compare_bodies).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyFailure {
    /// The kernel's name.
    pub kernel: &'static str,
    /// What is wrong with the bodies.
    pub problem: BodyProblem,
    /// The seed of the failing case.
    pub seed: u64,
    /// How to repeat the case: an environment variable and its value, as `STREAMFLOW_TEST_SEED=5`.
    pub replay: String,
    /// The arguments of the failing case: the grid, the lengths of the slices, and the scalars.
    pub launch: String,
}

/// What is wrong with a kernel's bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyProblem {
    /// The two bodies write different values.
    Differ(BodyDifference),
    /// A body can't be compiled or launched, or fails when it runs; or the kernel's `requires(…)` refuses the arguments.
    Failed {
        /// The body that fails.
        body: KernelBody,
        /// The error of that body.
        cause: Error,
    },
}

/// One of the two bodies of a kernel.
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
    /// The name of the slice that has the value.
    pub argument: &'static str,
    /// The index of the value in the slice.
    pub index: usize,
    /// The value that the Rust body writes.
    pub rust: String,
    /// The value that the CUDA body writes.
    pub cuda: String,
    /// The difference of the two values, as text.
    pub off: String,
    /// How far apart the two values are, in representable floating-point numbers. `None` for integers, infinities and NaN.
    pub ulps: Option<u64>,
    /// How many values of the slice differ.
    pub count: usize,
    /// How many values the slice has.
    pub len: usize,
    /// The tolerance of the comparison, as text.
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
