//! The one seam between streamflow and the driver that executes its work: the items of the crate `streamflow-driver`.
//!
//! [`Driver`] is the trait, and its methods are CUDA's calls; [`cuda`] implements it with a real GPU, [`host`] with a
//! simulator of CUDA's ordering rules. A [`Layer`] wraps another driver. No code above this module depends on which driver
//! runs.

#[doc(inline)]
pub use streamflow_driver::driver::*;
