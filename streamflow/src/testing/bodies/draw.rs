//! Random input for a kernel, repeatable by its seed.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use num_complex::Complex;

use crate::driver::Plain;
use crate::memory::Bool8;
use crate::splitmix::SplitMix;
#[cfg(feature = "half")]
use crate::{f16, memory::bf16};

/// Lengths at which kernels often go wrong: none, one, odd numbers, and numbers around the sizes of warps and blocks.
const EDGES: [usize; 29] = [
    0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 767, 1023,
    1024, 1025, 2047, 2049, 4095, 4096, 4097,
];

/// The source of a case's random input, for [`compare_bodies`](super::compare_bodies).
#[derive(Debug)]
pub struct Draw {
    seed: u64,
    random: SplitMix,
    /// How many lengths this case has drawn so far.
    lengths: usize,
}

impl Draw {
    pub(in crate::testing) fn new(seed: u64) -> Self {
        Self { seed, random: SplitMix::new(seed), lengths: 0 }
    }

    /// Draws a length in a range. The first length of a case is, in the cases with the lowest seeds, one after the other: the
    /// start of the range, those of 0, 1, odd numbers and numbers around the sizes of warps and blocks that are within the range,
    /// and its end. In later cases it is random. Each further length of a case is one of these numbers in half of the cases.
    ///
    /// The range must not be empty. For an empty range, its start is returned.
    pub fn len(&mut self, range: RangeInclusive<usize>) -> usize {
        let (start, end) = (*range.start(), *range.end());
        let within = EDGES.into_iter().filter(|edge| start < *edge && *edge < end);
        let edges: Vec<usize> = [start].into_iter().chain(within).chain([end]).collect();
        let is_first = self.lengths == 0;
        self.lengths += 1;
        if is_first {
            let edge = usize::try_from(self.seed).ok().and_then(|seed| edges.get(seed));
            if let Some(edge) = edge {
                return *edge;
            }
        } else if self.below(2) == 0 {
            let edge = self.below(edges.len() as u128);
            return edges[edge as usize];
        }
        self.value(range)
    }

    /// Draws a number in a range. The ends of the range, and 0 if it is inside, are drawn more often than other numbers.
    ///
    /// The range must not be empty. For an empty range, its start is returned.
    pub fn value<T: Drawn>(&mut self, range: RangeInclusive<T>) -> T {
        T::draw(self, range)
    }

    /// Draws 64 bits.
    pub(in crate::testing) fn bits(&mut self) -> u64 {
        self.random.bits()
    }

    /// Draws `len` numbers in a range, each as [`value`](Self::value) does.
    pub fn values<T: Drawn>(&mut self, len: usize, range: RangeInclusive<T>) -> Vec<T> {
        (0..len).map(|_| self.value(range.clone())).collect()
    }

    /// Draws a number below `bound`, which is at most 2⁶⁴. Returns 0 if `bound` is 0.
    fn below(&mut self, bound: u128) -> u64 {
        ((u128::from(self.random.bits()) * bound) >> 64) as u64
    }

    /// Returns one of the special values in one of 16 calls, and else `None`.
    fn special<T: Copy>(&mut self, special: &[T]) -> Option<T> {
        if self.below(16) != 0 {
            return None;
        }
        let index = self.below(special.len() as u128) as usize;
        special.get(index).copied()
    }
}

/// A type of values that can be drawn: every element type, and `usize`. The real and the imaginary part of a complex number are
/// drawn from the ranges of the parts: `Complex::new(-1.0, 0.0)..=Complex::new(1.0, 2.0)` is a rectangle.
pub trait Drawn: Plain {
    /// Draws a number in a range, for [`Draw::value`].
    #[doc(hidden)]
    fn draw(from: &mut Draw, range: RangeInclusive<Self>) -> Self;
}

