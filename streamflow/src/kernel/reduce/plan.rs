//! The numbers of a reduction: its shapes, its parts, and its grid.

use crate::driver::HostArgs;
use crate::error::{Error, Result};
use crate::kernel::Passing;
use crate::kernel::body::RANK;
use crate::kernel::combine::{offset, product};
use crate::kernel::map::{Operand, merge};

/// The most elements of one lane, of the lanes of a warp, and of one part.
const OF_A_LANE: u64 = 16;
const OF_A_WARP: u64 = 1024;
const OF_A_PART: u64 = 16_384;
/// The elements that a block of threads combines at once.
const TILE: u64 = 4096;
const MOST_PARTS: u64 = 512;
/// The number of threads for columns that a large GPU executes at once, and the fewest elements of a part of a column.
const THREADS: u64 = 1 << 18;
const OF_A_COLUMN: u64 = 16;

/// The threads of a block, and of a warp.
const BLOCK: u64 = 256;
const WARP: u64 = 32;

/// The forms of a pass: a thread, a warp or a block for each part of a result, or a thread for each part of a column. A pass over
/// the values of parts adds [`SECOND`].
const BY_THREAD: u64 = 0;
const BY_WARP: u64 = 1;
const BY_BLOCK: u64 = 2;
pub(super) const BY_COLUMN: u64 = 3;
pub(super) const SECOND: u64 = 4;

/// A pass over elements, or over the values of parts. `cuda/reduce.cuh` says what each field is.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) stride: [u64; RANK],
    pub(super) shape: [u64; RANK],
    pub(super) to: [u64; RANK],
    pub(super) kept: [u64; RANK],
    pub(super) step: [u64; RANK],
    pub(super) chunk: u64,
    pub(super) parts: u64,
    pub(super) count: u64,
    pub(super) form: u64,
}

/// The number of lanes for `n` elements.
pub(super) fn lanes(n: u64) -> usize {
    if n <= OF_A_LANE {
        1
    } else if n <= OF_A_WARP {
        WARP as usize
    } else {
        BLOCK as usize
    }
}

impl Plan {
    /// The first pass over an input, along an axis or over all of it.
    ///
    /// # Errors
    /// Shapes that don't fit.
    pub(super) fn new(
        kernel: &'static str,
        out: &Operand<'_>,
        input: &Operand<'_>,
        axis: Option<usize>,
    ) -> Result<Self> {
        let wrong = |problem| Err(Error::Shapes { kernel, problem });
        if let Some(other) = [out, input].into_iter().find(|operand| operand.rank > RANK) {
            let (name, rank) = (other.name, other.rank);
            return wrong(format!(
                "`{name}` has {rank} dimensions, and a reduction at most {RANK}"
            ));
        }
        let (none, ones) = ([0; RANK], [1; RANK]);
        let mut plan = Self {
            stride: input.strides,
            shape: input.shape,
            to: none,
            kept: ones,
            step: none,
            chunk: 0,
            parts: 1,
            count: 0,
            form: BY_THREAD,
        };
        let Some(axis) = axis else {
            if product(&out.shape) != 1 {
                return wrong(format!(
                    "{out} and {input}: the reduction of all elements is one, so `out` is [1]; `reduce_axis` reduces along an axis"
                ));
            }
            merge(&mut plan.shape, std::slice::from_mut(&mut plan.stride));
            plan.split(false);
            return Ok(plan);
        };
        if axis >= input.rank {
            return wrong(format!("{input} and has no axis {axis}: axes are counted from 0"));
        }
        let at = RANK - input.rank + axis;
        let mut expected = input.shape;
        expected[at] = 1;
        // Without the axis, the dimensions before it are one place further.
        let is_shorter = out.rank + 1 == input.rank;
        let mut to = out.strides;
        let mut given = out.shape;
        if is_shorter {
            given.copy_within(1..=at, 0);
            to.copy_within(1..=at, 0);
            (given[at], to[at]) = (1, 0);
        }
        if !(is_shorter || out.rank == input.rank) || given != expected {
            let kept = input.dims().iter().enumerate().filter(|(dim, _)| *dim != axis);
            let kept: Vec<_> = kept.map(|(_, len)| len).collect();
            return wrong(format!(
                "{out} and {input}: reduced along axis {axis}, `out` is {kept:?}"
            ));
        }
        let along = input.strides[at];
        (plan.shape, plan.stride) = (ones, none);
        (plan.shape[RANK - 1], plan.stride[RANK - 1]) = (input.shape[at], along);
        let mut others = expected.iter().zip(&input.strides);
        let is_fastest = others.all(|(len, stride)| *len <= 1 || along <= *stride);
        let mut steps = [input.strides, to];
        plan.kept = expected;
        merge(&mut plan.kept, &mut steps);
        [plan.step, plan.to] = steps;
        plan.split(!is_fastest);
        Ok(plan)
    }

