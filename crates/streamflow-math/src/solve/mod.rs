//! Dense solvers by cuSOLVER, and by cuBLAS for batches of systems: systems of equations, and decompositions of matrices.
//!
//! | function | plan | computes | elements |
//! |---|---|---|---|
//! | [`solve()`] | [`Lu`] | `A x = b` for a square matrix, also in batches | real, complex |
//! | [`solve_positive_definite`] | [`Cholesky`] | `A x = b` for a symmetric positive definite matrix, also in batches | real |
//! | [`cholesky`] | [`Cholesky`] | `A = L transpose(L)` | real |
//! | – | `DirectSolver`, with the feature `sparse` | `A x = b` for a sparse matrix | real, complex |
//! | [`qr`] | [`Qr`] | `A = Q R` | real |
//! | [`svd_blocking`] | [`Svd`] | `A = U diag(s) VT`, also in batches | real |
//! | [`eigen_blocking`] | [`Eigen`] | eigenvalues and eigenvectors of a symmetric matrix, also in batches | real |
//!
//! Matrices are dense [tensors](streamflow::Tensor) in rows, as everywhere in streamflow. Right-hand sides are vectors, or the
//! rows of a matrix. The library's matrices are in columns, and each solver's documentation says where a user can notice that.
//!
//! # Errors of the device
//! The device knows whether a matrix is singular only when the work has executed, and no call here waits for that. So a result is
//! [`Checked`]: the host gets the `Err`, with the row, where it first opens the result, and work of the device goes on without
//! the check. A NaN in a matrix is such an error too.
//!
//! # Plans
//! A plan is made in [`start`](streamflow::Compute::start) for one size. Executing a plan allocates nothing. [`Plan::factor`]
//! factors a matrix, and returns a plan of another type, which solves with that matrix many times:
//!
//! [`Plan::factor`]: crate::Plan::factor
//!
//! ```
//! use streamflow_math::Plan;
//! use streamflow_math::solve::{Checked, Factored, Lu};
//! use streamflow::prelude::*;
//!
//! #[operator]
//! struct Correct {
//!     #[input] image: &Tensor<f32>,
//!     #[output] corrected: Checked<Tensor<f32>>,
//!     solver: Option<Plan<Factored<Lu<f32>>>>,
//! }
//!
//! impl Compute for Correct {
//!     fn start(&mut self, _: CorrectStreams<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let stream = cx.internal_stream()?;
//!         let mixing = cx.upload(&[1.0, 0.1, 0.1, 1.0])?.reshape([2, 2])?;
//!         self.solver = Some(Lu::plan(2).on(cx, &stream)?.factor(&stream, &mixing)?);
//!         Ok(())
//!     }
//!
//!     fn compute(&mut self, io: CorrectIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
//!         let mut corrected = Checked::new(cx.tensor([2], &stream)?, cx, &stream)?;
//!         if let Some(solver) = &mut self.solver {
//!             solver.solve(&stream, image, &mut corrected)?;
//!         }
//!         io.corrected.emit(corrected)
//!     }
//! }
//! ```
//!
//! A plan that has factored nothing can't solve without a matrix:
//! ```compile_fail,E0061
//! # use streamflow_math::Plan;
//! # use streamflow_math::solve::{Checked, Lu};
//! # use streamflow::prelude::*;
//! fn solve(plan: &mut Plan<Lu<f32>>, stream: &Stream<'_>, b: &Tensor<f32>, x: &mut Checked<Tensor<f32>>) {
//!     let _ = plan.solve(stream, b, x);
//! }
//! ```

mod checked;
mod cholesky;
mod common;
mod decomposition;
#[cfg(feature = "sparse")]
mod direct;
mod download;
mod eigen;
mod host;
#[doc(hidden)]
pub mod kernels;
mod layout;
mod lu;
mod on_host;
mod outcome;
mod planner;
mod qr;
mod sizes;
mod stateless;
mod svd;
mod svd_batch;
mod system;
mod taken;

pub use super::ffi::cusolver::element::{Factor, Real};
pub use checked::Checked;
pub use cholesky::Cholesky;
#[cfg(feature = "sparse")]
pub use direct::{DirectPlanner, DirectSolver};
pub use download::CheckedDownload;
pub use eigen::{Eigen, Eigenpairs};
pub use lu::Lu;
pub use on_host::{
    cholesky_host_blocking, eigen_host_blocking, qr_host_blocking, solve_host_blocking,
    svd_host_blocking,
};
pub use planner::Planner;
pub use qr::{Qr, QrFactors};
pub use stateless::{cholesky, eigen_blocking, qr, solve, solve_positive_definite, svd_blocking};
pub use svd::{SingularValues, Svd};
pub use system::{Factored, System};