macro_rules! integers {
    ($($ty:ty),*) => {
        $(
            impl Drawn for $ty {
                fn draw(from: &mut Draw, range: RangeInclusive<Self>) -> Self {
                    let (start, end) = (*range.start(), *range.end());
                    if start >= end {
                        return start;
                    }
                    let zero = if range.contains(&0) { 0 } else { start };
                    if let Some(special) = from.special(&[start, end, zero]) {
                        return special;
                    }
                    let count = (end as i128 - start as i128 + 1) as u128;
                    // The sum is within the range, so it fits into the type.
                    (start as i128 + i128::from(from.below(count))) as $ty
                }
            }
        )*
    };
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

macro_rules! floats {
    ($($ty:ty: $from:expr, $to:expr;)*) => {
        $(
            impl Drawn for $ty {
                fn draw(from: &mut Draw, range: RangeInclusive<Self>) -> Self {
                    let (start, end) = (*range.start(), *range.end());
                    if start.partial_cmp(&end) != Some(Ordering::Less) {
                        return start;
                    }
                    let zero = $from(0.0);
                    let zero = if range.contains(&zero) { zero } else { start };
                    if let Some(special) = from.special(&[start, end, zero]) {
                        return special;
                    }
                    let part = (from.random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                    let drawn = $from($to(start) * (1.0 - part) + $to(end) * part);
                    // Rounding may lead beyond an end of the range.
                    if drawn < start { start } else if drawn > end { end } else { drawn }
                }
            }
        )*
    };
}
#[cfg(feature = "half")]
floats! {
    f16: f16::from_f64, f16::to_f64;
    bf16: bf16::from_f64, bf16::to_f64;
}
floats! {
    f32: |x: f64| x as f32, f64::from;
    f64: |x: f64| x, |x: f64| x;
}

impl Drawn for Bool8 {
    fn draw(from: &mut Draw, range: RangeInclusive<Self>) -> Self {
        let (start, end) = (u8::from(range.start().get()), u8::from(range.end().get()));
        (u8::draw(from, start..=end) == 1).into()
    }
}

impl<T: Drawn> Drawn for Complex<T>
where
    Self: Plain,
{
    fn draw(from: &mut Draw, range: RangeInclusive<Self>) -> Self {
        let (start, end) = (range.start(), range.end());
        let re = T::draw(from, start.re..=end.re);
        Self { re, im: T::draw(from, start.im..=end.im) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<T: Drawn + PartialOrd>(range: RangeInclusive<T>) -> Vec<T> {
        let drawn = Draw::new(3).values(5000, range.clone());
        assert!(drawn.iter().all(|x| range.contains(x)));
        drawn
    }

    #[test]
    fn values_are_in_their_range_and_have_its_ends_and_zero() {
        for end in [i8::MAX, 1, 0, -3] {
            let drawn = all(i8::MIN..=end);
            assert!(drawn.contains(&i8::MIN) && drawn.contains(&end));
            assert_eq!(drawn.contains(&0), end >= 0);
        }
        assert!(all(0..=u64::MAX).iter().any(|x| *x > u64::MAX / 2));
        assert!(all(i64::MIN..=i64::MAX).contains(&0));
        let floats = all(-1.0_f32..=2.0);
        for special in [-1.0, 0.0, 2.0] {
            assert!(floats.contains(&special));
        }
        let mean = floats.iter().sum::<f32>() / floats.len() as f32;
        assert!((mean - 0.5).abs() < 0.1, "{mean}");
        assert!(all(f64::MIN..=f64::MAX).iter().all(|x| x.is_finite()));
        #[cfg(feature = "half")]
        all(f16::from_f32(-0.1)..=f16::from_f32(0.3));
        #[cfg(feature = "half")]
        all(bf16::from_f32(-0.1)..=bf16::from_f32(0.3));
        let truths = all(Bool8::from(false)..=Bool8::from(true));
        assert!([true, false].iter().all(|value| truths.iter().any(|truth| truth == value)));
        let plane = Complex::new(-1.0_f32, 2.0)..=Complex::new(1.0, 3.0);
        let within = |z: Complex<f32>| z.re.abs() <= 1.0 && (2.0..=3.0).contains(&z.im);
        assert!(Draw::new(3).values(1000, plane).into_iter().all(within));
        assert_eq!(Draw::new(0).value(5..=5_usize), 5);
        #[expect(clippy::reversed_empty_ranges, reason = "an empty range")]
        let empty = Draw::new(0).value(5..=1_u8);
        assert_eq!(empty, 5);
    }

    #[test]
    fn the_first_length_visits_every_edge_and_others_are_mixed() {
        let cases = || (0..64).map(Draw::new);
        let first: Vec<usize> = cases().map(|mut draw| draw.len(0..=5000)).collect();
        assert!(EDGES.iter().chain(&[5000]).all(|edge| first.contains(edge)));
        let second = cases().map(|mut draw| (draw.len(1..=300), draw.len(1..=300)).1);
        let second: Vec<usize> = second.collect();
        assert!(second.iter().all(|len| (1..=300).contains(len)));
        assert!(second.iter().filter(|len| EDGES.contains(len)).count() >= 16);
        assert!(second.iter().any(|len| !EDGES.contains(len)));
    }

    #[test]
    fn a_seed_repeats_its_case() {
        let case = |seed| {
            let mut draw = Draw::new(seed);
            (draw.len(0..=9999), draw.values(100, -1.0_f64..=1.0), draw.value(0..=9_u8))
        };
        assert_eq!(case(40), case(40));
        assert_ne!(case(40), case(41));
    }
}
