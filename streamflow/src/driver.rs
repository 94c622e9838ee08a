//! The drivers that execute a platform's work, and their reports: the items of the crate `streamflow-gpu-driver` that a
//! program needs.
//!
//! The trait [`Driver`] separates the library from the code that executes work: its methods are CUDA's calls. `CudaDriver` of
//! `streamflow-gpu-driver` implements it for a real GPU, and [`host`] for a simulator of CUDA's ordering rules. No code above
//! this module depends on which driver runs. A driver of your own, or a layer above a driver, is [written
//! against](crate::guide::a_layer) `streamflow-gpu-driver`, which has all other items that a driver needs.

// Modules of this crate import all items of the driver crate from here.
#[allow(unused_imports, reason = "features with a library use some of them")]
pub(crate) use streamflow_driver::driver::*;

#[doc(inline)]
pub use streamflow_driver::driver::{Driver, DriverError, RawStream, Recorder};

/// The simulator as a driver: [`HostDriver`](host::HostDriver), and the orders in which it executes work.
pub mod host {
    #[allow(unused_imports, reason = "tests use more of them")]
    pub(crate) use streamflow_driver::driver::host::*;
    #[doc(inline)]
    pub use streamflow_driver::driver::host::{HostBuilder, HostDriver, Policy};
}

/// The reports of the race checker about accesses that nothing orders.
///
/// [`PlatformBuilder::race_check`](crate::platform::PlatformBuilder::race_check) switches the checker on, and
/// [`Platform::take_races`](crate::Platform::take_races) returns the reports. The [guide](crate::guide::race_reports) explains
/// the reports. A program that distinguishes kinds of reports imports their types from `streamflow_driver::driver::race`.
pub mod race {
    #[doc(inline)]
    pub use streamflow_driver::driver::race::RaceReports;
    #[allow(unused_imports, reason = "tests use more of them")]
    pub(crate) use streamflow_driver::driver::race::*;
}

/// A driver that replays the driver calls of a graph's passes, and the report about it. The [guide](crate::guide::replay) has the
/// rules.
pub mod replay {
    #[doc(inline)]
    pub use streamflow_driver::driver::replay::Replaying;
    #[allow(unused_imports, reason = "tests use more of them")]
    pub(crate) use streamflow_driver::driver::replay::*;
}
