//! A stencil for each border and number of dimensions, and the same in a few lines of Rust.

use streamflow::__private::{KernelInfo, MapKernel, Tiles};
use streamflow::kernel::Window;
use streamflow::memory::{TensorView, TensorViewMut};
use streamflow::prelude::*;

/// What is beyond the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    Clamp,
    Zero,
    Wrap,
    Mirror,
}

impl Border {
    /// The place of an index, found step by step.
    fn place(self, mut at: isize, len: usize) -> Option<usize> {
        let len = len as isize;
        while !(0..len).contains(&at) {
            at = match self {
                Self::Zero => return None,
                Self::Clamp if at < 0 => at + 1,
                Self::Clamp => at - 1,
                Self::Wrap if at < 0 => at + len,
                Self::Wrap => at - len,
                Self::Mirror if len == 1 => 0,
                Self::Mirror if at < 0 => -at,
                Self::Mirror => 2 * (len - 1) - at,
            };
        }
        Some(at as usize)
    }
}

type Launch = fn(&CudaStream, TensorViewMut<'_, i32>, TensorView<'_, i32>) -> Result<(), Error>;

/// A stencil. Its result is a number of all elements that the window reaches, in their order.
pub(super) struct Subject {
    pub(super) border: Border,
    pub(super) reach: &'static [usize],
    /// The code for views whose last dimension has no gaps, and that for others.
    pub(super) infos: [&'static KernelInfo; 2],
    pub(super) tiles: Option<Tiles>,
    pub(super) launch: Launch,
}

macro_rules! stencils {
    ($($word:ident $border:ident $one:ident $two:ident $three:ident $four:ident;)*) => {
        $(
            #[kernel(stencil(reach = [3], border = $word))]
            fn $one(out: &mut i32, a: Window<i32>) {
                let mut sum = 0;
                for x in -3..=3 {
                    sum = sum * 31 + a.at(x);
                }
                *out = sum;
            }

            #[kernel(stencil(reach = [1, 2], border = $word))]
            fn $two(out: &mut i32, a: Window<i32>) {
                let mut sum = 0;
                for y in -1..=1 {
                    for x in -2..=2 {
                        sum = sum * 31 + a.at(y, x);
                    }
                }
                *out = sum;
            }

            #[kernel(stencil(reach = [1, 2, 1], border = $word))]
            fn $three(out: &mut i32, a: Window<i32>) {
                let mut sum = 0;
                for z in -1..=1 {
                    for y in -2..=2 {
                        for x in -1..=1 {
                            sum = sum * 31 + a.at(z, y, x);
                        }
                    }
                }
                *out = sum;
            }

            #[kernel(stencil(reach = [1, 0, 1, 2], border = $word))]
            fn $four(out: &mut i32, a: Window<i32>) {
                let mut sum = 0;
                for w in -1..=1 {
                    for y in -1..=1 {
                        for x in -2..=2 {
                            sum = sum * 31 + a.at(w, 0, y, x);
                        }
                    }
                }
                *out = sum;
            }
        )*

        /// Those of one number of dimensions.
        pub(super) fn of_rank(rank: usize) -> Vec<Subject> {
            vec![$(match rank {
                1 => subject::<$one>(Border::$border, &[3], |s, out, a| s.map::<$one>((out, a))),
                2 => subject::<$two>(Border::$border, &[1, 2], |s, out, a| s.map::<$two>((out, a))),
                3 => subject::<$three>(Border::$border, &[1, 2, 1], |s, out, a| s.map::<$three>((out, a))),
                _ => subject::<$four>(Border::$border, &[1, 0, 1, 2], |s, out, a| s.map::<$four>((out, a))),
            },)*]
        }
    };
}

stencils! {
    clamp Clamp clamp_1 clamp_2 clamp_3 clamp_4;
    zero Zero zero_1 zero_2 zero_3 zero_4;
    wrap Wrap wrap_1 wrap_2 wrap_3 wrap_4;
    mirror Mirror mirror_1 mirror_2 mirror_3 mirror_4;
}

fn subject<K: MapKernel>(border: Border, reach: &'static [usize], launch: Launch) -> Subject {
    Subject { border, reach, infos: [K::LINEAR, K::STRIDED], tiles: K::TILES, launch }
}

/// All indices of a shape, the last dimension first.
pub(super) fn places(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for len in shape {
        all = all.iter().flat_map(|at| (0..*len).map(move |i| [&at[..], &[i]].concat())).collect();
    }
    all
}

/// The number of each element, in row-major order, in a tensor whose dimensions are reversed.
pub(super) fn turned(shape: &[usize]) -> Vec<usize> {
    let number = |at: Vec<usize>| at.iter().zip(shape).rev().fold(0, |n, (at, len)| n * len + at);
    places(shape).into_iter().map(number).collect()
}

impl Subject {
    /// The results for the elements of a shape, in row-major order.
    pub(super) fn wanted(&self, shape: &[usize], elements: &[i32]) -> Vec<i32> {
        // The places of all indices of a dimension, from the first that a window reaches to the last.
        let places_of = |(len, reach): (&usize, &usize)| -> Vec<Option<usize>> {
            let all = -(*reach as isize)..(len + reach) as isize;
            all.map(|at| self.border.place(at, *len)).collect()
        };
        let dims: Vec<_> = shape.iter().zip(self.reach).map(places_of).collect();
        let result = |at: &Vec<usize>| {
            let mut sum = 0;
            self.add(&dims, shape, at, Some(0), elements, &mut sum);
            sum
        };
        places(shape).iter().map(result).collect()
    }

    /// Adds the elements around a place: `number` is that of the outer dimensions, and `None` for elements of 0.
    fn add(
        &self,
        dims: &[Vec<Option<usize>>],
        shape: &[usize],
        at: &[usize],
        number: Option<usize>,
        elements: &[i32],
        sum: &mut i32,
    ) {
        let [places, inner @ ..] = dims else {
            let element = number.map_or(0, |number| elements[number]);
            *sum = sum.wrapping_mul(31).wrapping_add(element);
            return;
        };
        let reach = self.reach[self.reach.len() - dims.len()];
        for place in &places[at[0]..=at[0] + 2 * reach] {
            let number = number.zip(*place).map(|(number, place)| number * shape[0] + place);
            self.add(inner, &shape[1..], &at[1..], number, elements, sum);
        }
    }
}
