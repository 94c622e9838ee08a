//! Tests of a kernel's body that calls the simulator which executes it.
#![allow(clippy::disallowed_methods, reason = "no destructor of a thread runs a test")]

use std::cell::RefCell;

use super::*;

type Body = Box<dyn FnOnce()>;

thread_local! {
    static BODY: RefCell<Option<Body>> = const { RefCell::new(None) };
}

/// The body of a kernel that calls the closure in `BODY`, on the thread that executes the kernel.
unsafe fn nested(_: HostArgs<'_>) {
    if let Some(body) = BODY.take() {
        body();
    }
}

/// Executes `body` inside of the body of the kernel `nested`.
fn inside(bench: &Bench, body: impl FnOnce() + 'static) {
    let kernel = load(&bench.driver, "nested", nested);
    let stream = bench.stream();
    BODY.set(Some(Box::new(body)));
    bench.launch(stream, kernel, &[]);
    bench.wait(stream);
    assert!(BODY.take().is_none(), "it was not executed");
}

#[test]
fn a_call_from_a_kernel_body_is_refused_and_names_the_kernel() {
    for policy in ALL {
        let bench = Box::leak(Box::new(Bench::new(policy, 3)));
        let driver: &'static HostDriver = &bench.driver;
        let (stream, event) = (bench.stream(), bench.event());
        let dropped = (bench.stream(), bench.event());
        let buffer = bench.settled_buffer();
        let pinned = driver.allocate_pinned(DEVICE, BYTES).unwrap();
        let (function, image) = (load(driver, "set", set), Image(Vec::new()));
        inside(bench, move || {
            let kind = CopyKind::DeviceToDevice;
            let copy = CopyOp { kind, target: buffer, source: buffer, rows: None };
            let code = |_| unreachable!();
            let source =
                KernelSource { name: "", entry: "", host: Some(set), code: Code::Image(&code) };
            unsafe extern "C" fn never(_: *mut std::ffi::c_void) {}
            let host_function = HostFunction { call: never, data: std::ptr::null_mut() };
            let refused = |what: &str, result: DriverResult<()>| {
                let text = result.unwrap_err().to_string();
                let named = "called from inside of kernel `nested`";
                assert!(text.contains(named) && text.contains(what), "{what}: {text}");
            };
            refused("device_info", driver.device_info(DEVICE).map(drop));
            refused(
                "create_stream",
                driver.create_stream(DEVICE, StreamOptions::default()).map(drop),
            );
            refused("sm_sizes", driver.sm_sizes(DEVICE, Coscheduling::Kept).map(drop));
            let green = driver.create_green_contexts(DEVICE, Coscheduling::Kept, &[8]);
            refused("create_green_contexts", green.map(drop));
            refused("create_event", driver.create_event(DEVICE).map(drop));
            refused("create_event", driver.create_timing_event(DEVICE).map(drop));
            refused("allocate_pinned", driver.allocate_pinned(DEVICE, 4).map(drop));
            refused("trim", driver.trim(DEVICE, 0));
            unsafe {
                refused("query_stream", driver.query_stream(stream).map(drop));
                refused("synchronize_stream", driver.synchronize_stream(stream));
                refused("elapsed", driver.elapsed(event, event).map(drop));
                refused("record_event", driver.record_event(event, stream));
                refused("wait_event", driver.wait_event(stream, event));
                refused("query_event", driver.query_event(event).map(drop));
                refused("synchronize_event", driver.synchronize_event(event));
                refused("allocate", driver.allocate(stream, 4, MemorySource::Unused).map(drop));
                refused("free", driver.free(stream, buffer));
                refused("recycle", driver.observer().recycle(stream, buffer));
                refused("copy", driver.copy(stream, &copy));
                refused("fill", driver.fill(stream, buffer, 0));
                refused("load_module", driver.load_module(DEVICE, "", &image).map(drop));
                refused("load_kernel", driver.load_kernel(DEVICE, &source).map(drop));
                refused("launch", launch(driver, stream, function, &[]));
                refused("host_function", driver.launch_host_function(stream, host_function));
            }
            assert_eq!(driver.sticky_error(), None);
            // A drop makes these calls and can't return an error, so they succeed and do nothing.
            let drops = unsafe {
                [
                    driver.bind(DEVICE),
                    driver.destroy_stream(dropped.0),
                    driver.destroy_event(dropped.1),
                    driver.free_pinned(DEVICE, pinned),
                ]
            };
            assert_eq!(drops, [const { Ok(()) }; 4]);
            assert!(driver.log().last().is_some_and(|it| it.to_string().contains("nested")));
            assert_eq!((driver.name(), driver.device_count()), ("host", 1));
            assert_eq!(driver.default_stream(DEVICE).device(), DEVICE);
            let _ = (driver.policy(), format!("{driver:?}"));
        });
        // After the kernel the simulator works as before.
        assert_eq!(driver.sticky_error(), None);
        assert!(unsafe { driver.query_stream(dropped.0) }.is_err(), "it was destroyed");
        assert!(unsafe { driver.query_event(dropped.1) }.is_err(), "it was destroyed");
        assert!(unsafe { driver.free_pinned(DEVICE, pinned) }.is_err(), "it was freed");
        bench.set(stream, buffer, 5);
        assert_eq!(bench.download(stream, buffer), 5);
    }
}

#[test]
fn a_kernel_body_may_call_another_simulator() {
    let (outer, inner) = (Bench::new(Policy::Lazy, 0), Bench::new(Policy::Eager, 0));
    let outer = Box::leak(Box::new(outer));
    let driver = &outer.driver;
    inside(outer, move || {
        inner.driver.bind(DEVICE).unwrap();
        let stream = inner.stream();
        let buffer = inner.buffer(stream);
        inner.set(stream, buffer, 7);
        assert_eq!(inner.download(stream, buffer), 7);
        inside(&inner, || {
            let text = driver.device_info(DEVICE).unwrap_err().to_string();
            assert!(text.contains("kernel `nested`"), "{text}");
        });
    });
    assert_eq!(outer.driver.bind(DEVICE), Ok(()));
}

#[test]
fn a_kernel_body_that_panics_no_longer_blocks_calls() {
    let bench = Bench::new(Policy::Eager, 0);
    let kernel = load(&bench.driver, "nested", nested);
    let stream = bench.stream();
    BODY.set(Some(Box::new(|| panic!("on purpose"))));
    assert_eq!(launch(&bench.driver, stream, kernel, &[]), Ok(()));
    let refused = unsafe { bench.driver.synchronize_stream(stream) };
    assert_eq!(code_of(refused), (719, "KERNEL_PANICKED".to_owned()));
    // The sticky error is the kernel's panic, and not the refused call from its body.
    assert!(bench.driver.sticky_error().is_some_and(|it| it.message.contains("on purpose")));
}
