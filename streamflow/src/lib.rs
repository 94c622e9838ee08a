//! streamflow.
pub mod driver;
