//! Tests of library bodies that fail.

use super::*;
use crate::driver::LibraryError;

/// Queues a body that fails. Returns the error, after checking that only one call returns it.
fn failing(
    policy: Policy,
    run: impl Fn() -> Result<(), BodyError> + Send + Sync + 'static,
) -> DriverError {
    let bench = Bench::new(policy, 3);
    let (stream, other) = (bench.stream(), bench.stream());
    let (data, more) = (bench.settled_buffer(), bench.settled_buffer());
    bench.set(stream, data, 3);
    bench.wait(stream);
    let queued = call(&bench, stream, &[(data, AccessMode::Write)], Box::new(run));
    bench.driver.bind(DEVICE).unwrap();
    let waited = unsafe { bench.driver.synchronize_stream(stream) };
    let error = queued.and(waited).unwrap_err();
    assert_eq!(bench.peek(data), poisoned(POISON_ALLOCATED), "no result passes as right");
    // The error is not returned a second time, and the device goes on working.
    assert_eq!(bench.driver.sticky_error(), None);
    bench.set(other, more, 4);
    assert_eq!(bench.download(other, more), 4);
    bench.set(stream, data, 5);
    assert_eq!(bench.download(stream, data), 5);
    error
}

#[test]
fn a_failed_host_body_is_an_error_that_is_returned_once_and_the_device_works() {
    for policy in ALL {
        let error = failing(policy, || Err("no convergence".into()));
        assert_eq!(error.to_string(), "library function `testCall` failed: no convergence");
        let error = failing(policy, || panic!("on purpose"));
        assert_eq!(error.to_string(), "library function `testCall` panicked: on purpose");
        let of_library = LibraryError {
            library: "a library",
            call: "testCall",
            status: 7,
            name: "NOT_CONVERGED",
            remedy: "scale it".to_owned(),
        };
        let returned = of_library.clone();
        let error = failing(policy, move || Err(returned.clone().into()));
        assert_eq!(error, DriverError::Library(of_library));
    }
}

#[test]
fn the_error_of_a_host_body_is_one_of_its_device_and_of_no_call_under_a_lock() {
    let bench = Bench::with(HostDriver::builder().devices(2));
    let (stream, data) = (bench.stream(), bench.settled_buffer());
    let second = DeviceId(1);
    bench.driver.bind(second).unwrap();
    let other = bench.driver.create_stream(second, StreamOptions::default()).unwrap();
    bench.driver.bind(DEVICE).unwrap();
    let held = crate::lock::hold();
    // The call is made under a lock, so the body executes after the call, and fails then.
    call(&bench, stream, &[], Box::new(|| Err("no convergence".into()))).unwrap();
    drop(held);
    bench.driver.observer().catch_up();
    bench.wait(other);
    let fill = || unsafe { bench.driver.fill(stream, data, 1) };
    let held = crate::lock::hold();
    fill().unwrap();
    drop(held);
    let error = fill().unwrap_err();
    assert_eq!(error.to_string(), "library function `testCall` failed: no convergence");
    fill().unwrap();
}
