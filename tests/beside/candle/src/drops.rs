//! candle's memory, dropped on threads without a context, and the streams of both kinds of candle's devices.

use std::sync::Arc;
use std::thread;

use candle_core::{DType, Tensor as Candles};
use streamflow::memory::After;
use streamflow::prelude::*;

use crate::border::{adopt, external, find};
use crate::kernels::{fill, finish};
use crate::model::Model;
use crate::report::Report;
use crate::ticks::given_back;

const TURNS: u64 = 64;
const LEN: usize = 1 << 16;

/// Drops adopted memory and lent memory, each on its own thread.
///
/// # Errors
/// Those of streamflow, candle and cudarc; one that cudarc has kept.
pub fn drops(platform: &Platform, models: &[Arc<Model>], report: &mut Report) -> Result<()> {
    for model in models {
        if !model.is_cuda() {
            report.text("skipped: drops on threads without a context, since candle has no GPU");
            continue;
        }
        let pool = platform.stream_pool("OURS", &CudaStreamPool::new().max_size(1))?;
        let ours = pool.allocate("ours")?;
        let theirs = model.device().as_cuda_device()?.cuda_stream();
        adopted(platform, model, &ours)?;
        given_back()?;
        model.end()?;
        let (used, _) = model.memory()?;
        let mut right = 0;
        for _ in 0..TURNS {
            right += u64::from(adopted(platform, model, &ours)?);
        }
        given_back()?;
        model.end()?;
        report.line(&format!("drops on other threads, {}", model.name()), right, TURNS);
        let (used_now, _) = model.memory()?;
        report.flat(
            &format!("candle's pool after them, {}", model.name()),
            used_now.saturating_sub(used),
            0,
        );

        let refusals = [
            external(platform, &theirs).err().map(|error| error.to_string()),
            find(platform, &theirs).err().map(|error| error.to_string()),
        ];
        if theirs.cu_stream() as u64 == 2 {
            let is_clear = |text: &&Option<String>| {
                text.as_ref().is_some_and(|text| text.contains("default stream"))
            };
            let right = refusals.iter().filter(is_clear).count();
            report.line("a default stream of a thread is refused", right as u64, 2);
        } else {
            let right = refusals.iter().filter(|text| text.is_none()).count();
            report.line(&format!("external stream, {}", model.name()), right as u64, 2);
        }
        report.text(&format!("  {refusals:?}"));
        candle_alone(model, report)?;
    }
    Ok(())
}

/// A tensor of candle and a slice of cudarc become tensors, a kernel reads them, and a thread without a context drops all.
fn adopted(platform: &Platform, model: &Model, ours: &CudaStream) -> Result<bool> {
    let theirs = model.device().as_cuda_device()?.cuda_stream();
    let y = Candles::full(3.0_f32, LEN, model.device())?;
    ours.after_cudarc(&theirs)?;
    let y = adopt(platform, y, After::QueuedOn(ours))?;
    let slice = platform.adopt_cudarc(theirs.clone_htod(&vec![4.0_f32; LEN])?, [LEN])?;
    let mut sums = [platform.tensor::<f32>([LEN], ours)?, platform.tensor::<f32>([LEN], ours)?];
    let mut lent = platform.tensor::<f32>([LEN], ours)?;
    ours.launch::<fill>(LEN, (&mut lent, 5.0))?;
    for (sum, y) in sums.iter_mut().zip([&y, &slice]) {
        ours.launch::<finish>(LEN, (sum, y))?;
    }
    let copy = ours.read_cudarc(&lent, &theirs, |view| theirs.clone_dtod(&view))??;
    let copy = platform.adopt_cudarc(copy, [LEN])?;
    let [mut of_tensor, mut of_slice] = sums;
    let downloads = [
        platform.download(&of_tensor, ours)?,
        platform.download(&of_slice, ours)?,
        platform.download(&copy, ours)?,
    ];
    ours.launch::<fill>(LEN, (&mut of_tensor, 0.0))?;
    ours.launch::<fill>(LEN, (&mut of_slice, 0.0))?;
    // Their work is still queued.
    let dropped = thread::spawn(move || drop((y, slice, lent, copy, of_tensor, of_slice)));
    dropped.join().map_err(|_| Failure::msg("a drop has panicked"))?;
    let mut right = true;
    for (download, value) in downloads.into_iter().zip([7.0, 9.0, 5.0]) {
        right &= download.wait_blocking()?.iter().all(|&found| found == value);
    }
    Ok(right)
}

/// candle's own drop on such a thread, without streamflow.
fn candle_alone(model: &Model, report: &mut Report) -> Result<()> {
    let theirs = model.device().as_cuda_device()?.cuda_stream();
    let tensor = Candles::zeros(1 << 20, DType::F32, model.device())?;
    model.end()?;
    let (used, _) = model.memory()?;
    let dropped = thread::spawn(move || drop(tensor)).join();
    dropped.map_err(|_| Failure::msg("a drop has panicked"))?;
    let kept = model.end().err().map(|error| error.to_string());
    let (used_now, _) = model.memory()?;
    let freed = used.saturating_sub(used_now);
    let kept = kept.as_deref().unwrap_or("no error");
    report.text(&format!(
        "  candle's own drop on such a thread frees {freed} bytes, and cudarc keeps: {kept}"
    ));
    // A stream names its context, and the default stream of a thread does not.
    if theirs.cu_stream() as u64 == 2 {
        let is_lost = freed == 0 && kept.contains("CUDA_ERROR_INVALID_CONTEXT");
        let name = format!("control without streamflow, memory that is lost, {}", model.name());
        report.line(&name, u64::from(is_lost), 1);
    }
    Ok(())
}
