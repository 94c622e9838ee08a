//! A call of a reduction or a scan without its types, as a test repeats it.

use std::fmt;
use std::panic::Location;

use super::ScanKernel;
use crate::driver::{Access, AccessMode, MemoryRange, SourceLocation};
use crate::error::Result;
use crate::kernel::KernelInfo;
use crate::kernel::map::{Layout, Operand};
use crate::kernel::recorded::{self, Memory, Repeat};
use crate::memory::{Block, Element};
use crate::stream::CudaStream;

/// A function without its types.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Function {
    /// The description of its launches.
    pub(in crate::kernel) info: &'static KernelInfo,
    /// The bytes of a state.
    pub(in crate::kernel) state: usize,
    /// The types in CUDA of a result and of an element.
    types: [&'static str; 2],
}

impl Function {
    /// A function by the description of its reductions or of its scans.
    pub(in crate::kernel) const fn of<K: ScanKernel>(info: &'static KernelInfo) -> Self {
        let types = [<K::Output as Element>::ELEMENT_CUDA, <K::Input as Element>::ELEMENT_CUDA];
        Self { info, state: size_of::<K::State>(), types }
    }
}

/// Queues the launches of a reduction or a scan.
///
/// # Safety
/// The operands are a result to write and an input to read, with elements of the function's types. The description is that of the
/// reductions, or of the scans, of the function.
pub(in crate::kernel) type Queue = unsafe fn(
    &CudaStream,
    Function,
    &[Operand<'_>; 2],
    Option<usize>,
    SourceLocation,
) -> Result<()>;

/// A call of a reduction or a scan that a test repeats in other memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Call {
    queue: Queue,
    function: Function,
    layouts: [Layout; 2],
    axis: Option<usize>,
    tree: (u64, u64),
}

impl Call {
    /// Notes a call, for tests, in a program with debug assertions. The launch that reads its elements has this form and so many
    /// blocks.
    pub(in crate::kernel) fn note(
        queue: Queue,
        function: Function,
        operands: &[Operand<'_>; 2],
        axis: Option<usize>,
        tree: (u64, u64),
    ) {
        if !cfg!(debug_assertions) {
            return;
        }
        let memory = [0, 1].map(|param| {
            let Access { range: MemoryRange { bytes, .. }, mode, argument: name, .. } =
                operands[param].access();
            let is_written = mode == AccessMode::Write;
            Memory { param, name, cuda: function.types[param], bytes, is_written }
        });
        let layouts = operands.each_ref().map(Operand::layout);
        recorded::note_call(function.info, memory, Self { queue, function, layouts, axis, tree });
    }
}

impl Repeat for Call {
    fn tree(&self) -> (u64, u64) {
        self.tree
    }

    unsafe fn repeat(
        &self,
        stream: &CudaStream,
        info: &'static KernelInfo,
        [out, input]: [(Access, &Block); 2],
    ) -> Result<()> {
        let [of_out, of_input] = &self.layouts;
        let operands = [
            Operand::of_layout(of_out, out.0, out.1),
            Operand::of_layout(of_input, input.0, input.1),
        ];
        let function = Function { info, ..self.function };
        // SAFETY: as the caller vouches.
        unsafe { (self.queue)(stream, function, &operands, self.axis, Location::caller()) }
    }
}

/// "`out` of shape [3], `input` of shape [3, 400] along axis 1"
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [out, input] = self.layouts.each_ref().map(Layout::dims);
        write!(f, "`out` of shape {out:?}, `input` of shape {input:?}")?;
        self.axis.map_or(Ok(()), |axis| write!(f, " along axis {axis}"))
    }
}
