//! The types of indices along an axis.

use streamflow::{CudaStream, Element, Tensor};

use super::kernels::{gather_i32, gather_i64, gather_u32, gather_u64};
use crate::error::Result;
use streamflow::memory::DeviceSlice;

pub(crate) mod sealed {
    use super::{CudaStream, DeviceSlice, Element, Result, Tensor};

    /// The kernel that finds the places of indices. A generic kernel of one body has no list of its types, so each type has one.
    pub trait Placed: Element {
        /// Queues it, for an axis of `length` elements with a zero for each.
        fn place(
            stream: &CudaStream,
            places: &mut Tensor<u64>,
            indices: &DeviceSlice<Self>,
            length: u64,
            clamps: bool,
            axis: &DeviceSlice<u8>,
        ) -> Result<()>;
    }
}

/// An index along an axis: `i32`, `i64`, `u32` or `u64`.
#[diagnostic::on_unimplemented(
    message = "elements are not taken at indices of type `{Self}`",
    label = "not `i32`, `i64`, `u32` or `u64`",
    note = "use indices of one of these types"
)]
pub trait Index: sealed::Placed {}

macro_rules! indices {
    ($($ty:ty: $kernel:ident;)*) => {
        $(
            #[diagnostic::do_not_recommend]
            impl Index for $ty {}
            impl sealed::Placed for $ty {
                #[track_caller]
                fn place(
                    stream: &CudaStream,
                    places: &mut Tensor<u64>,
                    indices: &DeviceSlice<Self>,
                    length: u64,
                    clamps: bool,
                    axis: &DeviceSlice<u8>,
                ) -> Result<()> {
                    stream.map::<$kernel>((places, indices, length, clamps, axis))
                }
            }
        )*
    };
}

indices! {
    i32: gather_i32;
    i64: gather_i64;
    u32: gather_u32;
    u64: gather_u64;
}
