//! Launches of this process, for tests that repeat them with other values. Only a program with debug assertions records some.
//!
//! Of a reduction and of a scan the whole call is kept: its launches read and write parts, whose types are their own, and these are
//! not to have random values.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::{CudaBody, Grid, KernelInfo, ParamKind, Passing};
use crate::driver::{Access, AccessMode, Param};
use crate::error::Result;
use crate::memory::Block;
use crate::stream::CudaStream;

/// The type of elements whose type is in the text of their kernel: those of a reduction or a scan.
pub(super) const UNTYPED: &str = "void";

/// The most launches of a kernel that are kept: each has another grid.
const MOST: usize = 4;

/// The most bytes of the arguments of a launch that is repeated.
const LARGEST: u64 = 64 << 20;

/// A launch, or a call of several launches.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) info: &'static KernelInfo,
    pub(crate) work: Work,
    pub(crate) memory: Vec<Memory>,
    /// Why the launch can't be repeated with other values.
    pub(crate) problem: Option<&'static str>,
}

/// The work that is repeated.
#[derive(Debug, Clone)]
pub(crate) enum Work {
    /// A launch with its parameters.
    Launch(Grid, Vec<Param>),
    /// A call of a reduction or a scan.
    Call(Arc<dyn Repeat>),
}

/// A call of a reduction or a scan. As text, the shapes of its operands.
pub(crate) trait Repeat: fmt::Debug + fmt::Display + Send + Sync {
    /// The form of the launch that reads the elements, and the number of its blocks.
    fn tree(&self) -> (u64, u64);

    /// Repeats the call in the memory of these accesses, those of the result and of the input.
    ///
    /// # Safety
    /// The description is that of the call, or that of a function of the same types. Each access is to memory of as many bytes as the
    /// operand had, and the caller has a `&mut` to that of the result and a `&` to that of the input.
    unsafe fn repeat(
        &self,
        stream: &CudaStream,
        info: &'static KernelInfo,
        memory: [(Access, &Block); 2],
    ) -> Result<()>;
}

/// An argument in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// The index in the parameters of the address, or among the operands of a call.
    pub(crate) param: usize,
    /// The argument's name.
    pub(crate) name: &'static str,
    /// The CUDA type of its elements.
    pub(crate) cuda: &'static str,
    /// How many bytes the launch touches at most.
    pub(crate) bytes: u64,
    pub(crate) is_written: bool,
}

static RECORDED: Mutex<Vec<Recorded>> = Mutex::new(Vec::new());

/// Keeps a launch that has been checked, if it has another grid than those of the kernel that are kept.
pub(super) fn note(info: &'static KernelInfo, grid: &Grid, passing: &Passing<'_>) {
    // `note_call` keeps the whole call.
    if info.params.iter().any(|param| param.cuda == UNTYPED) {
        return;
    }
    let is_as = |work: &Work| matches!(work, Work::Launch(known, _) if known == grid);
    keep(info, is_as, || {
        let (memory, count) = memory(info, passing);
        let problem = if matches!(info.cuda, CudaBody::Image(_)) {
            Some("its code is an image")
        } else {
            (memory.len() != passing.accesses().len())
                .then_some("it reads or writes memory that is no argument")
        };
        // The parameter behind those of the arguments is the address of a report.
        let params = passing.params().iter().take(count).copied().collect();
        Recorded { info, work: Work::Launch(*grid, params), memory, problem }
    });
}

/// Keeps a call of a reduction or a scan, if its tree has another form or another number of blocks than those of the function that
/// are kept.
pub(super) fn note_call(
    info: &'static KernelInfo,
    memory: [Memory; 2],
    call: impl Repeat + 'static,
) {
    let tree = call.tree();
    let is_as = |work: &Work| matches!(work, Work::Call(known) if known.tree() == tree);
    keep(info, is_as, || {
        let work = Work::Call(Arc::new(call));
        Recorded { info, work, memory: memory.into(), problem: None }
    });
}

/// Keeps the launch or call that `make` makes, unless an equal one or the most of the kernel are kept.
fn keep(
    info: &'static KernelInfo,
    is_equal: impl Fn(&Work) -> bool,
    make: impl FnOnce() -> Recorded,
) {
    if !cfg!(debug_assertions) {
        return;
    }
    let mut all = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    let of_kernel = all.iter().filter(|known| std::ptr::eq(known.info, info));
    if of_kernel.clone().count() >= MOST || of_kernel.clone().any(|known| is_equal(&known.work)) {
        return;
    }
    let made = make();
    let bytes = made.memory.iter().fold(0_u64, |sum, one| sum.saturating_add(one.bytes));
    let is_large = (bytes > LARGEST).then_some("its arguments have more than 64 MiB");
    all.push(Recorded { problem: made.problem.or(is_large), ..made });
}

/// The arguments in memory that are not empty, and the number of the parameters of all arguments. An argument is found by its
/// address: an access has the name that the program gave it.
fn memory(info: &KernelInfo, passing: &Passing<'_>) -> (Vec<Memory>, usize) {
    let mut all = Vec::new();
    let mut accesses = passing.accesses().iter().peekable();
    let mut param = 0;
    for argument in info.params {
        let (name, cuda) = (argument.name, argument.cuda);
        let (width, is_memory) = match argument.kind {
            ParamKind::Scalar => (1, false),
            ParamKind::Shape => (4, false),
            ParamKind::Chunks(count) => (count, false),
            ParamKind::Slice | ParamKind::SliceMut | ParamKind::Table => (2, true),
            ParamKind::View(rank) | ParamKind::ViewMut(rank) => (1 + 2 * rank, true),
            ParamKind::Elements | ParamKind::ElementsMut => (5, true),
        };
        let address = passing.params().get(param).map(Param::get::<u64>);
        let access =
            is_memory.then(|| accesses.next_if(|access| address == Some(access.range.address)));
        if let Some(access) = access.flatten() {
            let is_written = access.mode == AccessMode::Write;
            all.push(Memory { param, name, cuda, bytes: access.range.bytes, is_written });
        }
        param += width;
    }
    (all, param)
}

/// The launches so far, in the order of their first.
pub(crate) fn recorded() -> Vec<Recorded> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
