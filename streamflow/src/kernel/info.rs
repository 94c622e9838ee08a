//! The description of a kernel.

use std::borrow::Cow;

use crate::driver::HostKernel;
use crate::error::Result;

use super::{Axes, Coverage, Passing};

/// A kernel that `CudaStream::launch` takes. [`#[kernel]`](macro@crate::kernel) makes the implementations.
///
/// # Safety
/// [`pass`](Kernel::pass) passes the parameters of [`INFO`](Kernel::INFO), in that order: the host body and the CUDA body rely on
/// the order. `INFO.host` and `INFO.cuda` touch no other memory than the slices and views passed, for every grid that the
/// arguments' lengths permit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not a kernel",
    note = "a kernel is a function with `#[kernel(unsafe cuda = \"…\")]`"
)]
pub unsafe trait Kernel: 'static {
    /// The arguments of a launch, as a tuple of `&mut DeviceSlice<T>`, `&DeviceSlice<T>`, `TensorViewMut<T>`,
    /// `TensorView<T>` and scalars.
    type Args<'a>;

    /// The kernel's name, bodies and parameters. Each instance of a generic kernel has an `INFO` of its own.
    const INFO: &'static KernelInfo;

    /// Checks the kernel's requirements and passes the arguments.
    ///
    /// # Errors
    /// [`Error::KernelRequirement`](crate::Error::KernelRequirement) when a requirement does not hold.
    fn pass<'a>(args: Self::Args<'a>, to: &mut Passing<'a>) -> Result<()>;
}

/// A kernel's name, bodies and parameters.
#[derive(Debug, Clone, Copy)]
pub struct KernelInfo {
    /// The function's name.
    pub name: &'static str,
    /// The function's name within compiled code: `name` with a suffix. The suffix lets a kernel be called `exp` or `floor`, as
    /// functions of CUDA are.
    pub entry: &'static str,
    /// The file that holds the CUDA body.
    pub file: &'static str,
    /// The first line of the CUDA body, counted from 1.
    pub line: u32,
    /// The CUDA body: the statements between the braces.
    pub cuda: CudaBody,
    /// The arguments in order.
    pub params: &'static [ParamInfo],
    /// Type parameters and the CUDA types that they stand for, as `("T", "float")`.
    pub generics: &'static [(&'static str, &'static str)],
    /// The block size that the CUDA body is written for, in x, y and z; `None` if any block size is right. A grid without a block
    /// size gets this one; a grid with a different block size is refused.
    pub threads: Option<[u32; 3]>,
    /// The grids that write all elements of the `&mut` slices.
    pub coverage: Coverage,
    /// The axes along which the CUDA body reads the position of its thread, see [`for_body`](Self::for_body).
    pub axes: Axes,
    /// Whether the body may report a mistake, by one parameter more: the address of the report of mistakes.
    pub reports: bool,
    /// The host body.
    pub host: HostKernel,
}

impl KernelInfo {
    /// Returns this description with `axes` set to those that the CUDA body reads.
    pub const fn for_body(self) -> Self {
        match self.cuda {
            CudaBody::Text(text) => Self { axes: Axes::of(text), ..self },
            CudaBody::Made(_) | CudaBody::Image(_) => self,
        }
    }
}

/// The CUDA body of a kernel.
#[derive(Debug, Clone, Copy)]
pub enum CudaBody {
    /// The author's.
    Text(&'static str),
    /// Made of the Rust body.
    Made(fn() -> String),
    /// Compiled by another tool.
    Image(&'static EmbeddedImage),
}

impl CudaBody {
    /// The image, if another tool has compiled the body.
    pub(super) fn image(self) -> Option<&'static EmbeddedImage> {
        match self {
            Self::Image(image) => Some(image),
            Self::Text(_) | Self::Made(_) => None,
        }
    }

    /// The text; none for an image.
    pub(super) fn text(self) -> Cow<'static, str> {
        match self {
            Self::Text(text) => text.into(),
            Self::Made(made) => made().into(),
            Self::Image(_) => "".into(),
        }
    }
}

/// An image within the program, and the parameters that its function takes.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedImage {
    /// The path as the author wrote it, or the expression.
    pub file: &'static str,
    /// PTX text, a CUBIN or a fatbin.
    pub code: &'static [u8],
    /// The parameters that a launch passes to the function, each with its name and its size in bytes.
    pub params: &'static [(&'static str, usize)],
    /// Whether the kernel has a Rust body for the simulator.
    pub has_host_body: bool,
}

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParamInfo {
    /// The argument's name, in Rust and in CUDA.
    pub name: &'static str,
    /// The CUDA type of the scalar, or of the elements of the slice or view.
    pub cuda: &'static str,
    /// Whether the argument is a slice, a view or a scalar.
    pub kind: ParamKind,
}

/// The kind of a kernel's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// `&[T]`: passed as `const T* name` and `unsigned long long name_len`.
    Slice,
    /// `&mut [T]`: passed as `T* name` and `unsigned long long name_len`.
    SliceMut,
    /// `&Strided<T, N>`: passed as a pointer, and `unsigned long long` for the length and the stride of each dimension.
    View(usize),
    /// `&mut Strided<T, N>`: passed like [`View`](Self::View).
    ViewMut(usize),
    /// A scalar: passed by value.
    Scalar,
    /// The shape of a launch by strides: four `unsigned long long`, outermost first.
    Shape,
    /// The elements of an input of a launch by strides: a pointer, and four `unsigned long long` for the strides.
    Elements,
    /// The elements of an output of a launch by strides.
    ElementsMut,
    /// A table of a kernel with one body, which checks each index itself: passed as [`Slice`](Self::Slice).
    Table,
    /// An array or a struct, by value: this many parameters of 16 bytes.
    Chunks(usize),
}
