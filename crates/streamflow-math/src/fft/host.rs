//! The transforms that the simulator runs in place of cuFFT, line by line, with `rustfft`.
//!
//! `rustfft` transforms contiguous lines of complex numbers. So each line is copied into the work area, transformed there, and
//! copied to the output. Complex numbers are read as pairs of real numbers, so that one slice may have real and complex numbers,
//! for transforms in place.

use std::sync::Arc;

use rustfft::{Fft, FftPlanner};
use streamflow::memory::Complex;

use super::real::Real;
use crate::ffi::cufft::layout::{MOST, Side};
use crate::ffi::cufft::problem::{Kind, Problem};
use streamflow::Element;
use streamflow::library::{HostBody, Operands};

/// The transforms of lines along one dimension: the forward transform, and then the inverse one.
type Lines<T> = [Arc<dyn Fft<T>>; 2];

/// A plan as the simulator has it.
struct HostPlan<T> {
    problem: Problem,
    /// The transforms of lines along each dimension. `None` for a dimension of one element.
    dimensions: [Option<Lines<T>>; MOST],
    /// The length of the longest line.
    line: usize,
}

/// The memory of a call, as real numbers: one slice for a transform in place, and else the input and the output.
enum Data<'a, T> {
    InPlace(&'a mut [T]),
    Two(&'a [T], &'a mut [T]),
}

impl<T> Data<'_, T> {
    fn input(&self) -> &[T] {
        match self {
            Self::InPlace(data) => data,
            Self::Two(input, _) => input,
        }
    }

    fn output(&mut self) -> &mut [T] {
        match self {
            Self::InPlace(data) => data,
            Self::Two(_, output) => output,
        }
    }
}

/// Returns the host body, and the bytes of work area that it needs. The call's values say whether the transform is inverse, and
/// whether it is in place. Its claims are the input, if the transform is not in place, then the output and the work area.
pub(super) fn body<T: Real>(function: &str, problem: Problem) -> (HostBody, usize)
where
    Complex<T>: Element,
{
    let mut planner = FftPlanner::new();
    let dimensions = problem.lengths.map(|length| {
        (length > 1).then(|| [planner.plan_fft_forward(length), planner.plan_fft_inverse(length)])
    });
    let scratch =
        dimensions.iter().flatten().flatten().map(|fft| fft.get_inplace_scratch_len()).max();
    let line = problem.lengths.into_iter().max().unwrap_or(1);
    let bytes = (line + scratch.unwrap_or(0)) * size_of::<Complex<T>>();
    let plan = HostPlan { problem, dimensions, line };
    (
        HostBody::new(function, move |operands| {
            plan.run(operands);
            Ok(())
        }),
        bytes,
    )
}

impl<T: Real> HostPlan<T>
where
    Complex<T>: Element,
{
    fn run(&self, operands: &mut Operands<'_>) {
        let (is_inverse, is_in_place) = (operands.value::<u8>() != 0, operands.value::<u8>() != 0);
        let direction = usize::from(is_inverse);
        let Problem { kind, input, .. } = &self.problem;
        if *kind == Kind::ToReal && !is_in_place {
            let (spectrum, output) = (operands.write::<T>(), operands.write::<T>());
            let work = operands.write::<Complex<T>>();
            self.columns(direction, input, spectrum, work);
            self.rows(direction, &mut Data::Two(spectrum, output), work);
            return self.spoil(spectrum);
        }
        let mut data = if is_in_place {
            Data::InPlace(operands.write::<T>())
        } else {
            Data::Two(operands.read::<T>(), operands.write::<T>())
        };
        let work = operands.write::<Complex<T>>();
        if *kind == Kind::ToReal {
            self.columns(direction, input, data.output(), work);
            self.rows(direction, &mut data, work);
        } else {
            self.rows(direction, &mut data, work);
            self.columns(direction, &self.problem.output, data.output(), work);
        }
    }

    /// Transforms the lines along the last dimension, from the input to the output.
    fn rows(&self, direction: usize, data: &mut Data<'_, T>, work: &mut [Complex<T>]) {
        let Problem { kind, lengths, batch, input, output, .. } = &self.problem;
        let (line, scratch) = work.split_at_mut(self.line);
        let line = &mut line[..lengths[2]];
        for_each_line(*batch, *lengths, 2, |at| {
            load(*kind, input, at, data.input(), line);
            if let Some(fft) = &self.dimensions[2] {
                fft[direction].process_with_scratch(line, scratch);
            }
            store(*kind, output, at, line, data.output());
        });
    }

    /// Transforms the lines along the first two dimensions, in place.
    fn columns(&self, direction: usize, side: &Side, data: &mut [T], work: &mut [Complex<T>]) {
        let (line, scratch) = work.split_at_mut(self.line);
        for dimension in [1, 0] {
            let Some(fft) = &self.dimensions[dimension] else { continue };
            let (step, line) = (side.step(dimension), &mut line[..side.lengths[dimension]]);
            for_each_line(self.problem.batch, side.lengths, dimension, |at| {
                let first = side.at(at);
                for (i, number) in line.iter_mut().enumerate() {
                    *number = pair(data, first + i * step);
                }
                fft[direction].process_with_scratch(line, scratch);
                for (i, number) in line.iter().enumerate() {
                    put(data, first + i * step, *number);
                }
            });
        }
    }

    /// Overwrites the input of a transform to real numbers with NaNs, since cuFFT may leave anything there.
    fn spoil(&self, spectrum: &mut [T]) {
        let Problem { batch, input, .. } = &self.problem;
        for_each_line(*batch, input.lengths, 2, |at| {
            for z in 0..input.lengths[2] {
                put(spectrum, input.at(at) + z * input.stride, Complex::new(T::NAN, T::NAN));
            }
        });
    }
}

