//! Kernels whose code for a GPU is an image: `#[kernel(unsafe image = "…")]`.

use streamflow::__private::{CudaBody, EmbeddedImage, KernelInfo};
use streamflow::Grid;
use streamflow::driver::DriverError;
use streamflow::kernel::{CompiledCode, Kernel, Strided, compile_for};
use streamflow::prelude::*;
use streamflow_tests::kernels::fill;
use streamflow_tests::setup::{stream, uploaded};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_kernel_of_an_image_is_launched_in_order", in_order)
        .both("a_kernel_of_an_image_takes_addresses_alone", addresses)
        .both("a_kernel_of_an_image_takes_views", views)
        .both("a_grid_that_is_too_small_for_a_kernel_of_an_image_is_refused", small_grid)
        .both("an_image_without_the_function_or_with_another_signature_is_refused", refused)
        .both("a_kernel_of_an_image_without_a_body_runs_on_a_gpu_alone", without_body)
        .cuda("an_image_that_the_driver_refuses_is_named_with_its_target", other_target)
        .optional("a_cubin_has_the_signature_of_its_source", "STREAMFLOW_REQUIRE_NVRTC", cubin)
}

/// The file, by an expression that a build script's file needs.
#[kernel(
    unsafe image = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernel_images/elements.ptx"),
    requires(y.len() == x.len())
)]
fn scale(y: &mut [f32], x: &[f32], a: f32) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = *x * a;
    }
}

#[kernel(
    unsafe image = "kernel_images/elements.ptx",
    entry = "add",
    slices = pointers,
    requires(n as usize == data.len(), data.len() == value.len())
)]
fn increase(data: &mut [u32], value: &[u32], n: u32) {
    for (data, value) in data[..n as usize].iter_mut().zip(value) {
        *data += *value;
    }
}

#[kernel(unsafe image = "kernel_images/elements.ptx", threads(32))]
fn places(out: &mut Strided<u32, 2>) {
    let [rows, cols] = out.shape();
    for y in 0..rows {
        for x in 0..cols {
            out[[y, x]] = (y * 10 + x) as u32;
        }
    }
}

/// Work on two streams without a wait: each launch comes after the one that its arguments need.
fn in_order(platform: &Platform) -> Result<(), Failed> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    for n in [1, 1003, 70_001] {
        let mut x = uploaded(platform, &vec![f32::NAN; n], &a)?;
        let mut y = uploaded(platform, &vec![f32::NAN; n], &b)?;
        for round in 1..=5 {
            a.launch::<fill>(n, (&mut x, round as f32))?;
            b.launch::<scale>(n, (&mut y, &x, 0.5))?;
            a.launch::<scale>(n, (&mut x, &y, 4.0))?;
        }
        check_equal(b.download_blocking::<f32>(&x)?, vec![10.0; n])?;
        check_equal(a.download_blocking::<f32>(&y)?, vec![2.5; n])?;
    }
    Ok(())
}

fn addresses(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let value: Vec<u32> = (0..1003).collect();
    let mut data = uploaded(platform, &vec![7_u32; 1003], &s)?;
    let by = uploaded(platform, &value, &s)?;
    // A part begins within its memory, and the elements beside it stay.
    let none = || Failed::msg("a part within the buffer is an error");
    let mut part = data.slice_mut(1..1002).ok_or_else(none)?;
    s.launch::<increase>(1001, (&mut part, &by.slice(2..).ok_or_else(none)?, 1001))?;
    let wanted: Vec<u32> = (0..1003).map(|i| if i % 1002 == 0 { 7 } else { 8 + i }).collect();
    check_equal(s.download_blocking::<u32>(&data)?, wanted)?;
    let text = check_error("n", s.launch::<increase>(4, (&mut data, &by, 4)), |error| {
        matches!(error, Error::KernelRequirement { kernel: "increase", .. })
    })?;
    check_text(&text, &["n = 4", "data.len() = 1003"])
}

fn views(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let none = || Failed::msg("a part within the tensor is an error");
    let mut out = uploaded(platform, &[99_u32; 12], &s)?.reshape([3, 4])?;
    let part =
        out.view_mut().slice(0, 1..3).and_then(|part| part.slice(1, 1..4)).ok_or_else(none)?;
    s.launch::<places>([32, 2], (part,))?;
    let wanted = [99, 99, 99, 99, 99, 0, 1, 2, 99, 10, 11, 12];
    check_equal(s.download_blocking::<u32>(&out)?, wanted.to_vec())
}

fn small_grid(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let by = uploaded(platform, &[1_u32; 300], &s)?;
    let mut data = uploaded(platform, &[1_u32; 300], &s)?;
    let grid = Grid::blocks(1).threads(32);
    let text = check_error("32", s.launch::<increase>(grid, (&mut data, &by, 300)), |_| true)?;
    check_text(&text, &["`increase`", "`data`", "300"])
}

#[kernel(unsafe image = "kernel_images/elements.ptx", entry = "scales")]
fn missing(y: &mut [f32], x: &[f32], a: f32) {
    y[0] = x[0] * a;
}

#[kernel(unsafe image = "kernel_images/elements.ptx", entry = "scale")]
fn wider(y: &mut [f32], x: &[f32], a: f64) {
    y[0] = x[0] * a as f32;
}

#[kernel(unsafe image = "kernel_images/elements.ptx", entry = "add")]
fn with_lengths(data: &mut [u32], value: &[u32], n: u32) {
    data[0] += value[0] + n;
}

