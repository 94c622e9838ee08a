//! The driver of streamflow: the one interface between its streams, memory and graphs and the device or simulator that executes
//! their work.
//!
//! [`driver`] has the trait [`Driver`](driver::Driver) with CUDA's calls as methods, and the drivers: [`driver::cuda`] for a GPU,
//! and [`driver::host`], a simulator of CUDA's ordering rules. A [`Layer`](driver::Layer) wraps another driver: the [race
//! checker](driver::race) and the driver that [replays](driver::replay) are layers. Your own layer is written against this crate;
//! `streamflow::driver` has the items that programs need, and `Platform::builder().driver(…)` takes a driver.
//!
//! The modules that the documentation hides are shared by streamflow's own packages: locks, atomics and turns of threads in
//! explored tests. The hidden modules are not covered by semantic versioning.

// On docs.rs, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Without the bindings, this is the only compile error: all code that needs the bindings is in `driver`.
#[cfg(not(feature = "cudarc"))]
compile_error!(
    "no CUDA version is chosen: add the feature `cuda-13000` to the dependency on streamflow-gpu, whose default it is, or the \
     feature `cudarc` if the program's own dependency on cudarc chooses the version"
);

#[doc(hidden)]
pub mod caught;
#[cfg(feature = "cudarc")]
pub mod driver;
#[doc(hidden)]
pub mod lock;
#[doc(hidden)]
pub mod log;
#[doc(hidden)]
pub mod splitmix;
#[doc(hidden)]
pub mod sync;
pub mod time;
#[doc(hidden)]
pub mod turns;
