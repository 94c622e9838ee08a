//! The types of the values and arguments of a body: numbers, `bool`, arrays of them, and structs with `#[derive(KernelArg)]`.
//!
//! A number is a parameter of its launch. An array or a struct is several parameters of 16 bytes, *chunks*: its bytes with the
//! layout of C. The bytes are written and read field by field, so that Rust's own layout of a struct does not matter.

use super::types::{Types, braces};
use crate::driver::{HostArgs, MAX_PARAMS, Param};
use crate::kernel::ParamKind;

/// The bytes of a chunk.
const CHUNK: usize = 16;
/// The type of a parameter in CUDA that is a chunk.
pub(super) const CHUNKS: &str = "sf::Chunk";

/// The type of a variable of a body: plain data of a fixed size, without pointers. `#[derive(KernelArg)]` makes the
/// implementation for a struct.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of a kernel's values, as `f32`, `u32` or `bool` is",
    label = "this value is of type `{Self}`",
    note = "use `f32`, `f64`, `bool`, an integer of at most 64 bits, an array of these, or a struct with `#[derive(KernelArg)]`"
)]
pub trait KernelArg: Copy + 'static {
    /// The bytes of a value in C, and their alignment.
    const BYTES: usize;
    /// The alignment of a value in C, in bytes.
    const ALIGN: usize;
    /// The value of an element out of range.
    const ZERO: Self;
    /// The type of one parameter of the launch.
    const PARAM: &'static str = CHUNKS;
    /// How the argument is passed.
    const KIND: ParamKind = ParamKind::Chunks(Self::BYTES.div_ceil(CHUNK));
    /// How many parameters of a launch a value takes.
    const PARAMS: usize = Self::BYTES.div_ceil(CHUNK);

    /// The type in CUDA.
    fn cuda(types: &mut Types) -> String;

    /// The value as an expression in CUDA, or as the initializer of a constant, exact in each bit.
    fn spell(self) -> String;

    /// Writes the value with the layout of C to the beginning of bytes that are 0.
    fn store(self, to: &mut [u8]);

    /// The value that `store` has written.
    fn load(from: &[u8]) -> Self;

    /// Adds the value's parameters.
    #[inline]
    fn pass(self, mut add: impl FnMut(Param)) {
        // The macro has checked that a launch has as many parameters.
        with_chunks(Self::PARAMS, |chunks| {
            self.store(chunks.as_flattened_mut());
            chunks.iter().for_each(|chunk| add(Param::new(*chunk)));
        });
    }

    /// The value of an argument, from the parameter `index` and those after it.
    #[inline]
    fn get(args: &HostArgs<'_>, index: usize) -> Self {
        with_chunks(Self::PARAMS, |chunks| {
            let params = &args.params[index..];
            chunks.iter_mut().zip(params).for_each(|(chunk, param)| *chunk = param.get());
            Self::load(chunks.as_flattened())
        })
    }
}

/// Calls `with` with so many chunks of zeros, at most [`MAX_PARAMS`]. The memory for them is of the next power of two, so that a
/// small value does not clear the memory of the largest one.
#[inline]
fn with_chunks<R>(count: usize, with: impl FnOnce(&mut [[u8; CHUNK]]) -> R) -> R {
    match count {
        0..=1 => with(&mut [[0; CHUNK]; 1][..count]),
        2 => with(&mut [[0; CHUNK]; 2][..count]),
        3..=4 => with(&mut [[0; CHUNK]; 4][..count]),
        5..=8 => with(&mut [[0; CHUNK]; 8][..count]),
        9..=16 => with(&mut [[0; CHUNK]; 16][..count]),
        _ => with(&mut [[0; CHUNK]; MAX_PARAMS][..count]),
    }
}

/// Implements the trait for numbers, each with its type in CUDA, and with how it is written there.
macro_rules! numbers {
    ($($ty:ident $cuda:literal |$value:ident| $spell:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl KernelArg for $ty {
            const BYTES: usize = size_of::<Self>();
            const ALIGN: usize = size_of::<Self>();
            const ZERO: Self = 0 as $ty;
            const PARAM: &'static str = $cuda;
            const KIND: ParamKind = ParamKind::Scalar;
            const PARAMS: usize = 1;

            fn cuda(_: &mut Types) -> String {
                $cuda.to_owned()
            }

            fn spell(self) -> String {
                let $value = self;
                $spell
            }

            #[inline]
            fn store(self, to: &mut [u8]) {
                to[..Self::BYTES].copy_from_slice(&self.to_ne_bytes());
            }

            #[inline]
            fn load(from: &[u8]) -> Self {
                from.first_chunk().map_or(Self::ZERO, |bytes| Self::from_ne_bytes(*bytes))
            }

            #[inline]
            fn pass(self, mut add: impl FnMut(Param)) {
                add(Param::new(self));
            }

            #[inline]
            fn get(args: &HostArgs<'_>, index: usize) -> Self {
                args.params[index].get()
            }
        }
    )*};
}

