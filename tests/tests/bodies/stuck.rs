//! Kernels whose bodies wait for a lock that the launching thread holds.

use std::io::Read;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use streamflow::prelude::*;
use streamflow::testing::{Explorer, scope};
use streamflow_tests::kernels::fill;
use streamflow_tests::{Failed, check, check_text, child};

/// The lock that the bodies of this file take.
static LOCKED: Mutex<u32> = Mutex::new(0);

#[kernel(unsafe cuda = "if (out_len > 0) out[0] = 1.0f;")]
fn locks(out: &mut [f32]) {
    *LOCKED.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    out.fill(1.0);
}

/// An operator that holds a lock during a blocking call, while its kernel waits for the lock.
#[operator(streams(work))]
struct Holder {
    #[output]
    out: Tensor<f32>,
}

impl Compute for Holder {
    fn compute(&mut self, io: HolderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut out = cx.tensor([4], &stream)?;
        stream.launch::<locks>(4, (&mut out,))?;
        let held = LOCKED.lock().unwrap_or_else(PoisonError::into_inner);
        stream.synchronize_blocking()?;
        drop(held);
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

graph! {
    struct Holding {
        #[when(count(1))] let holder: Holder = Holder::new();
        holder.out >> _;
    }
}

/// The child process, which hangs in a kernel's body.
pub(crate) fn play(_: &str) -> Result<(), Failed> {
    // This seed's policy is lazy: the body executes in the call that blocks.
    let platform = Platform::host().seed(1).build()?;
    Holding::new(&platform)?.run()?;
    Ok(())
}

/// Checks that standard error reports a body that can't end because of its own caller, and reports nothing else.
pub(crate) fn told() -> Result<(), Failed> {
    let mut child =
        child::command("bodies", "holds")?.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let Some(mut stderr) = child.stderr.take() else { return Err(Failed::msg("no stderr")) };
    // The child process reports the body, and goes on to hang.
    let mut said = Vec::new();
    let mut byte = [0];
    while !said.ends_with(b"\n") && stderr.read(&mut byte)? == 1 {
        said.push(byte[0]);
    }
    child.kill()?;
    child.wait()?;
    let text = String::from_utf8_lossy(&said);
    check_text(
        &text,
        &["the body of `locks`", "queued by `launch` of operator `holder`", "not ended for 5 s"],
    )
}

/// Checks a body that waits for a lock held by another thread of an explored test, which itself waits for its
/// turn.
pub(crate) fn keeps_the_turn() -> Result<(), Failed> {
    let test = |platform: &Platform| -> Result<()> {
        let pool = platform.stream_pool("TURN", &CudaStreamPool::new())?;
        let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
        scope(|scope| {
            let other = scope.spawn(move || -> Result<Vec<f32>> {
                let mut data = platform.buffer::<f32>(4, &b)?;
                for _ in 0..3 {
                    let held = LOCKED.lock().unwrap_or_else(PoisonError::into_inner);
                    // These calls don't block, but the other thread may get the turn in them.
                    b.launch::<fill>(4, (&mut data, 1.0))?;
                    b.launch::<fill>(4, (&mut data, 2.0))?;
                    drop(held);
                }
                Ok(b.download_blocking(&data)?)
            });
            let mut data = platform.buffer::<f32>(4, &a)?;
            a.launch::<locks>(4, (&mut data,))?;
            let mine = a.download_blocking(&data)?;
            let other = other.join().map_err(|_| Failure::msg("the thread panicked"))??;
            assert_eq!((mine, other), (vec![1.0; 4], vec![2.0; 4]));
            Ok(())
        })
    };
    let found = Explorer::new().seeds(64).run(test)?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(&found)) };
    let text = failing.cause.to_string();
    check_text(&text, &["the body of `locks`", "5 s", "can't be repeated"])?;
    // The control: a thread that holds no lock across its calls leads to no report.
    let control = Explorer::new().seeds(64).run(|platform: &Platform| {
        let stream = platform.default_stream(device(0))?;
        let mut data = platform.buffer::<f32>(4, &stream)?;
        stream.launch::<locks>(4, (&mut data,))?;
        assert_eq!(stream.download_blocking(&data)?, [1.0; 4]);
        Ok(())
    })?;
    check(control.failing.is_none(), || control.to_string())
}
