//! The one shape of a launch of `map`, by which all arguments are passed.

use arrayvec::ArrayVec;

use super::operands::{MOST_OPERANDS, Operands};
use crate::error::{Error, Result};
use crate::kernel::body::RANK;
use crate::kernel::places::{Code, Tiles};

/// A launch, with one shape for all operands.
pub(super) struct Plan {
    pub(super) shape: [u64; RANK],
    /// The steps of each operand, 0 where it is broadcast.
    pub(super) strides: ArrayVec<[u64; RANK], MOST_OPERANDS>,
    pub(super) code: Code,
}

impl Plan {
    /// # Errors
    /// Shapes that don't fit, with the names of the arguments.
    pub(super) fn new(
        kernel: &'static str,
        operands: &Operands<'_>,
        coordinates: usize,
        tiles: Option<Tiles>,
    ) -> Result<Self> {
        let wrong = |problem| Err(Error::Shapes { kernel, problem });
        let mut written = operands.operands.iter().filter(|operand| operand.is_written());
        let Some(first) = written.next() else { return wrong("nothing is written".to_owned()) };
        if let Some(other) = operands.operands.iter().find(|operand| operand.rank > RANK) {
            let (name, rank) = (other.name, other.rank);
            return wrong(format!(
                "`{name}` has {rank} dimensions, and a kernel of `map` at most {RANK}"
            ));
        }
        if coordinates > 0 && first.rank != coordinates {
            let (name, rank) = (first.name, first.rank);
            return wrong(format!(
                "the kernel reads {coordinates} coordinates, and `{name}` has {rank} dimensions"
            ));
        }
        if let Some(Tiles { rank: wanted, .. }) = tiles
            && first.rank != wanted
        {
            let (name, rank) = (first.name, first.rank);
            return wrong(format!(
                "the kernel's `reach` has {wanted} dimensions, and `{name}` has {rank}"
            ));
        }
        if let Some(other) =
            written.find(|other| (other.rank, other.shape) != (first.rank, first.shape))
        {
            return wrong(format!("{first} and {other}: all outputs have one shape"));
        }
        let mut windows = operands.operands.iter().filter(|operand| operand.is_window);
        if let Some(window) =
            windows.find(|window| (window.rank, window.shape) != (first.rank, first.shape))
        {
            return wrong(format!("{window} and {first}: a window has the shape of the output"));
        }
        let mut strides = ArrayVec::new();
        for operand in operands.operands.iter() {
            let mut steps = operand.strides;
            let dims = operand.shape.iter().zip(first.shape).zip(&mut steps);
            for ((len, _), step) in dims.filter(|((len, wanted), _)| **len != *wanted) {
                if *len != 1 {
                    return wrong(format!(
                        "{operand} and {first}: each dimension of an input, from the last, is that of the output or 1"
                    ));
                }
                *step = 0;
            }
            if operand.rank > first.rank {
                return wrong(format!(
                    "{operand} and {first}: an input has no more dimensions than the output"
                ));
            }
            let _full = strides.try_push(steps);
        }
        let mut plan = Self { shape: first.shape, strides, code: Code::Strided };
        let Some(tiles) = tiles else {
            plan.merge(coordinates);
            plan.code = Code::of(&plan.shape, &plan.strides);
            return Ok(plan);
        };
        let last = RANK - 1;
        let mut near =
            operands.operands.iter().filter(|operand| operand.is_window || operand.is_written());
        let is_dense = plan.shape[last] == 1 || near.all(|operand| operand.strides[last] == 1);
        plan.code = Code::Tiled(tiles, is_dense);
        Ok(plan)
    }

    /// Merges dimensions, where the body reads no coordinates.
    fn merge(&mut self, coordinates: usize) {
        if coordinates > 1 {
            return;
        }
        let _outermost = merge(&mut self.shape, &mut self.strides);
    }

    pub(super) fn count(&self) -> u64 {
        self.shape.iter().fold(1, |product: u64, len| product.saturating_mul(*len))
    }
}

/// Merges neighbouring dimensions that all operands pass through in one step. What is left are the last dimensions, and 1 before
/// them. Returns the first of them.
pub(in crate::kernel) fn merge(shape: &mut [u64; RANK], strides: &mut [[u64; RANK]]) -> usize {
    let mut at = RANK;
    for dim in (0..RANK).rev() {
        let len = std::mem::replace(&mut shape[dim], 1);
        if len == 1 {
            continue;
        }
        let inner = shape.get(at).copied().unwrap_or_default();
        if at < RANK && strides.iter().all(|steps| steps[dim] == steps[at].saturating_mul(inner)) {
            shape[at] = inner.saturating_mul(len);
            continue;
        }
        at -= 1;
        shape[at] = len;
        // No dimension that is still to be merged is at `at` or after it.
        strides.iter_mut().for_each(|steps| steps[at] = steps[dim]);
    }
    at
}
