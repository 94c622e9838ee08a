//! Floating-point numbers of two bytes. Rust has no types for them, and NVRTC has none without CUDA's headers.

use half::{bf16, f16};

use super::{Element, Scalar, sealed};

elements! {
    f16: "half", "float16";
    bf16: "nv_bfloat16", "bfloat16";
}