// An integer is written by its bits, since CUDA has no literal of the smallest number.
numbers! {
    i8 "signed char" |value| format!("(signed char)0x{value:x}ull");
    i16 "short" |value| format!("(short)0x{value:x}ull");
    i32 "int" |value| format!("(int)0x{value:x}ull");
    i64 "long long" |value| format!("(long long)0x{value:x}ull");
    u8 "unsigned char" |value| format!("(unsigned char)0x{value:x}ull");
    u16 "unsigned short" |value| format!("(unsigned short)0x{value:x}ull");
    u32 "unsigned int" |value| format!("(unsigned int)0x{value:x}ull");
    u64 "unsigned long long" |value| format!("(unsigned long long)0x{value:x}ull");
    usize "unsigned long long" |value| format!("(unsigned long long)0x{value:x}ull");
    f32 "float" |value| float(value.into(), "f")
        .unwrap_or_else(|| format!("sf::f32_of(0x{:x}ull)", value.to_bits()));
    f64 "double" |value| float(value, "")
        .unwrap_or_else(|| format!("sf::f64_of(0x{:x}ull)", value.to_bits()));
}

/// A finite number as a literal of C++, exact: a mantissa in hexadecimal, and a power of two. The compiler makes data of an array
/// of literals, and code of an array of calls.
fn float(value: f64, suffix: &str) -> Option<String> {
    const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = value.to_bits();
    let (exponent, mantissa) = ((bits >> MANTISSA) & 0x7ff, bits & ((1 << MANTISSA) - 1));
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match exponent {
        0x7ff => None,
        0 if mantissa == 0 => Some(format!("({sign}0.0{suffix})")),
        0 => Some(format!("({sign}0x{mantissa:x}p-1074{suffix})")),
        _ => {
            let mantissa = mantissa | 1 << MANTISSA;
            // A literal of `float` with more digits than it has would be rounded twice.
            let zeros = mantissa.trailing_zeros();
            let power = exponent.cast_signed() - 1075 + i64::from(zeros);
            Some(format!("({sign}0x{:x}p{power}{suffix})", mantissa >> zeros))
        }
    }
}

#[diagnostic::do_not_recommend]
impl KernelArg for bool {
    const BYTES: usize = 1;
    const ALIGN: usize = 1;
    const ZERO: Self = false;
    const PARAM: &'static str = "bool";
    const KIND: ParamKind = ParamKind::Scalar;
    const PARAMS: usize = 1;

    fn cuda(_: &mut Types) -> String {
        "bool".to_owned()
    }

    fn spell(self) -> String {
        self.to_string()
    }

    #[inline]
    fn store(self, to: &mut [u8]) {
        u8::from(self).store(to);
    }

    #[inline]
    fn load(from: &[u8]) -> Self {
        u8::load(from) != 0
    }

    #[inline]
    fn pass(self, add: impl FnMut(Param)) {
        u8::from(self).pass(add);
    }

    #[inline]
    fn get(args: &HostArgs<'_>, index: usize) -> Self {
        u8::get(args, index) != 0
    }
}

#[diagnostic::do_not_recommend]
impl<T: KernelArg, const N: usize> KernelArg for [T; N] {
    const BYTES: usize = {
        assert!(N > 0, "an array in a kernel has elements");
        T::BYTES * N
    };
    const ALIGN: usize = T::ALIGN;
    const ZERO: Self = [T::ZERO; N];

    fn cuda(types: &mut Types) -> String {
        format!("sf::Array<{}, {N}>", T::cuda(types))
    }

    fn spell(self) -> String {
        braces([braces(self.map(T::spell))])
    }

    #[inline]
    fn store(self, to: &mut [u8]) {
        to.chunks_mut(T::BYTES).zip(self).for_each(|(to, element)| element.store(to));
    }

    #[inline]
    fn load(from: &[u8]) -> Self {
        std::array::from_fn(|i| T::load(&from[i * T::BYTES..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_exactly() {
        for (value, text) in [
            (1.5, "(0x3p-1)"),
            (-0.0, "(-0.0)"),
            (0.1, "(0xccccccccccccdp-55)"),
            (f64::from_bits(1), "(0x1p-1074)"),
            (f64::MAX, "(0x1fffffffffffffp971)"),
            (f64::from(f32::from_bits(1)), "(0x1p-149)"),
        ] {
            assert_eq!(float(value, ""), Some(text.to_owned()));
        }
        assert_eq!((float(f64::NAN, ""), float(f64::INFINITY, "")), (None, None));
    }
}
