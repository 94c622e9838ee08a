//! The numbers of a scan: its shapes, its tiles, and its grid.

use crate::driver::HostArgs;
use crate::error::{Error, Result};
use crate::kernel::Passing;
use crate::kernel::body::RANK;
use crate::kernel::combine::{offset, product};
use crate::kernel::map::{Operand, merge};

/// The most elements of a row that one lane has, and that the lanes of a warp have.
const OF_A_LANE: u64 = 16;
const OF_A_WARP: u64 = 512;
/// The number of columns from which each has one lane.
const MANY_COLUMNS: u64 = 4096;
/// The elements that a warp has at once.
pub(super) const STEP: u64 = 128;
/// The tiles of a group, and the groups of a group of groups.
pub(super) const GROUP: usize = 32;

/// The threads of a block, and of a warp.
const BLOCK: u64 = 256;
const WARP: u64 = 32;

/// The forms of a launch: a thread, a warp, or blocks for each row, and a launch before the last of these that clears its memory.
pub(super) const BY_THREAD: u64 = 0;
pub(super) const BY_WARP: u64 = 1;
pub(super) const BY_TILES: u64 = 2;
pub(super) const CLEAR: u64 = 3;

/// A launch. `cuda/scan.cuh` says what each field is.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) stride: [u64; RANK],
    pub(super) shape: [u64; RANK],
    pub(super) to: [u64; RANK],
    pub(super) kept: [u64; RANK],
    pub(super) step: [u64; RANK],
    pub(super) first: [u64; RANK],
    pub(super) tiles: u64,
    pub(super) form: u64,
}

/// How many times 128 elements a warp of a tile has, for a state of this size.
pub(super) const fn steps(size: usize) -> u64 {
    match size {
        0..=4 => 8,
        5..=8 => 4,
        _ => 2,
    }
}

