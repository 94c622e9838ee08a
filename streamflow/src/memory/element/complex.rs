//! Complex numbers.
//!
//! Rust aligns a `Complex<f32>` to 4 bytes, and the struct of `kernel/cuda/complex.cuh` has 8, as CUDA's `float2`: then
//! the device loads both parts at once. Arrays have the same layout all the same, and each address of an
//! [`Element`] in device memory is a multiple of its size. A value that is passed by value has a parameter of its own,
//! which is aligned to 16 bytes.

use num_complex::Complex;

use super::{Element, Scalar, sealed};

elements! {
    Complex<f32>: "complex<float>", "complex64";
    Complex<f64>: "complex<double>", "complex128";
}
