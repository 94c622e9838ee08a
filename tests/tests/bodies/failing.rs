//! Kernels and library functions whose Rust bodies fail: which error is reported, where, and how often.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use streamflow::driver::DriverError;
use streamflow::library::HostBody;
use streamflow::prelude::*;
use streamflow_tests::foreign::CopyLibrary;
use streamflow_tests::kernels::fill;
use streamflow_tests::{Failed, check, check_error, check_text};

const LEN: usize = 8;

/// An operator that copies by a library's function, whose body fails once.
#[operator(streams(work))]
struct Copies {
    #[output]
    out: Tensor<f32>,
    library: CopyLibrary,
    body: HostBody,
}

impl Compute for Copies {
    fn compute(&mut self, io: CopiesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let (mut from, mut out) = (cx.tensor([LEN], &stream)?, cx.tensor([LEN], &stream)?);
        stream.launch::<fill>(LEN, (&mut from, 3.0))?;
        self.library.copy_with(&self.body, &stream, &from, &mut out)?;
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

/// An operator that counts the messages with wrong data.
#[operator]
struct Takes {
    #[input]
    image: &Tensor<f32>,
    wrong: Arc<AtomicU32>,
}

impl Compute for Takes {
    fn compute(&mut self, io: TakesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let is_right = stream.download_blocking(image)? == [3.0; LEN];
        self.wrong.fetch_add(u32::from(!is_right), Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct Copying(library: CopyLibrary, body: HostBody, wrong: Arc<AtomicU32>) {
        #[when(count(2))] let copies: Copies = Copies::new(library, body);
        let takes: Takes = Takes::new(wrong);
        copies.out >> takes.image;
    }
}

graph! {
    struct Last(library: CopyLibrary, body: HostBody) {
        #[when(count(1))] let copies: Copies = Copies::new(library, body);
        copies.out >> _;
    }
}

/// Returns a body that copies, and that fails in call number `in_call`, by a panic or by an error.
fn failing(in_call: u32, panics: bool) -> HostBody {
    let calls = AtomicU32::new(0);
    HostBody::new("testCopy", move |operands| {
        let (from, to) = (operands.read::<f32>(), operands.write::<f32>());
        to.copy_from_slice(from);
        match calls.fetch_add(1, Ordering::Relaxed) == in_call {
            true if panics => std::panic::panic_any("out of ink"),
            true => Err("out of ink".into()),
            false => Ok(()),
        }
    })
}

fn is_named(error: &Error, panics: bool) -> Result<(), Failed> {
    let by = if panics { "panicked: out of ink" } else { "failed: out of ink" };
    let text = format!("library function `testCopy`, called by operator `copies`, {by}");
    check_text(&error.to_string(), &[&text])?;
    let cause = error.find_cause::<DriverError>();
    check(matches!(cause, Some(DriverError::HostBody { .. })), || format!("{error:?}"))
}

/// Checks that each run ends with one error that names the operator of the call, that no tick has wrong data, and
/// that a second run is right.
pub(crate) fn fails() -> Result<(), Failed> {
    for (seed, panics, workers) in
        (0..64).flat_map(|seed| [(seed, false, 0), (seed, true, seed % 3)])
    {
        let platform = Platform::host().seed(seed).build()?;
        let wrong = Arc::new(AtomicU32::new(0));
        let library = CopyLibrary::new(&platform)?;
        let body = failing(1, panics);
        let mut graph = Copying::new(&platform, library, body, wrong.clone())?;
        if workers > 0 {
            graph.workers(u32::from(workers > 0) as usize * 2)?;
        }
        let Err(error) = graph.run() else {
            return Err(Failed::msg(format!("seed {seed}: no error")));
        };
        is_named(&error, panics)?;
        check(error.to_string().matches("out of ink").count() == 1, || error.to_string())?;
        graph.run()?;
        check(wrong.load(Ordering::Relaxed) == 0, || format!("seed {seed}: wrong data"))?;
    }
    Ok(())
}

/// Checks the error of the last call of a run, after which no work is queued.
pub(crate) fn fails_last() -> Result<(), Failed> {
    for (seed, panics) in (0..64).flat_map(|seed| [(seed, false), (seed, true)]) {
        let platform = Platform::host().seed(seed).build()?;
        let library = CopyLibrary::new(&platform)?;
        let mut graph = Last::new(&platform, library, failing(0, panics))?;
        let Err(error) = graph.run() else {
            return Err(Failed::msg(format!("seed {seed}: no error")));
        };
        is_named(&error, panics)?;
        graph.run()?;
    }
    Ok(())
}

#[kernel(unsafe cuda = "asm(\"trap;\");")]
fn panics(out: &mut [f32]) {
    out.fill(0.0);
    std::panic::panic_any("out of ink");
}

/// An operator that launches a kernel with a body that panics.
#[operator(streams(work))]
struct Panics {
    #[output]
    out: Tensor<f32>,
}

impl Compute for Panics {
    fn compute(&mut self, io: PanicsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<panics>(LEN, (&mut out,))?;
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

graph! {
    struct Panicking {
        #[when(count(1))] let unlucky: Panics = Panics::new();
        unlucky.out >> _;
    }
}

/// Checks that a panic of a kernel's body makes the device unusable, as an illegal address does on a GPU.
pub(crate) fn kernel() -> Result<(), Failed> {
    for seed in 0..8 {
        let platform = Platform::host().seed(seed).build()?;
        let done = Panicking::new(&platform)?.run().map(drop);
        let text = check_error("the run", done, |_| true)?;
        check_text(
            &text,
            &["kernel `panics` panicked: out of ink, launched by operator `unlucky`"],
        )?;
        check(platform.driver().sticky_error().is_some(), || "the device is usable".into())?;
    }
    Ok(())
}