    /// Chooses the form and the parts.
    fn split(&mut self, is_by_column: bool) {
        let n = product(&self.shape);
        self.count = n;
        if is_by_column && n > 1 {
            let results = self.results().max(1);
            let most = MOST_PARTS.min(n.div_ceil(OF_A_COLUMN)).max(1);
            (self.form, self.parts) = (BY_COLUMN, (THREADS / results).clamp(1, most));
            return;
        }
        self.form = match lanes(n) {
            1 => BY_THREAD,
            32 => BY_WARP,
            _ => BY_BLOCK,
        };
        self.chunk = match n {
            ..=OF_A_PART => n,
            _ => TILE * n.div_ceil(TILE).div_ceil(MOST_PARTS),
        };
        self.parts = n.div_ceil(self.chunk.max(1)).max(1);
    }

    /// The pass over the values of the parts, which follow each other for each result.
    pub(super) fn second(&self) -> Self {
        let (mut stride, mut shape) = ([0; RANK], [1; RANK]);
        (shape[RANK - 1], stride[RANK - 1]) = (self.parts, 1);
        let mut step = [0; RANK];
        let mut place = self.parts;
        for dim in (0..RANK).rev() {
            step[dim] = place;
            place = place.saturating_mul(self.kept[dim]);
        }
        let mut second = Self { stride, shape, step, ..self.clone() };
        second.split(false);
        second.count = self.count;
        second.form += SECOND;
        second
    }

    /// The number of results.
    pub(super) fn results(&self) -> u64 {
        product(&self.kept)
    }

    /// The number of elements of a result in this pass.
    pub(super) fn length(&self) -> u64 {
        product(&self.shape)
    }

    /// The number of blocks of threads.
    pub(super) fn blocks(&self) -> u64 {
        let results = self.results();
        match self.form % SECOND {
            BY_THREAD => results.div_ceil(BLOCK),
            BY_WARP => results.div_ceil(BLOCK / WARP),
            BY_BLOCK => results.saturating_mul(self.parts),
            _ => results.saturating_mul(self.parts).div_ceil(BLOCK),
        }
    }

    /// The place of an element from the first of its result, and of a result.
    pub(super) fn place(&self, element: u64) -> usize {
        offset(element, &self.shape, &self.stride)
    }

    pub(super) fn first(&self, result: u64) -> usize {
        offset(result, &self.kept, &self.step)
    }

    pub(super) fn result(&self, result: u64) -> usize {
        offset(result, &self.kept, &self.to)
    }

    /// Passes the numbers of a launch.
    pub(super) fn pass(&self, (input, out): (u64, u64), to: &mut Passing<'_>) {
        let mut all = |numbers: &[u64]| numbers.iter().for_each(|number| to.number(*number));
        all(&[input]);
        all(&self.stride);
        all(&self.shape);
        all(&[out]);
        all(&self.to);
        all(&self.kept);
        all(&self.step);
        all(&[self.chunk, self.parts, self.count, self.form]);
    }

    /// The numbers of a launch, with the addresses of the elements and of the results.
    pub(super) fn passed(args: &HostArgs<'_>) -> (Self, u64, u64) {
        let mut params = args.params.iter().map(|param| param.get::<u64>());
        let mut one = || params.next().unwrap_or_default();
        let input = one();
        let [stride, shape] = [(); 2].map(|()| std::array::from_fn(|_| one()));
        let out = one();
        let [to, kept, step] = [(); 3].map(|()| std::array::from_fn(|_| one()));
        let [chunk, parts, count, form] = [(); 4].map(|()| one());
        (Self { stride, shape, to, kept, step, chunk, parts, count, form }, input, out)
    }
}

/// The number of parameters of a launch, as [`Plan::pass`] passes them.
pub(super) const PARAMS: usize = 26;
