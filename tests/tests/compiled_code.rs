//! CUDA source with a mistake, and modules that another tool has compiled.

use streamflow::driver::DriverError;
use streamflow::kernel::{CompiledCode, Kernel, compile_for};
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::kernels::fill;
use streamflow_tests::setup::{recorded, stream};
use streamflow_tests::{Failed, Suite, check, check_error, check_text, foreign};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_error_in_cuda_source_names_the_users_line", cuda_source_with_an_error)
        .optional(
            "an_error_in_cuda_source_compiled_ahead_names_the_users_line",
            "STREAMFLOW_REQUIRE_NVRTC",
            cuda_source_compiled_ahead,
        )
        .cuda("a_function_of_a_ptx_module_can_be_launched", module_of_ptx)
        .cuda("invalid_modules_are_an_error", bad_modules)
        .cuda("modules_are_loaded_once", modules_are_loaded_once)
        .host("compiled_code_needs_a_gpu", compiled_code_needs_a_gpu)
}

/// A kernel with a mistake in the second line of its CUDA body.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = undeclared_thing;
")]
fn mistaken(out: &mut [f32]) {
    out.fill(4.0);
}

/// Checks that only CUDA reports the mistake. The simulator does not compile the CUDA body.
fn cuda_source_with_an_error(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut data = platform.buffer(3, &s)?;
    s.launch::<fill>(3, (&mut data, 1.0))?;
    if platform.name() == "host" {
        s.launch::<mistaken>(3, (&mut data,))?;
        return check(s.download_blocking(&data)? == [4.0; 3], || "wrong data".into());
    }
    for _ in 0..2 {
        names_the_users_line(s.launch::<mistaken>(3, (&mut data,)))?;
    }
    check(s.download_blocking(&data)? == [1.0; 3], || "the kernel was launched".into())
}

/// Checks the same mistake as `cuda_source_with_an_error`, but compiles ahead of time and without a GPU.
fn cuda_source_compiled_ahead() -> Result<Option<String>, Failed> {
    if let Err(missing) = CompiledCode::compiler_version() {
        return Ok(Some(missing.to_string()));
    }
    for compile in [compile_for, CompiledCode::checked_for] {
        names_the_users_line(compile(mistaken::INFO, (9, 0)).map(drop))?;
    }
    Ok(None)
}

fn names_the_users_line(compiled: Result<(), Error>) -> Result<(), Failed> {
    let text = check_error("a mistake", compiled, |error| {
        matches!(error, Error::Driver(DriverError::Kernel { .. }))
    })?;
    let before = include_str!("compiled_code.rs").lines();
    let line = 1 + before.take_while(|line| !line.ends_with("= undeclared_thing;")).count();
    check_text(&text, &["`mistaken`", &format!("{}:{line}:", file!()), "undeclared_thing"])
}

fn module_of_ptx(platform: &Platform) -> Result<(), Failed> {
    let add = foreign::module(platform, device(0), foreign::ADD_PTX)?.function("add")?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
    let values: Vec<u32> = (0..1003).collect();
    let mut data = platform.buffer(values.len(), &a)?;
    a.upload_blocking(&values, &mut data)?;
    // The launch of a function of a module is ordered between streams like every launch.
    for round in 1..=20 {
        foreign::launch_add(if round % 2 == 0 { &a } else { &b }, &add, &mut data, round)?;
    }
    let wanted: Vec<u32> = values.iter().map(|x| x + 210).collect();
    check(b.download_blocking(&data)? == wanted, || "wrong data".into())?;
    let other = Platform::host().build()?;
    let s = stream(&other)?;
    let mut theirs = other.buffer(3, &s)?;
    check_error("another platform", foreign::launch_add(&s, &add, &mut theirs, 1), |error| {
        matches!(error, Error::ForeignPlatform { .. })
    })?;
    Ok(())
}

fn bad_modules(platform: &Platform) -> Result<(), Failed> {
    let refused = |what, ptx: &str| {
        check_error(what, foreign::module(platform, device(0), ptx), |error| {
            matches!(error, Error::Driver(DriverError::Module { .. }))
        })
    };
    let good = foreign::ADD_PTX;
    let broken = good.replace("add.u32 %r2", "add.u32 %r99");
    // The error text is that of CUDA's assembler, with the line in the PTX.
    check_text(&refused("bad PTX", &broken)?, &["a module", "%r99"])?;
    refused("nothing", "")?;
    refused("no code at all", "\0\0\0\0")?;
    let kernel = |error: &Error| matches!(error, Error::Driver(DriverError::Kernel { .. }));
    let module = foreign::module(platform, device(0), good)?;
    let missing = module.function("subtract");
    check_text(&check_error("no such function", missing, kernel)?, &["`subtract`"])?;
    check_error("a NUL", module.function("a\0dd"), kernel)?;
    // The device is still usable.
    module_of_ptx(platform)
}

/// Checks that a module is loaded once, however many of its functions are used.
fn modules_are_loaded_once(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let module = foreign::module(&platform, device(0), foreign::ADD_PTX)?;
    let functions = (0..10).map(|_| module.function("add")).collect::<Result<Vec<_>, Error>>()?;
    let loads = recorder.count(|call| matches!(call, Call::LoadModule { .. }));
    check(loads == 1, || format!("{loads} loads"))?;
    let s = stream(&platform)?;
    let mut data = platform.buffer(3, &s)?;
    s.upload_blocking(&[0, 1, 2], &mut data)?;
    functions.iter().try_for_each(|add| foreign::launch_add(&s, add, &mut data, 1))?;
    check(s.download_blocking(&data)? == [10, 11, 12], || "wrong data".into())
}

fn compiled_code_needs_a_gpu(platform: &Platform) -> Result<(), Failed> {
    let module = foreign::module(platform, device(0), foreign::ADD_PTX);
    let text = check_error("PTX on the simulator", module, |error| {
        matches!(error, Error::Driver(DriverError::Module { .. }))
    })?;
    check_text(&text, &["a module", "CUDA device"])
}
