//! Random elements, by the name of their type in CUDA.

use num_complex::Complex;

use super::memory::{Elements, Memory};
use crate::kernel::Work;
use crate::memory::{Bool8, Element};
use crate::testing::bodies::Draw;
#[cfg(feature = "half")]
use crate::{f16, memory::bf16};

/// The kind of an argument's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Integers from 0 to 7, and numbers from -1 to 1: their ends, and 0, more often than others.
    Small,
    /// The same with integers from -7.
    Signed,
    /// Odd integers of the whole type, and numbers from 0.8 to 1.25. Their products are neither 0 nor, mostly, infinite, and their
    /// extreme is one of many: small values have an end of the range in almost each long list.
    Spread,
}

impl Kind {
    /// Even seeds have small values, and odd ones signed values. Of calls, two of four seeds have spread values.
    pub(super) fn of(work: &Work, seed: u64) -> Self {
        match (work, seed % 4) {
            (Work::Call(_), 2 | 3) => Self::Spread,
            (_, 0 | 2) => Self::Small,
            _ => Self::Signed,
        }
    }
}

/// Random elements of this type of CUDA.
pub(super) fn drawn(
    draw: &mut Draw,
    cuda: &str,
    bytes: usize,
    kind: Kind,
) -> Option<Box<dyn Memory>> {
    fn elements<T: Element>(bytes: usize, next: impl FnMut() -> T) -> Option<Box<dyn Memory>> {
        let values = std::iter::repeat_with(next).take(bytes / size_of::<T>()).collect();
        Some(Box::new(Elements::new(values)))
    }
    macro_rules! first {
        ($($ty:ty: $range:expr, $spread:expr;)*) => {
            $(if cuda == <$ty as Element>::ELEMENT_CUDA {
                return elements::<$ty>(bytes, || match kind {
                    Kind::Spread => $spread,
                    Kind::Small | Kind::Signed => draw.value($range),
                });
            })*
        };
    }
    let least = if kind == Kind::Signed { -7 } else { 0 };
    // Few programs have a list of indices that these are not in.
    first! {
        f32: -1.0..=1.0, around_one(draw) as f32;
        f64: -1.0..=1.0, around_one(draw);
        u8: 0..=7, draw.bits() as u8 | 1;
        u16: 0..=7, draw.bits() as u16 | 1;
        u32: 0..=7, draw.bits() as u32 | 1;
        u64: 0..=7, draw.bits() | 1;
        i8: least..=7, draw.bits() as i8 | 1;
        i16: least.into()..=7, draw.bits() as i16 | 1;
        i32: least.into()..=7, draw.bits() as i32 | 1;
        i64: least.into()..=7, draw.bits() as i64 | 1;
        Bool8: false.into()..=true.into(), draw.bits().is_multiple_of(2).into();
        Complex<f32>: Complex::new(-1.0, -1.0)..=Complex::new(1.0, 1.0), Complex::new(around_one(draw) as f32, 0.0);
        Complex<f64>: Complex::new(-1.0, -1.0)..=Complex::new(1.0, 1.0), Complex::new(around_one(draw), 0.0);
    }
    #[cfg(feature = "half")]
    first! {
        f16: f16::from_f32(-1.0)..=f16::from_f32(1.0), f16::from_f64(around_one(draw));
        bf16: bf16::from_f32(-1.0)..=bf16::from_f32(1.0), bf16::from_f64(around_one(draw));
    }
    None
}

/// A number from 1 to 1.25, or the inverse of one: the mean of the logarithms is 0.
fn around_one(draw: &mut Draw) -> f64 {
    let bits = draw.bits();
    let number = 1.0 + (bits >> 11) as f64 / (1_u64 << 55) as f64;
    if bits.is_multiple_of(2) { number } else { number.recip() }
}
