//! Complex numbers.
//!
//! Rust aligns a `Complex<f32>` to 4 bytes. The struct of `kernel/cuda/complex.cuh` is aligned to 8, like CUDA's
//! `float2`: the device then loads both parts at once. Arrays of both types still have the same layout, and the address
//! of an [`Element`] in device memory is always a multiple of the element's size. A number that a kernel takes by value
//! has a parameter of its own, aligned to 16 bytes.

use num_complex::Complex;

use super::{Element, Scalar, sealed};

elements! {
    Complex<f32>: "complex<float>", "complex64";
    Complex<f64>: "complex<double>", "complex128";
}
