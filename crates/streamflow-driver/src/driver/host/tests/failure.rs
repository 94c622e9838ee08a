//! Tests of kernels that panic, stale handles, and refused launches.

use super::*;

unsafe fn bad(args: HostArgs<'_>) {
    panic!("index {} is out of bounds", args.params[0].get::<u32>());
}

#[test]
fn a_panic_in_a_kernel_is_reported_once_and_stays() {
    for policy in ALL {
        let bench = Bench::with(HostDriver::builder().devices(2).policy(policy));
        let bad = load(&bench.driver, "bad", bad);
        let stream = bench.stream();
        let data = bench.settled_buffer();
        bench.launch(stream, bad, &[Param::new(42_u32)]);
        assert_eq!(bench.driver.sticky_error(), None, "no call has returned it yet");
        let error = unsafe { bench.driver.synchronize_stream(stream) }.unwrap_err();
        let DriverError::Call { code, name, message, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*code, name.as_str()), (719, "KERNEL_PANICKED"));
        let expected =
            "kernel `bad` panicked: index 42 is out of bounds; every graph of this process";
        assert!(message.starts_with(expected), "{message}");
        assert!(message.ends_with("STREAMFLOW_BLOCKING_LAUNCHES=1 to get the launch"), "{message}");
        let cause = bench.driver.sticky_error().unwrap();
        assert_eq!(cause.call, "synchronize_stream");

        let again = unsafe { bench.driver.synchronize_stream(stream) };
        assert_eq!(
            again,
            Err(DriverError::Sticky { call: "synchronize_stream", cause: cause.clone() })
        );
        let params = [Param::new(data.address), Param::new(1_u32)];
        let refused = launch(&bench.driver, stream, bench.set, &params);
        assert_eq!(refused, Err(DriverError::Sticky { call: "launch", cause }));
        assert!(matches!(
            unsafe { bench.driver.query_stream(stream) },
            Err(DriverError::Sticky { .. })
        ));
        assert!(matches!(bench.driver.create_event(DEVICE), Err(DriverError::Sticky { .. })));
        let unbound = bench.driver.bind(DEVICE);
        assert!(matches!(unbound, Err(DriverError::Sticky { call: "bind", .. })), "{unbound:?}");
        assert_eq!(
            bench.peek(data),
            poisoned(POISON_ALLOCATED),
            "the device executes nothing any more"
        );

        // The other device goes on working.
        bench.driver.bind(DeviceId(1)).unwrap();
        let there = bench.driver.default_stream(DeviceId(1));
        unsafe { bench.driver.allocate(there, 8, MemorySource::Unused) }.unwrap();
        unsafe { bench.driver.synchronize_stream(there) }.unwrap();
    }
}

#[test]
fn work_behind_a_panic_is_dropped_and_counts_as_complete() {
    let bench = Bench::with(HostDriver::builder().devices(2).policy(Policy::Lazy));
    let bad = load(&bench.driver, "bad", bad);
    let (stream, other) = (bench.stream(), bench.stream());
    let there = bench.driver.default_stream(DeviceId(1));
    let data = bench.settled_buffer();
    bench.launch(stream, bad, &[Param::new(1_u32)]);
    bench.set(stream, data, 1);
    bench.set(other, data, 1);
    let event = bench.event();
    unsafe { bench.driver.record_event(event, stream) }.unwrap();
    bench.driver.bind(DeviceId(1)).unwrap();
    unsafe { bench.driver.wait_event(there, event) }.unwrap();
    unsafe { bench.driver.synchronize_stream(there) }.unwrap();
    assert!(unsafe { bench.driver.synchronize_stream(other) }.is_err());
    assert_eq!(bench.peek(data), poisoned(POISON_ALLOCATED));
    assert_eq!(bench.driver.lock().pending, 0);
}

