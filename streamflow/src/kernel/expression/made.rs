//! Memory that an evaluation makes for its parts: the results of reductions, and of the expressions that they reduce.

use std::fmt;

use crate::driver::AccessMode;
use crate::error::Result;
use crate::kernel::body::RANK;
use crate::kernel::combine::product;
use crate::kernel::map::Operand;
use crate::memory::Scratch;
use crate::stream::CudaStream;

/// Elements of one type in row-major order, until the evaluation's work is complete.
pub(super) struct Made {
    scratch: Scratch,
    dims: Dims,
}

/// The lengths of dimensions, at most [`RANK`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Dims {
    len: [u64; RANK],
    rank: usize,
}

impl Dims {
    pub(super) fn of(operand: &Operand<'_>) -> Self {
        let mut dims = Self { len: [1; RANK], rank: 0 };
        operand.dims().iter().for_each(|len| dims.push(*len));
        dims
    }

    pub(super) fn all(&self) -> &[u64] {
        &self.len[..self.rank]
    }

    fn push(&mut self, len: u64) {
        if let Some(last) = self.len.get_mut(self.rank) {
            *last = len;
            self.rank += 1;
        }
    }

    /// The dimensions of a reduction's results.
    pub(super) fn reduced(&self, axis: Option<usize>, keepdims: bool) -> Self {
        let mut reduced = Self { len: [1; RANK], rank: 0 };
        for (dim, len) in self.all().iter().enumerate() {
            match axis {
                Some(axis) if axis != dim => reduced.push(*len),
                _ if keepdims => reduced.push(1),
                _ => {}
            }
        }
        reduced
    }

    /// The dimensions to which these operands broadcast. Those that don't fit are an error of the launch.
    pub(super) fn broadcast(operands: &[Operand<'_>]) -> Self {
        let rank = operands.iter().map(|operand| operand.dims().len()).max().unwrap_or_default();
        let mut shape = [1; RANK];
        for operand in operands {
            for (to, len) in shape.iter_mut().zip(&operand.shape) {
                *to = if *to == 1 { *len } else { *to };
            }
        }
        let mut dims = Self { len: [1; RANK], rank: 0 };
        shape[RANK - rank..].iter().for_each(|len| dims.push(*len));
        dims
    }
}

impl Made {
    /// Takes memory for elements of a type.
    ///
    /// # Errors
    /// As for a tensor.
    #[track_caller]
    pub(super) fn new<T>(stream: &CudaStream, dims: Dims) -> Result<Self> {
        let bytes = product(&dims.len).saturating_mul(size_of::<T>() as u64);
        Ok(Self { scratch: Scratch::new(stream, bytes)?, dims })
    }

    pub(super) fn operand(&self, name: &'static str, mode: AccessMode) -> Operand<'_> {
        Operand::dense(name, self.scratch.memory(), self.dims.all(), mode)
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made").field("dims", &self.dims.all()).finish_non_exhaustive()
    }
}
