//! Complex numbers.
//!
//! Rust aligns a `Complex<f32>` to 4 bytes. The struct of `kernel/cuda/complex.cuh` is aligned to 8, like CUDA's
//! `float2`: then the device loads both parts at once. Arrays still have the same layout, and each address of an
//! [`Element`] in device memory is a multiple of the element's size. A value that is passed by value has a parameter of
//! its own, aligned to 16 bytes.

use num_complex::Complex;

use super::{Element, Scalar, sealed};

elements! {
    Complex<f32>: "complex<float>", "complex64";
    Complex<f64>: "complex<double>", "complex128";
}
