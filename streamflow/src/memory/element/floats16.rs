//! Floating-point numbers of two bytes as elements. Rust has no such types, and NVRTC has none without CUDA's headers.

use half::{bf16, f16};

use super::{Element, Scalar, sealed};

elements! {
    f16: "half", "float16";
    bf16: "nv_bfloat16", "bfloat16";
}