#[test]
fn stale_and_foreign_handles_are_refused() {
    let bench = Bench::with(HostDriver::builder().devices(2));
    let driver = &bench.driver;
    let (stream, event) = (bench.stream(), bench.event());
    unsafe {
        driver.destroy_stream(stream).unwrap();
        driver.destroy_event(event).unwrap();
    }
    let (live, next) = (bench.stream(), bench.event());
    let invalid = (400, "CUDA_ERROR_INVALID_HANDLE".to_owned());
    assert_eq!(code_of(unsafe { driver.record_event(next, stream) }), invalid);
    assert_eq!(code_of(unsafe { driver.record_event(event, live) }), invalid);
    assert_eq!(code_of(unsafe { driver.wait_event(live, event) }), invalid);
    assert_eq!(code_of(unsafe { driver.query_event(event) }), invalid);
    assert_eq!(code_of(unsafe { driver.query_stream(stream) }), invalid);
    assert_eq!(code_of(unsafe { driver.destroy_stream(stream) }), invalid);
    assert_eq!(code_of(unsafe { driver.destroy_stream(driver.default_stream(DEVICE)) }), invalid);
    driver.bind(DeviceId(1)).unwrap();
    let there = driver.default_stream(DeviceId(1));
    assert_eq!(code_of(unsafe { driver.record_event(next, there) }), invalid);
    assert_eq!(code_of(launch(driver, there, bench.set, &[])), invalid);
    assert_eq!(code_of(driver.bind(DeviceId(2))).0, 101);
    let stream = driver.default_stream(DeviceId(2));
    assert_eq!(code_of(unsafe { driver.synchronize_stream(stream) }).0, 101);
}

#[test]
fn launches_out_of_range_are_refused() {
    let bench = Bench::new(Policy::Eager, 0);
    let stream = bench.stream();
    let many = [Param::new(0_u32); MAX_PARAMS + 1];
    let good = Launch {
        function: bench.set.function,
        name: "set",
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        params: &[],
        accesses: &[],
        rows: &[],
    };
    for launch in [
        Launch { grid: [0, 1, 1], ..good },
        Launch { grid: [1 << 31, 1, 1], ..good },
        Launch { grid: [1, 1 << 16, 1], ..good },
        Launch { block: [1, 0, 1], ..good },
        Launch { block: [1025, 1, 1], ..good },
        Launch { block: [1, 1, 65], ..good },
        Launch { block: [512, 4, 1], ..good },
        Launch { shared_bytes: 1 << 20, ..good },
        Launch { params: &many, ..good },
    ] {
        assert_eq!(code_of(unsafe { bench.driver.launch(stream, &launch) }).0, 1, "{launch:?}");
    }
}

#[test]
fn a_kernel_without_a_host_body_is_refused_with_a_remedy() {
    let bench = Bench::new(Policy::Eager, 0);
    let image = |_| unreachable!("the simulator uses no image");
    let source =
        KernelSource { name: "blur", entry: "blur", host: None, code: Code::Image(&image) };
    let text = unsafe { bench.driver.load_kernel(DEVICE, &source) }.unwrap_err().to_string();
    assert!(text.contains("blur") && text.contains("CUDA device"), "{text}");
}

#[test]
fn compiled_code_is_refused_with_a_remedy() {
    let bench = Bench::new(Policy::Eager, 0);
    let image = Image(b"code".to_vec());
    let text = unsafe { bench.driver.load_module(DEVICE, "plugin", &image) }.unwrap_err();
    assert!(text.to_string().contains("plugin") && text.to_string().contains("CUDA device"));
}

/// The CUDA driver refuses priorities out of range, too. A stream pool changes its priority to the nearest legal one before
/// it calls the driver.
#[test]
fn priorities_out_of_range_are_refused() {
    let bench = Bench::new(Policy::Eager, 0);
    let (most, least) = bench.driver.device_info(DEVICE).unwrap().priorities;
    let create = |priority| {
        let options = StreamOptions { flags: StreamFlags::NonBlocking, priority, green: None };
        bench.driver.create_stream(DEVICE, options)
    };
    assert!((most..=least).all(|priority| create(priority).is_ok()));
    for priority in [most - 1, least + 1, i32::MIN, i32::MAX] {
        assert_eq!(code_of(create(priority)), (1, "CUDA_ERROR_INVALID_VALUE".to_owned()));
    }
}
