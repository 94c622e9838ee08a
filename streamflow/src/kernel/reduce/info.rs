//! The description of a reduction as a kernel.

use std::marker::PhantomData;

use super::host;
use crate::driver::HostArgs;
use crate::kernel::combine::{Function, NUMBER, ScanKernel, described, list, param};
use crate::kernel::launched::Noted;
use crate::kernel::recorded::UNTYPED;
use crate::kernel::{KernelInfo, ParamInfo, ParamKind};

/// The kernel of a reduction.
#[derive(Debug)]
pub struct Described<K>(PhantomData<K>);

/// The parameters, as `Plan::pass` passes them. The elements and the results are of a type that the text names: a pass over parts
/// has other types than a pass over elements.
const PARAMS: &[ParamInfo] = &[
    param("in", UNTYPED, ParamKind::Elements),
    param("streamflow_shape", NUMBER, ParamKind::Shape),
    param("out", UNTYPED, ParamKind::ElementsMut),
    param("streamflow_kept", NUMBER, ParamKind::Shape),
    param("streamflow_step", NUMBER, ParamKind::Shape),
    param("streamflow_chunk", NUMBER, ParamKind::Scalar),
    param("streamflow_parts", NUMBER, ParamKind::Scalar),
    param("streamflow_count", NUMBER, ParamKind::Scalar),
    param("streamflow_form", NUMBER, ParamKind::Scalar),
];

impl<K: ScanKernel> Described<K> {
    /// The description.
    pub const INFO: &'static KernelInfo = &described::<K>(text::<K>, PARAMS, body::<K>);
    /// The function without its types.
    pub(in crate::kernel) const FUNCTION: Function = Function::of::<K>(Self::INFO);
}

impl<K: ScanKernel> Noted for Described<K> {
    const INFO: &'static KernelInfo = Self::INFO;
}

/// The body on the simulator.
///
/// # Safety
/// As for [`host::reduce`].
unsafe fn body<K: ScanKernel>(args: HostArgs<'_>) {
    // SAFETY: as the caller vouches.
    unsafe { host::reduce::<K>(&args, Described::<K>::INFO) }
}

fn text<K: ScanKernel>() -> String {
    let lists = ["in_stride", "shape", "out_stride", "kept", "step"].map(list);
    format!(
        "{}\nconst sf::Reduced streamflow_numbers = {{{}, streamflow_chunk, streamflow_parts, streamflow_count, streamflow_form}};\n\
         sf::reduce(streamflow_op, streamflow_numbers, in, out);",
        K::cuda(),
        lists.join(", ")
    )
}
