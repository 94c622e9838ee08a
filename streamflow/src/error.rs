//! The one error of the library.

use crate::driver::DriverError;

/// What streamflow's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something failed: who, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the driver failed, or a kernel could not be compiled or loaded.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A kernel's `requires(…)` does not hold for the arguments of a launch. Nothing was launched.
    #[error("kernel `{kernel}` requires `{requirement}`, which these arguments break: {values}")]
    KernelRequirement {
        /// The kernel.
        kernel: &'static str,
        /// The condition as its author wrote it.
        requirement: &'static str,
        /// Every length and every scalar of the launch, as `a.len() = 3, cols = 4`.
        values: String,
    },
    /// A grid is impossible on any device, or for this kernel. Nothing was launched.
    #[error("kernel `{kernel}` cannot be launched with this grid: {problem}")]
    Grid {
        /// The kernel.
        kernel: String,
        /// Which limit is broken, by how much, and what to do.
        problem: String,
    },
    /// A kernel used an index outside of an argument. Only found when `STREAMFLOW_CHECK_BOUNDS=1`.
    #[error(
        "kernel `{kernel}` used `{argument}[{index}]`, but `{argument}` has {length} elements; \
         the access was diverted, so the results of this launch are wrong"
    )]
    OutOfBounds {
        /// The kernel.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The index, in elements; negative indices are told as such.
        index: i64,
        /// The argument's length in elements.
        length: u64,
    },
}
