//! What a kernel is.

use crate::Result;
use crate::driver::HostKernel;

use super::Passing;

/// A kernel that `CudaStream::launch` takes: made by [`#[kernel]`](macro@crate::kernel).
///
/// # Safety
/// [`pass`](Kernel::pass) passes what [`INFO`](Kernel::INFO) says, in that order: the host body and
/// the CUDA body take it for that. `INFO.host` touches no other memory than the slices passed, and
/// so does `INFO.cuda` for every grid that the arguments' lengths permit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not a kernel",
    note = "a kernel is a function with `#[kernel(unsafe cuda = \"…\")]`"
)]
pub unsafe trait Kernel: 'static {
    /// The arguments of a launch, a tuple: `&mut DeviceSlice<T>`, `&DeviceSlice<T>` and scalars.
    type Args<'a>;

    /// Name, bodies and parameters; of each instance of a generic kernel its own.
    const INFO: &'static KernelInfo;

    /// Checks the kernel's requirements and hands the arguments on.
    ///
    /// # Errors
    /// [`Error::KernelRequirement`](crate::Error::KernelRequirement) when one does not hold.
    fn pass<'a>(args: Self::Args<'a>, to: &mut Passing<'a>) -> Result<()>;
}

/// A kernel's name, bodies and parameters.
#[derive(Debug, Clone, Copy)]
pub struct KernelInfo {
    /// The function's name.
    pub name: &'static str,
    /// The function's name within compiled code. It has a suffix, so that a kernel may be called
    /// `exp` or `floor`, which are CUDA's own.
    pub entry: &'static str,
    /// The file that holds the CUDA body.
    pub file: &'static str,
    /// The line, from 1, at which the CUDA body begins.
    pub line: u32,
    /// The CUDA body: the statements between the braces.
    pub cuda: &'static str,
    /// The arguments in order.
    pub params: &'static [ParamInfo],
    /// Type parameters and the CUDA types that they stand for, as `("T", "float")`.
    pub generics: &'static [(&'static str, &'static str)],
    /// The block size that the CUDA body is written for, in x, y and z; `None` when it is right for any.
    /// A grid that names no block size gets this one, and one that names another is refused.
    pub threads: Option<[u32; 3]>,
    /// The host body.
    pub host: HostKernel,
}

/// One argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name, in Rust and in CUDA.
    pub name: &'static str,
    /// The CUDA type of the scalar, or of the slice's elements.
    pub cuda: &'static str,
    /// What it is.
    pub kind: ParamKind,
}

/// What a kernel's argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// `&[T]`: passed as `const T* name` and `unsigned long long name_len`.
    Slice,
    /// `&mut [T]`: passed as `T* name` and `unsigned long long name_len`.
    SliceMut,
    /// A value.
    Scalar,
}
