//! The types that device memory holds.

use std::fmt::Debug;

use half::f16;

use crate::driver::Plain;

/// A number that device memory holds and kernels compute with.
///
/// # Safety
/// `CUDA` names a type of the same size, alignment and meaning.
pub unsafe trait Element: Plain + Default + Debug + PartialEq + PartialOrd {
    /// The type in CUDA C++.
    const CUDA: &'static str;
    /// The type's name as NumPy has it.
    const DTYPE: &'static str;
}

macro_rules! element {
    ($($ty:ty, $cuda:literal, $dtype:literal;)*) => {
        $(
            // SAFETY: the two are the same number on every platform that CUDA has.
            unsafe impl Element for $ty {
                const CUDA: &'static str = $cuda;
                const DTYPE: &'static str = $dtype;
            }
        )*
    };
}

element! {
    f16, "half", "float16";
    f32, "float", "float32";
    f64, "double", "float64";
    i8, "signed char", "int8";
    i16, "short", "int16";
    i32, "int", "int32";
    i64, "long long", "int64";
    u8, "unsigned char", "uint8";
    u16, "unsigned short", "uint16";
    u32, "unsigned int", "uint32";
    u64, "unsigned long long", "uint64";
}
