//! Indices out of range with `STREAMFLOW_CHECK_BOUNDS=1`. A process reads the variable once, so each test has a
//! process of its own.

use streamflow::driver::DriverError;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::{add_one, fill, read_at, spin, write_past_the_end};
use streamflow_tests::setup::{recorded, stream};
use streamflow_tests::{Failed, Suite, check, check_error, child};

const LEN: usize = 1003;

const CHECKED: &[(&str, &str)] = &[("STREAMFLOW_CHECK_BOUNDS", "1")];

pub(crate) fn suite() -> Suite {
    ["write", "read", "drop"].iter().fold(Suite::new(), |suite, what| {
        let name = match *what {
            "drop" => "reports_are_freed_after_the_kernels".to_owned(),
            _ => format!("{what}_out_of_bounds_is_reported"),
        };
        suite
            .seeded(&name, move |seed| child::run("bounds", &format!("{seed} {what}"), CHECKED))
            .cuda(&name, move |_| child::run("bounds", &format!("cuda {what}"), CHECKED))
    })
}

pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    let (name, what) = role.split_once(' ').ok_or_else(|| Failed::msg("no role"))?;
    let platform = child::platform(name)?;
    if what == "drop" {
        return frees_reports_last(&platform);
    }
    if name == "cuda" { on_cuda(&platform, what) } else { on_host(&platform, what) }
}

fn filled(platform: &Platform, stream: &CudaStream, value: f32) -> Result<Buffer<f32>> {
    let mut buffer = platform.buffer(LEN, stream)?;
    stream.launch::<fill>(LEN, (&mut buffer, value))?;
    Ok(buffer)
}

/// An index far beyond the end. As a signed offset, it is the element before the slice.
const BEFORE: u64 = u64::MAX;

/// Checks that any later blocking call reports the index, and that the device goes on working.
fn on_cuda(platform: &Platform, what: &str) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (mut out, input) = (filled(platform, &s, 1.0)?, filled(platform, &s, 2.0)?);
    s.synchronize_blocking()?;
    for round in 0..4 {
        let wanted = if what == "write" {
            s.launch::<write_past_the_end>(LEN, (&mut out, 5.0))?;
            ("write_past_the_end", "out", LEN as i64)
        } else {
            let at = if round % 2 == 0 { 3_000_000_000 } else { BEFORE };
            s.launch::<read_at>(1, (&mut out, &input, at))?;
            ("read_at", "input", at.cast_signed())
        };
        let reported = match round {
            0 => s.synchronize_blocking(),
            1 => s.download_blocking(&out).map(drop),
            2 => platform.download(&out, &s).and_then(|copy| copy.wait_blocking().map(drop)),
            _ => {
                let mut pinned = platform.pinned(device(0), LEN)?;
                s.download_into(&out, &mut pinned)?;
                pinned.as_mut_slice_blocking().map(drop)
            }
        };
        check_error("the next blocking call", reported, |error| {
            let Error::OutOfBounds { kernel, argument, index, length } = error else {
                return false;
            };
            (kernel.as_str(), argument.as_str(), *index) == wanted && *length == LEN as u64
        })?;
        // The access is reported only once, and all later calls succeed.
        s.synchronize_blocking()?;
        s.launch::<fill>(LEN, (&mut out, 1.0))?;
        s.launch::<add_one>(LEN, (&mut out,))?;
        let found = s.download_blocking(&out)?;
        check(found.iter().all(|&x| x == 2.0), || "the data of the next launch is wrong".into())?;
        let beside = s.download_blocking(&input)?;
        check(beside.iter().all(|&x| x == 2.0), || "the input has changed".into())?;
    }
    Ok(())
}

/// Checks the simulator, where a slice is a Rust slice: its own check panics, which stops the kernel and the
/// device.
fn on_host(platform: &Platform, what: &str) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (mut out, input) = (filled(platform, &s, 1.0)?, filled(platform, &s, 2.0)?);
    let (kernel, index) = if what == "write" {
        s.launch::<write_past_the_end>(LEN, (&mut out, 5.0))?;
        ("write_past_the_end", LEN as u64)
    } else {
        s.launch::<read_at>(1, (&mut out, &input, BEFORE))?;
        ("read_at", BEFORE)
    };
    let text = check_error("the next blocking call", s.synchronize_blocking(), |error| {
        matches!(error, Error::Driver(DriverError::Call { .. }))
    })?;
    let reported = [format!("`{kernel}`"), format!("index is {index}"), format!("len is {LEN}")];
    check(reported.iter().all(|part| text.contains(part)), || format!("the error is: {text}"))
}

/// Checks that the memory of reports is freed only after a wait for every stream, since running kernels may still
/// write to it.
fn frees_reports_last(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let mut kept = Vec::new();
    for name in ["a", "b"] {
        let stream = pool.allocate(name)?;
        let mut data = platform.buffer::<f32>(LEN, &stream)?;
        stream.launch::<spin>(1, (&mut data, 20_000_000))?;
        kept.push((stream, data));
    }
    drop((kept, pool, platform));
    let calls = recorder.calls();
    let freed = calls.iter().position(|call| matches!(call, Call::FreePinned { .. }));
    let freed = freed.ok_or_else(|| Failed::msg("no report was freed"))?;
    let launches: Vec<_> = calls.iter().filter(|it| matches!(it, Call::Launch { .. })).collect();
    check(launches.len() == 2, || format!("{} launches", launches.len()))?;
    for launch in launches {
        let waited = calls[..freed].iter().any(|call| {
            matches!(call, Call::SynchronizeStream { .. }) && call.stream() == launch.stream()
        });
        check(waited, || format!("no wait for: {launch}\n{}", recorder.text()))?;
    }
    Ok(())
}
