//! Values at the edges of each type, and when two of them count as the same.

use streamflow::prelude::*;

/// What the bits of a value mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Integer,
    F32,
    F64,
}

/// The rank of a float's bits among all floats.
type Order = fn(u64) -> i64;

impl Format {
    /// Whether two values have the same bits, are both NaN, or are floats at most so many steps apart.
    pub(super) fn is_close(self, found: u64, wanted: u64, ulps: u64) -> bool {
        let (is_nan, order): (fn(u64) -> bool, Order) = match self {
            Self::Integer => return found == wanted,
            Self::F32 => (
                |bits| f32::from_bits(bits as u32).is_nan(),
                |bits| {
                    let bits = bits as u32 as i32;
                    i64::from(if bits < 0 { i32::MIN - bits } else { bits })
                },
            ),
            Self::F64 => (
                |bits| f64::from_bits(bits).is_nan(),
                |bits| {
                    let bits = bits as i64;
                    if bits < 0 { i64::MIN - bits } else { bits }
                },
            ),
        };
        match (is_nan(found), is_nan(wanted)) {
            (false, false) if ulps == 0 => found == wanted,
            (false, false) => order(found).abs_diff(order(wanted)) <= ulps,
            (one, other) => one && other,
        }
    }

    /// The value, for a message.
    pub(super) fn shown(self, bits: u64) -> String {
        match self {
            Self::Integer => format!("{:#x}", bits),
            Self::F32 => format!("{:e} ({bits:#x})", f32::from_bits(bits as u32)),
            Self::F64 => format!("{:e} ({bits:#x})", f64::from_bits(bits)),
        }
    }
}

/// A type whose values a kernel reads and writes in memory.
pub(super) trait Edge: Element + PartialOrd {
    const FORMAT: Format;

    /// Each edge.
    fn edges() -> Vec<Self>;

    /// The most important ones, for operators of three operands.
    fn few() -> Vec<Self>;

    /// The bits, without a sign extended.
    fn bits(self) -> u64;

    /// The value of little-endian bytes.
    fn of_bytes(bytes: &[u8]) -> Self;

    /// Adds the bytes in little-endian order.
    fn put(self, bytes: &mut Vec<u8>);
}

/// Removes the second of two equal values.
fn distinct<T: Edge>(mut values: Vec<T>) -> Vec<T> {
    values.sort_by_key(|value| value.bits());
    values.dedup_by_key(|value| value.bits());
    values
}

macro_rules! integers {
    ($($ty:ident $unsigned:ident;)*) => {$(
        impl Edge for $ty {
            const FORMAT: Format = Format::Integer;

            fn edges() -> Vec<Self> {
                // Powers of two from which on the type, half of it, and floats change what they can hold.
                let powers = [0, 1, 2, 3, 4, 7, 8, 15, 16, 24, 25, 31, 32, 53, 54, 62, 63];
                let powers = powers.into_iter().chain([$ty::BITS - 2, $ty::BITS - 1]);
                let near = powers.filter(|power| *power < $ty::BITS).flat_map(|power| {
                    let one: $ty = 1 << power;
                    let above = one.wrapping_add(1);
                    [one.wrapping_sub(1), one, above, above.wrapping_add(2), one.wrapping_neg(), above.wrapping_neg()]
                });
                let others = [$ty::MIN, $ty::MIN + 1, $ty::MAX - 1, $ty::MAX, $ty::MAX / 3, 10, 100, 99, 5, 21];
                distinct(near.chain(others).collect())
            }

            fn few() -> Vec<Self> {
                let minus_one = (1 as $ty).wrapping_neg();
                vec![$ty::MIN, $ty::MIN + 1, 0, 1, 2, 7, 100, minus_one, $ty::MAX / 2, $ty::MAX - 1, $ty::MAX]
            }

            fn bits(self) -> u64 {
                (self as $unsigned).into()
            }

            fn of_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap_or_default())
            }

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

integers! {
    i8 u8;
    i16 u16;
    i32 u32;
    i64 u64;
    u8 u8;
    u16 u16;
    u32 u32;
    u64 u64;
}

macro_rules! floats {
    ($($ty:ident $format:ident;)*) => {$(
        impl Edge for $ty {
            const FORMAT: Format = Format::$format;

            fn edges() -> Vec<Self> {
                // The limits of casts to each integer.
                let limits = [7, 8, 15, 16, 31, 32, 63, 64].into_iter().flat_map(|power| {
                    let limit = (2.0 as $ty).powi(power);
                    [limit.next_down(), limit, limit.next_up(), limit - 0.5, limit - 1.0, limit + 0.5, limit + 1.0]
                });
                let smallest = $ty::from_bits(1);
                let others = [
                    0.0, smallest, $ty::MIN_POSITIVE.next_down(), $ty::MIN_POSITIVE, $ty::EPSILON, 0.1, 0.3, 0.5,
                    (0.5 as $ty).next_down(), 0.7, (1.0 as $ty).next_down(), 1.0, (1.0 as $ty).next_up(), 1.5, 2.0, 2.5, 3.0,
                    3.3, 3.5, std::$ty::consts::E, std::$ty::consts::PI, std::$ty::consts::FRAC_PI_2, 10.0, 88.7, 100.25,
                    1e10, 1e30, $ty::MAX / 2.0, $ty::MAX, $ty::INFINITY, $ty::NAN,
                ];
                distinct(limits.chain(others).flat_map(|value| [value, -value]).collect())
            }

            fn few() -> Vec<Self> {
                let one: $ty = 1.0;
                let positive = [
                    0.0, $ty::from_bits(1), $ty::MIN_POSITIVE, $ty::EPSILON, 0.1, one.next_down(), one, one.next_up(), 3.3,
                    1e10, $ty::MAX, $ty::INFINITY, $ty::NAN,
                ];
                positive.into_iter().flat_map(|value| [value, -value]).collect()
            }

            fn bits(self) -> u64 {
                self.to_bits().into()
            }

            fn of_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap_or_default())
            }

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

floats! {
    f32 F32;
    f64 F64;
}
