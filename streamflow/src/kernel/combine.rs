//! Functions that combine two values: the interface of reductions and scans, and how their launches pass shapes.

mod call;

pub(super) use self::call::{Call, Function};
use super::body::RANK;
use super::map::{MapInput, MapOutput, Operand};
use super::{Axes, Coverage, CudaBody, KernelInfo, ParamInfo, ParamKind};
use crate::driver::{AccessMode, HostKernel};
use crate::memory::Element;

/// A function that combines two values, for [`CudaStream::scan`](crate::CudaStream::scan): a function with `#[kernel(scan(…))]` or
/// `#[kernel(reduce(…))]`, or one of [`reductions`](super::reductions).
///
/// # Safety
/// The two platforms have one meaning of each function, and `State` and the type of that name in [`cuda`](Self::cuda) have one
/// layout.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scan",
    label = "not a scan",
    note = "a scan is a function with `#[kernel(scan(identity = 0.0))]`, or a reduction, as `streamflow::kernel::reductions::Sum<f32>`"
)]
pub unsafe trait ScanKernel: 'static {
    /// The element of the input.
    type Input: Element;
    /// The value that is combined.
    #[doc(hidden)]
    type State: Copy + 'static;
    /// The element of the result.
    type Output: Element;

    /// The name.
    #[doc(hidden)]
    const NAME: &'static str;
    /// The name within compiled code.
    #[doc(hidden)]
    const ENTRY: &'static str;
    /// The file and the line of the function.
    #[doc(hidden)]
    const PLACE: (&'static str, u32);
    /// Whether the function may report a mistake, as a division by 0.
    #[doc(hidden)]
    const REPORTS: bool;

    /// The value without elements.
    #[doc(hidden)]
    fn identity() -> Self::State;
    /// The value of the element with this number.
    #[doc(hidden)]
    fn of(element: Self::Input, index: u64) -> Self::State;
    /// Combines two values.
    #[doc(hidden)]
    fn combine(a: Self::State, b: Self::State) -> Self::State;
    /// The result for the value of so many elements.
    #[doc(hidden)]
    fn finish(state: Self::State, count: u64) -> Self::Output;
    /// The same in CUDA: statements that define the type `streamflow_reduction`, and its value `streamflow_op`.
    #[doc(hidden)]
    fn cuda() -> String;
}

/// The result and the input, in this order.
pub(super) fn operands<'a, O: Element, I: Element>(
    out: impl MapOutput<'a, O>,
    input: impl MapInput<'a, I>,
) -> [Operand<'a>; 2] {
    let out = Operand::of("out", &out.map_output().into_view(), AccessMode::Write);
    [out, Operand::of("input", &input.map_input(), AccessMode::Read)]
}

/// The number of elements of a shape.
pub(super) fn product(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product: u64, len| product.saturating_mul(*len))
}

/// The place of an element with this number, in row-major order.
pub(super) fn offset(mut index: u64, shape: &[u64; RANK], stride: &[u64; RANK]) -> usize {
    let mut sum = 0;
    for (len, stride) in shape.iter().zip(stride).rev() {
        sum += index % len * stride;
        index /= len;
    }
    sum as usize
}

/// The description of a launch of a function, with a text for CUDA and a body for the simulator.
pub(super) const fn described<K: ScanKernel>(
    cuda: fn() -> String,
    params: &'static [ParamInfo],
    host: HostKernel,
) -> KernelInfo {
    KernelInfo {
        name: K::NAME,
        entry: K::ENTRY,
        file: K::PLACE.0,
        line: K::PLACE.1,
        cuda: CudaBody::Made(cuda),
        params,
        generics: &[],
        threads: Some([256, 1, 1]),
        coverage: Coverage::GridStride,
        axes: Axes::UNKNOWN,
        reports: K::REPORTS,
        host,
    }
}

/// A parameter.
pub(super) const fn param(name: &'static str, cuda: &'static str, kind: ParamKind) -> ParamInfo {
    ParamInfo { name, cuda, kind }
}
/// The type of a number.
pub(super) const NUMBER: &str = "unsigned long long";
/// The four numbers of a parameter, as a list of C++.
pub(super) fn list(name: &str) -> String {
    let each = [0, 1, 2, 3].map(|dim| format!("streamflow_{name}{dim}"));
    format!("{{{}}}", each.join(", "))
}
