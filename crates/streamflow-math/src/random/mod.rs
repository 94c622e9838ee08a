//! Random numbers, the same on the simulator and on a GPU, in the order of cuRAND's Philox generator.
//!
//! A [`Philox`] is plain data: a seed, and a position in the seed's sequence of numbers. It needs no library and no handle. Each
//! number is computed from its position alone, so two calls may run in any order and on any streams.
//!
//! ```
//! use streamflow_math::random::Philox;
//! # use streamflow::prelude::*;
//! /// Sends images of noise.
//! #[operator(streams(fill))]
//! struct Noise {
//!     #[output] image: Tensor<f32>,
//!     random: Philox,
//! }
//!
//! impl Compute for Noise {
//!     fn compute(&mut self, io: NoiseIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let stream = cx.allocate_cuda_stream(io.fill)?;
//!         let mut image = cx.tensor([480, 640], &stream)?;
//!         self.random.normal(&stream, &mut image, 128.0, 20.0)?;
//!         io.image.set_cuda_stream(&stream).emit(image)
//!     }
//! }
//! ```
//!
//! # Equality with cuRAND
//!
//! - `u32` and uniforms have the same bits as those of cuRAND's `CURAND_RNG_PSEUDO_PHILOX4_32_10` in its default order, on
//!   the simulator and on a GPU.
//! - Normals are those of cuRAND's *host* generator, but for rounding. On the simulator they are within 1 ulp, and have the
//!   same bits where Rust's `sin`, `cos` and `ln` are those of cuRAND's C library. On a GPU they are within 4 ulp, since
//!   CUDA's `sinf`, `cosf` and `logf` round differently. cuRAND's *device* generator uses a faster, less exact sine: its
//!   `f32` differ by up to 1e-5, and its `f64` by up to 1e-15. The ulp is that of the number before `deviation` and `mean`
//!   are applied.
//!
//! cuRAND has no 64-bit integers for Philox, so this module has none.

#[doc(hidden)]
pub mod kernels;
mod philox;
mod real;
mod words;

pub use philox::Philox;
pub use real::Real;
