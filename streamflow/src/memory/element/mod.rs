//! The types of elements: device memory contains such values, and kernels take them by value.
//!
//! Element types of other crates, and element types for which Rust has no type, are in files of their own.

use std::fmt::{Debug, Display};

use crate::driver::Plain;

mod sealed {
    /// Restricts the traits of this module to the types named in it. For each such type, NVRTC must know the CUDA type without
    /// headers, and the CUDA type must have the same layout as in Rust.
    pub trait Sealed {}
}

/// A value that a kernel can take by value.
///
/// # Safety
/// `CUDA` names a type of CUDA C++ with the size and the meaning of the Rust type. The alignment of that type is at
/// most its size.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value",
    label = "not a kernel's scalar type",
    note = "a kernel takes slices `&[T]` and `&mut [T]`, and by value `Bool8`, `i8` to `i64`, `u8` to `u64`, `usize`, `f32`, `f64`, `Complex<f32>`, `Complex<f64>`, and `f16` and `bf16` with streamflow's feature `half`",
    note = "no other type can become one: pass a struct's fields one by one"
)]
pub unsafe trait Scalar: Plain + Debug + Display + sealed::Sealed {
    /// The type's name in CUDA C++, for example `unsigned long long`.
    const CUDA: &'static str;
}

/// A type of the elements of device memory.
///
/// The address of an element in device memory is a multiple of the element's size, so that code on the device may load the
/// element as one word.
///
/// # Safety
/// `DTYPE` is the name of the NumPy type with the same layout and meaning. `bfloat16` is a type of `ml_dtypes`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of device memory",
    label = "not an element type",
    note = "element types are `Bool8`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `Complex<f32>`, `Complex<f64>`, and `f16` and `bf16` with streamflow's feature `half`; a type parameter needs the bound `Element`",
    note = "for `bool` write `Bool8`: device memory holds any byte, and a `bool` only 0 or 1"
)]
pub unsafe trait Element: Scalar + Default + PartialEq {
    /// The type's name in NumPy and similar libraries, for example `float32`.
    const DTYPE: &'static str;
    /// The same as [`Scalar::CUDA`], for the code that `#[kernel]` generates. For a wrong type rustc then reports that the type
    /// is no element.
    #[doc(hidden)]
    const ELEMENT_CUDA: &'static str = Self::CUDA;
}

macro_rules! elements {
    ($($ty:ty: $cuda:literal, $dtype:literal;)*) => {
        $(
            impl sealed::Sealed for $ty {}
            // SAFETY: the Rust type and the CUDA type are the same by the table of built-in types in the CUDA C++
            // programming guide; `tests/tests/elements.rs` tests the structs of `kernel/cuda` against the Rust types.
            #[diagnostic::do_not_recommend]
            unsafe impl Scalar for $ty {
                const CUDA: &'static str = $cuda;
            }
            // SAFETY: NumPy's documentation of its sized aliases gives this name to the same type.
            #[diagnostic::do_not_recommend]
            unsafe impl Element for $ty {
                const DTYPE: &'static str = $dtype;
            }
        )*
    };
}

mod bool8;
mod complex;
#[cfg(feature = "half")]
mod floats16;

pub use bool8::Bool8;
#[cfg(feature = "half")]
#[doc(no_inline)]
pub use half::bf16;
#[doc(no_inline)]
pub use num_complex::Complex;

elements! {
    f32: "float", "float32";
    f64: "double", "float64";
    i8: "signed char", "int8";
    i16: "short", "int16";
    i32: "int", "int32";
    i64: "long long", "int64";
    u8: "unsigned char", "uint8";
    u16: "unsigned short", "uint16";
    u32: "unsigned int", "uint32";
    u64: "unsigned long long", "uint64";
}

/// Stands for the `f16` of the crate `half` while the feature `half` is off. This type is not an element type and has no
/// values. Where a program uses it, rustc's error names the feature.
///
/// ```compile_fail,E0277
/// let halves: streamflow::Tensor<streamflow::f16>;
/// ```
#[cfg(not(feature = "half"))]
#[allow(non_camel_case_types, reason = "the name of the type that it stands for")]
#[derive(Debug)]
pub enum f16 {}

/// Stands for the `bf16` of the crate `half` while the feature `half` is off, like [`f16`](enum@f16).
///
/// ```compile_fail,E0277
/// let halves: streamflow::Tensor<streamflow::memory::bf16>;
/// ```
#[cfg(not(feature = "half"))]
#[allow(non_camel_case_types, reason = "the name of the type that it stands for")]
#[derive(Debug)]
pub enum bf16 {}

impl sealed::Sealed for usize {}
// SAFETY: the Rust type has eight bytes by the `cfg`, and the CUDA type has eight bytes. CUDA no longer supports hosts with
// pointers of another size.
#[cfg(target_pointer_width = "64")]
#[diagnostic::do_not_recommend]
unsafe impl Scalar for usize {
    const CUDA: &'static str = "unsigned long long";
}
