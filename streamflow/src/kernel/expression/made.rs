//! Memory that an evaluation makes for its parts: the results of reductions, and of the expressions that they reduce.

use std::fmt;

use crate::driver::{Access, AccessMode};
use crate::error::Result;
use crate::kernel::body::RANK;
use crate::kernel::combine::product;
use crate::kernel::map::{Layout, Operand};
use crate::memory::Scratch;
use crate::stream::CudaStream;

/// Elements of one type in row-major order, until the evaluation's work is complete.
pub(super) struct Made {
    scratch: Scratch,
    layout: Layout,
}

impl Made {
    /// Takes memory for elements of a type.
    ///
    /// # Errors
    /// As for a tensor.
    #[track_caller]
    pub(super) fn new<T>(stream: &CudaStream, layout: Layout) -> Result<Self> {
        let bytes = product(layout.dims()).saturating_mul(size_of::<T>() as u64);
        Ok(Self { scratch: Scratch::new(stream, bytes)?, layout })
    }

    pub(super) fn operand(&self, name: &'static str, mode: AccessMode) -> Operand<'_> {
        let (range, block) = self.scratch.memory();
        let access = Access { range, mode, argument: name, rows: None };
        Operand::of_layout(&self.layout, access, block)
    }
}

/// The layout of a reduction's results, without the axes that are reduced, or with a length of 1 there.
pub(super) fn reduced(input: &Operand<'_>, axis: Option<usize>, keepdims: bool) -> Layout {
    let is_reduced = |dim| axis.is_none_or(|axis| axis == dim);
    let dims = input.dims().iter().enumerate();
    let kept = dims.filter(|(dim, _)| keepdims || !is_reduced(*dim));
    Layout::dense(kept.map(|(dim, len)| if is_reduced(dim) { 1 } else { *len }))
}

/// The layout to which these operands broadcast. Those that don't fit are an error of the launch.
pub(super) fn broadcast(operands: &[Operand<'_>]) -> Layout {
    let rank = operands.iter().map(|operand| operand.dims().len()).max().unwrap_or_default();
    let mut shape = [1; RANK];
    for operand in operands {
        for (to, len) in shape.iter_mut().zip(&operand.shape) {
            *to = if *to == 1 { *len } else { *to };
        }
    }
    Layout::dense(shape.into_iter().skip(RANK - rank))
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").field("dims", &self.layout.dims()).finish_non_exhaustive()
    }
}
