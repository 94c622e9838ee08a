//! Tests for every machine, with or without a GPU: starting CUDA returns a driver or an error, and never panics.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use super::CudaDriver;
use crate::driver::{Driver, DriverError, DriverResult};

/// Asserts that the result is an error with a cause and a remedy.
fn assert_unavailable(result: DriverResult<CudaDriver>) {
    let Err(DriverError::Unavailable { what, remedy }) = result else {
        panic!("expected `Unavailable`, got {result:?}");
    };
    assert!(!what.is_empty());
    assert!(remedy.contains("host simulator"), "{remedy}");
}

#[test]
fn starting_gives_devices_or_a_remedy() {
    // A machine with a GPU takes the first branch, and any other machine the second.
    match CudaDriver::new() {
        Ok(driver) => {
            assert!(driver.device_count() > 0);
            assert_eq!(driver.name(), "cuda");
            // SAFETY: nothing is made from the context.
            assert!(unsafe { driver.context(crate::driver::DeviceId(0)) }.is_some());
        }
        unusable => assert_unavailable(unusable),
    }
}

#[test]
fn devices_that_are_not_there_are_refused() {
    assert_unavailable(CudaDriver::with_devices(&[usize::MAX]));
    assert_unavailable(CudaDriver::with_devices(&[]));
}
