//! The description of a scan as a kernel.

use std::marker::PhantomData;

use super::host;
use crate::driver::HostArgs;
use crate::kernel::combine::{Function, NUMBER, ScanKernel, described, list, param};
use crate::kernel::launched::Noted;
use crate::kernel::recorded::UNTYPED;
use crate::kernel::{KernelInfo, ParamInfo, ParamKind};

/// The kernel of a scan.
#[derive(Debug)]
pub struct Scanned<K>(PhantomData<K>);

/// The parameters, as `Plan::pass` passes them.
const PARAMS: &[ParamInfo] = &[
    param("in", UNTYPED, ParamKind::Elements),
    param("streamflow_shape", NUMBER, ParamKind::Shape),
    param("out", UNTYPED, ParamKind::ElementsMut),
    param("streamflow_kept", NUMBER, ParamKind::Shape),
    param("streamflow_step", NUMBER, ParamKind::Shape),
    param("streamflow_first", NUMBER, ParamKind::Shape),
    param("streamflow_memory", NUMBER, ParamKind::Scalar),
    param("streamflow_tiles", NUMBER, ParamKind::Scalar),
    param("streamflow_form", NUMBER, ParamKind::Scalar),
];

impl<K: ScanKernel> Scanned<K> {
    /// The description.
    pub const INFO: &'static KernelInfo = &described::<K>(text::<K>, PARAMS, body::<K>);
    /// The function without its types.
    pub(in crate::kernel) const FUNCTION: Function = Function::of::<K>(Self::INFO);
}

impl<K: ScanKernel> Noted for Scanned<K> {
    const INFO: &'static KernelInfo = Self::INFO;
}

/// The body on the simulator.
///
/// # Safety
/// As for [`host::scan`].
unsafe fn body<K: ScanKernel>(args: HostArgs<'_>) {
    // SAFETY: as the caller vouches.
    unsafe { host::scan::<K>(&args, Scanned::<K>::INFO) }
}

fn text<K: ScanKernel>() -> String {
    let lists = ["in_stride", "shape", "out_stride", "kept", "step", "first"].map(list);
    format!(
        "{}\nconst sf::Scanned streamflow_numbers = {{{}, streamflow_tiles, streamflow_form}};\n\
         sf::scan(streamflow_op, streamflow_numbers, in, out, (void*)streamflow_memory);",
        K::cuda(),
        lists.join(", ")
    )
}