impl Plan {
    /// The scan of an input along an axis or over all of it, with a state of `size` bytes.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub(super) fn new(
        kernel: &'static str,
        out: &Operand<'_>,
        input: &Operand<'_>,
        axis: Option<usize>,
        size: usize,
    ) -> Result<Self> {
        let wrong = |problem| Err(Error::Shapes { kernel, problem });
        if let Some(other) = [out, input].into_iter().find(|operand| operand.rank > RANK) {
            let (name, rank) = (other.name, other.rank);
            return wrong(format!("`{name}` has {rank} dimensions, and a scan at most {RANK}"));
        }
        if (out.rank, out.shape) != (input.rank, input.shape) {
            return wrong(format!(
                "{out} and {input}: the result of a scan has the shape of its input"
            ));
        }
        let (none, ones) = ([0; RANK], [1; RANK]);
        let (mut shape, mut kept) = (input.shape, ones);
        let (mut along, mut between) = ([input.strides, out.strides], [none; 2]);
        let mut is_by_column = false;
        if let Some(axis) = axis {
            if axis >= input.rank {
                return wrong(format!("{input} and has no axis {axis}: axes are counted from 0"));
            }
            let at = RANK - input.rank + axis;
            kept = std::mem::replace(&mut shape, ones);
            shape[RANK - 1] = std::mem::replace(&mut kept[at], 1);
            between = along;
            along = between.map(|strides| [0, 0, 0, strides[at]]);
            let mut others = kept.iter().zip(&input.strides);
            is_by_column = others.any(|(len, stride)| *len > 1 && input.strides[at] > *stride);
        }
        merge(&mut shape, &mut along);
        merge(&mut kept, &mut between);
        let ([stride, to], [step, first]) = (along, between);
        let mut plan = Self { stride, shape, to, kept, step, first, tiles: 1, form: BY_TILES };
        let length = plan.length();
        if length <= OF_A_LANE || is_by_column && plan.rows() >= MANY_COLUMNS {
            plan.form = BY_THREAD;
        } else if length <= OF_A_WARP {
            plan.form = BY_WARP;
        } else {
            plan.tiles = length.div_ceil(BLOCK / WARP * STEP * steps(size));
        }
        Ok(plan)
    }

    /// The number of rows, and of the elements of each.
    pub(super) fn rows(&self) -> u64 {
        product(&self.kept)
    }

    pub(super) fn length(&self) -> u64 {
        product(&self.shape)
    }

    /// The number of values that the tiles post for others.
    fn values(&self) -> u64 {
        let [groups, supers] =
            [GROUP, GROUP * GROUP].map(|tiles| self.tiles.div_ceil(tiles as u64));
        self.rows().saturating_mul(self.tiles + groups + supers)
    }

    /// The numbers of 8 bytes in the memory for several tiles in a row: how many tiles have begun, and for each value of `size` bytes
    /// as many as it has words of 4 bytes.
    pub(super) fn numbers(&self, size: usize) -> u64 {
        self.values().saturating_mul(size.div_ceil(4) as u64).saturating_add(1)
    }

    /// The launch before this one that clears the memory.
    pub(super) fn clear(&self) -> Self {
        Self { form: CLEAR, ..self.clone() }
    }

    /// The number of blocks of threads.
    pub(super) fn blocks(&self, size: usize) -> u64 {
        match self.form {
            BY_THREAD => self.rows().div_ceil(BLOCK),
            BY_WARP => self.rows().div_ceil(BLOCK / WARP),
            BY_TILES => self.rows().saturating_mul(self.tiles),
            _ => self.numbers(size).div_ceil(BLOCK),
        }
    }

    /// The places of an element of a row, in the input and in the output, from the first of the row.
    pub(super) fn places(&self, element: u64) -> [usize; 2] {
        [self.stride, self.to].map(|strides| offset(element, &self.shape, &strides))
    }

    /// The places of the first elements of a row.
    pub(super) fn firsts(&self, row: u64) -> [usize; 2] {
        [self.step, self.first].map(|strides| offset(row, &self.kept, &strides))
    }

    /// Passes the numbers of a launch.
    pub(super) fn pass(&self, [input, out, memory]: [u64; 3], to: &mut Passing<'_>) {
        let mut all = |numbers: &[u64]| numbers.iter().for_each(|number| to.number(*number));
        all(&[input]);
        all(&self.stride);
        all(&self.shape);
        all(&[out]);
        all(&self.to);
        all(&self.kept);
        all(&self.step);
        all(&self.first);
        all(&[memory, self.tiles, self.form]);
    }

    /// The numbers of a launch, with the addresses of the elements and of the results.
    pub(super) fn passed(args: &HostArgs<'_>) -> (Self, u64, u64) {
        let mut params = args.params.iter().map(|param| param.get::<u64>());
        let mut one = || params.next().unwrap_or_default();
        let input = one();
        let [stride, shape] = [(); 2].map(|()| std::array::from_fn(|_| one()));
        let out = one();
        let [to, kept, step, first] = [(); 4].map(|()| std::array::from_fn(|_| one()));
        let [_, tiles, form] = [(); 3].map(|()| one());
        (Self { stride, shape, to, kept, step, first, tiles, form }, input, out)
    }
}

/// The number of parameters of a launch, as [`Plan::pass`] passes them.
pub(super) const PARAMS: usize = 29;

#[cfg(test)]
mod tests {
    use super::*;

    /// Without its last number, or with a block fewer, a value of an earlier scan would stay in the memory.
    #[test]
    fn the_launch_before_clears_each_number_of_the_memory() {
        let (none, ones) = ([0; RANK], [1; RANK]);
        for (rows, tiles, values) in [(1, 2, 4), (3, 33, 3 * 36), (1, 1025, 1025 + 33 + 2)] {
            let kept = [1, 1, 1, rows];
            let [stride, to, step, first] = [none; 4];
            let plan = Plan { stride, shape: ones, to, kept, step, first, tiles, form: BY_TILES };
            for (size, words) in [(1, 1), (4, 1), (8, 2), (12, 3), (16, 4)] {
                let numbers = 1 + values * words;
                assert_eq!(
                    plan.numbers(size),
                    numbers,
                    "{rows} rows of {tiles} tiles of {size} bytes"
                );
                let threads = plan.clear().blocks(size) * BLOCK;
                assert!((numbers..numbers + BLOCK).contains(&threads), "{threads} for {numbers}");
            }
        }
    }
}
