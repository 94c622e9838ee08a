//! Complex numbers as elements.
//!
//! Rust aligns a `Complex<f32>` to 4 bytes. The struct of `kernel/cuda/complex.cuh` is aligned to 8 bytes, like CUDA's
//! `float2`, so that the device loads the real and the imaginary part at once. The two alignments agree: arrays of the Rust
//! type and of the struct have the same layout, and the address of an [`Element`] in device memory is always a multiple of
//! the element's size. A number that a kernel takes by value is a parameter, aligned to 16 bytes.

use num_complex::Complex;

use super::{Element, Scalar, sealed};

elements! {
    Complex<f32>: "complex<float>", "complex64";
    Complex<f64>: "complex<double>", "complex128";
}
