//! The types of random real numbers.

use self::sealed::Start;
use super::kernels::{normal_f32, normal_f64, uniform_f32, uniform_f64};
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::Element;
use streamflow::Grid;
use streamflow::memory::DeviceSlice;

pub(super) mod sealed {
    use super::{CudaStream, DeviceSlice, Grid, Result};

    /// The grid of a launch, and the position at which its numbers begin.
    #[derive(Debug, Clone, Copy)]
    pub struct Start {
        pub(in super::super) grid: Grid,
        pub(in super::super) seed: u64,
        pub(in super::super) counter: u64,
        pub(in super::super) place: u32,
        pub(in super::super) behind: u32,
    }

    /// Restricts [`Real`](super::Real) to the types that have kernels.
    pub trait Kernels: Sized {
        /// The number of counters that a sequence uses for its four values of a round.
        const COUNTERS: u64;

        fn uniform(stream: &CudaStream, out: &mut DeviceSlice<Self>, at: Start) -> Result<()>;

        fn normal(
            stream: &CudaStream,
            out: &mut DeviceSlice<Self>,
            at: Start,
            of: (Self, Self),
        ) -> Result<()>;
    }
}

/// A type of random real numbers: `f32` or `f64`.
#[diagnostic::on_unimplemented(
    message = "there are no random numbers of the type `{Self}`",
    label = "not `f32` or `f64`",
    note = "`Philox<f32>` has `fill_u32`, for random bits"
)]
pub trait Real: Element + sealed::Kernels {}

#[diagnostic::do_not_recommend]
impl Real for f32 {}

impl sealed::Kernels for f32 {
    const COUNTERS: u64 = 1;

    #[track_caller]
    fn uniform(stream: &CudaStream, out: &mut DeviceSlice<Self>, at: Start) -> Result<()> {
        stream.launch::<uniform_f32>(at.grid, (out, at.seed, at.counter, at.place))
    }

    #[track_caller]
    fn normal(
        stream: &CudaStream,
        out: &mut DeviceSlice<Self>,
        at: Start,
        (mean, deviation): (Self, Self),
    ) -> Result<()> {
        let args = (out, at.seed, at.counter, at.place, mean, deviation);
        stream.launch::<normal_f32>(at.grid, args)
    }
}

#[diagnostic::do_not_recommend]
impl Real for f64 {}

impl sealed::Kernels for f64 {
    const COUNTERS: u64 = 2;

    #[track_caller]
    fn uniform(stream: &CudaStream, out: &mut DeviceSlice<Self>, at: Start) -> Result<()> {
        stream.launch::<uniform_f64>(at.grid, (out, at.seed, at.counter, at.place, at.behind))
    }

    #[track_caller]
    fn normal(
        stream: &CudaStream,
        out: &mut DeviceSlice<Self>,
        at: Start,
        (mean, deviation): (Self, Self),
    ) -> Result<()> {
        let args = (out, at.seed, at.counter, at.place, at.behind, mean, deviation);
        stream.launch::<normal_f64>(at.grid, args)
    }
}
