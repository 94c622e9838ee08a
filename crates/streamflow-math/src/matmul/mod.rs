//! Products of matrices, by cuBLASLt and cuBLAS.
//!
//! ```
//! use streamflow_math::Plan;
//! use streamflow_math::matmul::{Bias, Matmul};
//! use streamflow::prelude::*;
//!
//! /// A layer of a network: `relu(x w + b)`, for 32 inputs of 64 values at a time.
//! #[operator(no_new)]
//! struct Layer {
//!     #[input] x: &Tensor<f32>,
//!     #[output] y: Tensor<f32>,
//!     weights: Tensor<f32>,
//!     bias: Tensor<f32>,
//!     plan: Option<Plan<Matmul<f32, Bias>>>,
//! }
//!
//! impl Compute for Layer {
//!     fn start(&mut self, _: LayerStreams<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let stream = cx.internal_stream()?;
//!         let plan = Matmul::<f32>::plan(32, 10, 64).bias().relu().on(cx, &stream)?;
//!         // As text it can be stored, and given to `algorithm` in the next run.
//!         println!("{}", plan.algorithm());
//!         self.plan = Some(plan);
//!         Ok(())
//!     }
//!
//!     fn compute(&mut self, io: LayerIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
//!         let mut y = cx.tensor([32, 10], &stream)?;
//!         if let Some(plan) = &mut self.plan {
//!             plan.execute(&stream, x, &self.weights, &self.bias, &mut y)?;
//!         }
//!         io.y.emit(y)
//!     }
//! }
//! ```
//!
//! A plan uses the algorithm that cuBLASLt's heuristic proposes first. [`Planner::search_blocking`] times several algorithms, in
//! [`start`](streamflow::Compute::start) or in a separate program. Its result can be stored and passed to `algorithm` too.
//!
//! A plan has no operands: each call gets its operands, and is ordered after the work that they need. A plan has its algorithm,
//! and the work area that each call claims.
//!
//! [`multiply`] computes a product without a plan in the operator. [`Blas`] has cuBLAS's functions of vectors and triangles.

mod blas;
mod host;
mod numbers;
mod plan;
mod planner;
mod search;
mod stateless;
mod timed;
mod triangle_bodies;
mod triangles;

pub use super::Plan;
pub use super::ffi::cublaslt::algorithm::{Algorithm, ParseAlgorithmError};
pub use super::ffi::cublaslt::element::{EpilogueElement, MatmulElement, Tf32Element};
pub use super::ffi::cublaslt::epilogue::{Bias, NoBias};
pub use blas::Blas;
pub use numbers::BlasElement;
pub use plan::Matmul;
pub use planner::Planner;
pub use search::{Candidate, Search};
pub use stateless::{multiply, multiply_host_blocking};
pub use triangles::Triangle;
