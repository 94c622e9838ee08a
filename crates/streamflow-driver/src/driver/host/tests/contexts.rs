//! Tests that a call succeeds only if the context that it needs is current on its thread.

use std::ptr;
use std::thread;

use super::*;
use crate::driver::{Coscheduling, MemorySource};

/// The objects that the tested calls use.
struct Objects {
    stream: RawStream,
    default: RawStream,
    event: RawEvent,
    memory: MemoryRange,
    pinned: MemoryRange,
}

impl Objects {
    fn new(bench: &Bench) -> Self {
        let stream = bench.stream();
        let event = bench.driver.create_timing_event(DEVICE).unwrap();
        unsafe { bench.driver.record_event(event, stream) }.unwrap();
        let pinned = bench.driver.allocate_pinned(DEVICE, BYTES).unwrap();
        let (memory, default) = (bench.settled_buffer(), bench.driver.default_stream(DEVICE));
        Self { stream, default, event, memory, pinned }
    }
}

unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}

/// Makes the calls that take a stream, and returns their names and results.
fn calls_on(
    bench: &Bench,
    it: &Objects,
    stream: RawStream,
) -> Vec<(&'static str, DriverResult<()>)> {
    let Objects { event, memory, pinned, .. } = *it;
    let driver = &bench.driver;
    let copy =
        CopyOp { kind: CopyKind::PinnedToDevice, target: memory, source: pinned, rows: None };
    let params = [Param::new(memory.address), Param::new(1_u32)];
    let function = HostFunction { call: nothing, data: ptr::null_mut() };
    let allocated = unsafe { driver.allocate(stream, BYTES, MemorySource::Unused) };
    let freed = match &allocated {
        Ok(range) => unsafe { driver.free(stream, *range) },
        Err(_) => unsafe { driver.free(stream, memory) },
    };
    unsafe {
        vec![
            ("allocate", allocated.map(drop)),
            ("free", freed),
            ("record_event", driver.record_event(event, stream)),
            ("wait_event", driver.wait_event(stream, event)),
            ("recycle", driver.observer().recycle(stream, memory)),
            ("copy", driver.copy(stream, &copy)),
            ("fill", driver.fill(stream, memory, 1)),
            ("launch", launch(driver, stream, bench.set, &params)),
            ("launch_host_function", driver.launch_host_function(stream, function)),
            ("query_stream", driver.query_stream(stream).map(drop)),
            ("synchronize_stream", driver.synchronize_stream(stream)),
        ]
    }
}

/// Makes the calls that create an object in the current context, and returns their names and results.
fn making_calls(bench: &Bench) -> Vec<(&'static str, DriverResult<()>)> {
    let driver = &bench.driver;
    vec![
        ("create_stream", driver.create_stream(DEVICE, StreamOptions::default()).map(drop)),
        ("create_event", driver.create_event(DEVICE).map(drop)),
        ("create_timing_event", driver.create_timing_event(DEVICE).map(drop)),
    ]
}

/// Makes all other calls that need a context, and returns their names and results. The last ones destroy the objects.
fn other_calls(bench: &Bench, it: &Objects) -> Vec<(&'static str, DriverResult<()>)> {
    let driver = &bench.driver;
    unsafe {
        vec![
            ("query_event", driver.query_event(it.event).map(drop)),
            ("synchronize_event", driver.synchronize_event(it.event)),
            ("elapsed", driver.elapsed(it.event, it.event).map(drop)),
            ("allocate_pinned", driver.allocate_pinned(DEVICE, 8).map(drop)),
            ("free_pinned", driver.free_pinned(DEVICE, it.pinned)),
            ("destroy_event", driver.destroy_event(it.event)),
            ("destroy_stream", driver.destroy_stream(it.stream)),
        ]
    }
}

fn check(calls: Vec<(&'static str, DriverResult<()>)>, refused: bool) {
    for (name, result) in calls {
        if refused {
            let text = format!("{result:?}");
            assert_eq!(code_of(result), (201, "CUDA_ERROR_INVALID_CONTEXT".to_owned()), "{name}");
            assert!(text.contains("bind device 0 before the call"), "{text}");
        } else {
            assert_eq!(result, Ok(()), "{name}");
        }
    }
}

/// Calls `run` on a new thread, which has bound no device.
fn on_a_new_thread(run: impl FnOnce() + Send) {
    thread::scope(|scope| scope.spawn(run).join().unwrap());
}

#[test]
fn every_call_that_needs_a_context_is_refused_without_one() {
    for bound in [false, true] {
        let bench = Bench::new(Policy::Eager, 0);
        let objects = Objects::new(&bench);
        on_a_new_thread(|| {
            if bound {
                bench.driver.bind(DEVICE).unwrap();
            }
            check(calls_on(&bench, &objects, objects.stream), !bound);
            check(calls_on(&bench, &objects, objects.default), !bound);
            check(making_calls(&bench), !bound);
            check(other_calls(&bench, &objects), !bound);
        });
    }
}

/// The handle of a default stream means the current device; the handle of any other object names its own device.
#[test]
fn with_another_device_bound_only_handles_name_the_device() {
    let bench = Bench::with(HostDriver::builder().devices(2));
    let objects = Objects::new(&bench);
    bench.driver.bind(DeviceId(1)).unwrap();
    check(calls_on(&bench, &objects, objects.default), true);
    check(making_calls(&bench), true);
    check(calls_on(&bench, &objects, objects.stream), false);
    check(other_calls(&bench, &objects), false);
}

/// Binding a device of one simulator makes its context current on the thread, in place of that of another simulator. Handles of
/// any simulator can be used on a thread that has bound a device of that simulator once, and not on a new thread.
#[test]
fn the_context_of_another_simulator_serves_handles_alone() {
    let (bench, other) = (Bench::new(Policy::Eager, 0), HostDriver::builder().build());
    let objects = Objects::new(&bench);
    other.bind(DEVICE).unwrap();
    check(making_calls(&bench), true);
    check(calls_on(&bench, &objects, objects.stream), false);
    on_a_new_thread(|| {
        other.bind(DEVICE).unwrap();
        check(calls_on(&bench, &objects, objects.stream), true);
    });
}

#[test]
fn the_contexts_of_many_simulators_serve_handles_alone() {
    let bench = Bench::new(Policy::Eager, 0);
    let objects = Objects::new(&bench);
    for _ in 0..40 {
        HostDriver::builder().build().bind(DEVICE).unwrap();
    }
    check(making_calls(&bench), true);
    check(calls_on(&bench, &objects, objects.stream), false);
}

#[test]
fn calls_without_a_context_need_none_and_loading_binds_its_device() {
    let bench = Bench::new(Policy::Eager, 0);
    on_a_new_thread(|| {
        let driver = &bench.driver;
        driver.device_info(DEVICE).unwrap();
        driver.trim(DEVICE, 0).unwrap();
        check(making_calls(&bench), true);
        load(driver, "set", set);
        check(making_calls(&bench), false);
    });
    on_a_new_thread(|| {
        bench.driver.sm_sizes(DEVICE, Coscheduling::Kept).unwrap();
        check(making_calls(&bench), false);
    });
    on_a_new_thread(|| {
        bench.driver.create_green_contexts(DEVICE, Coscheduling::Kept, &[8]).unwrap();
        check(making_calls(&bench), false);
    });
}