/// Reads a line of the input as complex numbers.
fn load<T: Real>(kind: Kind, input: &Side, at: [usize; 4], from: &[T], line: &mut [Complex<T>]) {
    let (first, step, count) = (input.at(at), input.stride, line.len());
    for (z, number) in line.iter_mut().enumerate() {
        *number = match kind {
            Kind::Complex => pair(from, first + z * step),
            Kind::FromReal => Complex::new(from[first + z * step], T::zero()),
            Kind::ToReal => {
                // The second half of the spectrum is the first half in reverse order, conjugated. A number that is its own
                // counterpart is real.
                let nearer = z.min(count - z);
                let Complex { re, im } = pair(from, first + nearer * step);
                let im = match (2 * z).cmp(&count) {
                    _ if z == 0 => T::zero(),
                    std::cmp::Ordering::Less => im,
                    std::cmp::Ordering::Equal => T::zero(),
                    std::cmp::Ordering::Greater => -im,
                };
                Complex::new(re, im)
            }
        };
    }
}

/// Writes a line of the output.
fn store<T: Real>(kind: Kind, output: &Side, at: [usize; 4], line: &[Complex<T>], to: &mut [T]) {
    let (first, step) = (output.at(at), output.stride);
    for (z, number) in line.iter().enumerate().take(output.lengths[2]) {
        match kind {
            Kind::Complex | Kind::FromReal => put(to, first + z * step, *number),
            Kind::ToReal => to[first + z * step] = number.re,
        }
    }
}

fn pair<T: Copy>(numbers: &[T], index: usize) -> Complex<T> {
    Complex::new(numbers[2 * index], numbers[2 * index + 1])
}

fn put<T: Copy>(numbers: &mut [T], index: usize, value: Complex<T>) {
    numbers[2 * index] = value.re;
    numbers[2 * index + 1] = value.im;
}

/// Calls `each` for each line along a dimension, with the index of the line's first element: the transform, x, y and z.
fn for_each_line(
    batch: usize,
    mut lengths: [usize; MOST],
    along: usize,
    mut each: impl FnMut([usize; 4]),
) {
    lengths[along] = 1;
    for b in 0..batch {
        for x in 0..lengths[0] {
            for y in 0..lengths[1] {
                for z in 0..lengths[2] {
                    each([b, x, y, z]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustfft::FftPlanner;
    use streamflow::memory::Complex;

    /// Returns a checksum (FNV-1a) of the results of transforms with these lengths.
    fn sum(lengths: &[usize]) -> u64 {
        let mut planner = FftPlanner::<f32>::new();
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        for &n in lengths {
            let number = |i: usize| (i * i % 31) as f32 - 15.0;
            let mut line: Vec<_> = (0..n).map(|i| Complex::new(number(i), number(3 * i))).collect();
            planner.plan_fft_forward(n).process(&mut line);
            for part in line.iter().flat_map(|number| [number.re, number.im]) {
                sum = (sum ^ u64::from(part.to_bits())).wrapping_mul(0x0100_0000_01b3);
            }
        }
        sum
    }

    /// The lengths in this test are powers of 2 and of 3, products, and prime numbers. For some primes `rustfft` uses
    /// Rader's algorithm, and for others Bluestein's.
    #[test]
    fn a_transform_has_the_same_bits_on_each_processor() {
        assert_eq!(sum(&[2, 8, 27, 60, 97, 210, 719, 1009, 2048, 2187]), 405_547_879_095_079_047);
    }
}