#[kernel(unsafe image = b"int main() {}")]
fn no_image(y: &mut [f32]) {
    y[0] = 0.0;
}

/// The same errors on both platforms. Nothing is launched.
fn refused(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let is_kernel = |error: &Error| matches!(error, Error::Driver(DriverError::Kernel { .. }));
    let x = uploaded(platform, &[1.0_f32; 3], &s)?;
    let mut y = uploaded(platform, &[1.0_f32; 3], &s)?;
    let text = check_error("missing", s.launch::<missing>(3, (&mut y, &x, 2.0)), is_kernel)?;
    let file = "kernel_images/elements.ptx";
    check_text(
        &text,
        &["`missing`", file, "`scales`", "it has `scale`, `add`, `places`", "entry"],
    )?;
    check_equal(s.download_blocking::<f32>(&y)?, vec![1.0; 3])?;

    let text = check_error("wider", s.launch::<wider>(3, (&mut y, &x, 2.0)), is_kernel)?;
    check_text(&text, &["`wider`", "8, 8, 8, 8, 4 bytes", "`x.len()` (8), `a` (8)", "change"])?;

    let by = uploaded(platform, &[1_u32; 3], &s)?;
    let mut data = uploaded(platform, &[1_u32; 3], &s)?;
    let launched = s.launch::<with_lengths>(3, (&mut data, &by, 3));
    let text = check_error("lengths", launched, is_kernel)?;
    check_text(&text, &["`with_lengths`", "has 3 parameters", "write `slices = pointers`"])?;

    let text = check_error("no image", s.launch::<no_image>(3, (&mut y,)), is_kernel)?;
    check_text(&text, &["`no_image`", "neither PTX text nor a CUBIN"])?;
    // Without a launch, and without a GPU.
    let compiled = compile_for(missing::INFO, (9, 0)).map(drop);
    check_error("compiled", compiled, is_kernel)?;
    check(!compile_for(scale::INFO, (9, 0))?.bytes().is_empty(), || "no code".into())?;
    // The control: the right kernel of the same image.
    let mut y = uploaded(platform, &[f32::NAN; 3], &s)?;
    s.launch::<scale>(3, (&mut y, &x, 2.0))?;
    check_equal(s.download_blocking::<f32>(&y)?, vec![2.0; 3])
}

#[kernel(unsafe image = "kernel_images/elements.ptx", entry = "scale", requires(y.len() == x.len()))]
fn scale_on_a_gpu(y: &mut [f32], x: &[f32], a: f32);

fn without_body(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let x = uploaded(platform, &[1.0_f32; 3], &s)?;
    let mut y = uploaded(platform, &[f32::NAN; 3], &s)?;
    let launched = s.launch::<scale_on_a_gpu>(3, (&mut y, &x, 2.0));
    if platform.name() == "host" {
        let text = check_error("the simulator", launched, |error| {
            matches!(error, Error::Driver(DriverError::Kernel { .. }))
        })?;
        return check_text(
            &text,
            &["`scale_on_a_gpu`", "ends with `;`", "Rust body", "CUDA device"],
        );
    }
    launched?;
    check_equal(s.download_blocking::<f32>(&y)?, vec![2.0; 3])
}

#[kernel(unsafe image = b".version 6.4\n.target sm_999\n.address_size 64\n.visible .entry far(.param .u64 y, .param .u64 n) { ret; }")]
fn far(y: &mut [f32]);

fn other_target(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut y = uploaded(platform, &[1.0_f32; 3], &s)?;
    let text = check_error("sm_999", s.launch::<far>(3, (&mut y,)), |error| {
        matches!(error, Error::Driver(DriverError::Kernel { .. }))
    })?;
    check_text(&text, &["`far`", "PTX for sm_999", "compute capability"])
}

#[kernel(unsafe cuda = "out[0] = a[0] * factor + (float)wide + (float)small;")]
fn mixed(out: &mut [f32], a: &[f32], factor: f32, wide: f64, small: u8) {
    out[0] = a[0] * factor + wide as f32 + f32::from(small);
}

/// The code that NVRTC makes, as an image.
fn cubin() -> Result<Option<String>, Failed> {
    if let Err(missing) = CompiledCode::compiler_version() {
        return Ok(Some(missing.to_string()));
    }
    const PARAMS: &[(&str, usize)] = &[
        ("out", 8),
        ("out.len()", 8),
        ("a", 8),
        ("a.len()", 8),
        ("factor", 4),
        ("wide", 8),
        ("small", 1),
    ];
    let mut count = 0;
    for capability in [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0)] {
        let Ok(code) = compile_for(mixed::INFO, capability) else { continue };
        count += 1;
        let code: &'static [u8] = code.bytes().to_vec().leak();
        let checked = |code, params| {
            let image = EmbeddedImage { file: "mixed", code, params, has_host_body: true };
            let cuda = CudaBody::Image(Box::leak(Box::new(image)));
            compile_for(&KernelInfo { cuda, ..*mixed::INFO }, capability).map(drop)
        };
        checked(code, PARAMS)?;
        let text = check_error("fewer", checked(code, &PARAMS[..6]), |_| true)?;
        check_text(&text, &["`mixed_kernel`", "7 parameters, of 8, 8, 8, 8, 4, 8, 1 bytes", "6"])?;
        if code.starts_with(b"\x7fELF") {
            let half = &code[..code.len() / 2];
            check_text(&check_error("half", checked(half, PARAMS), |_| true)?, &["cut off"])?;
        }
    }
    check(count > 1, || format!("{count} codes"))?;
    Ok(None)
}
