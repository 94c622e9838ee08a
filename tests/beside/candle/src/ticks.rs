//! Many ticks without a slow kernel: they are right, memory stays flat, and a hand-over has a price.

use std::sync::Arc;
use std::time::{Duration, Instant};

use streamflow::cudarc::driver::CudaContext;
use streamflow::memory::foreign_counts;
use streamflow::prelude::*;

use crate::graph::{Edges, Settings};
use crate::model::Model;
use crate::network::{INPUT, image};
use crate::ordered::run;
use crate::report::Report;

/// The host waits for the device so often. More ticks would wait in a stream for their turn, with their memory.
const EVERY: u64 = 100;
/// By how much the process and the device may have less free memory afterwards: a leak of a pool's smallest block in each of
/// 100,000 ticks is 51 MB.
const FLAT: u64 = 16 << 20;

/// Runs many ticks.
///
/// # Errors
/// Those of the runs.
pub fn many(
    platform: &Platform,
    models: &[Arc<Model>],
    ticks: u64,
    report: &mut Report,
) -> Result<()> {
    let settings = |ticks| Settings { ticks, slow: 0, edges: Edges::Both, every: EVERY };
    let ticks = ticks.next_multiple_of(EVERY);
    for model in models {
        let name = model.name();
        run(platform, model, settings((ticks / 10).next_multiple_of(EVERY)), 0)?;
        let before = if model.is_cuda() { Some(model.memory()?) } else { None };
        let (resident, begun) = (resident()?, Instant::now());
        let outcome = run(platform, model, settings(ticks), 0)?;
        let time = begun.elapsed();
        report.line(&format!("ticks, {name}"), u64::from(outcome.counts[0]), ticks);
        report.text(&format!("  worst difference from the CPU: {:e}", outcome.worst));
        let grown = self::resident()?.saturating_sub(resident);
        report.flat(&format!("memory of the process, {name}"), grown, FLAT);
        let Some((used, free)) = before else {
            report.text("skipped: memory of a GPU, and what a hand-over costs");
            continue;
        };
        report.line(&format!("in place, {name}"), outcome.in_place, ticks);
        let (used_now, free_now) = model.memory()?;
        report.text(&format!("  candle's pool: {used} bytes in use before, {used_now} after"));
        report.flat(&format!("candle's pool, {name}"), used_now.saturating_sub(used), 0);
        report.flat(&format!("memory of the device, {name}"), free.saturating_sub(free_now), FLAT);
        let each = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e6 / ticks as f64);
        let (alone, _) = by_hand(model, ticks, false)?;
        let (beside, calls) = by_hand(model, ticks, true)?;
        report.text(&format!(
            "  µs a tick: the graph {}, in it the hand-over to candle and back {}, candle's calls {}",
            each(time),
            each(outcome.hand_over),
            each(outcome.candle),
        ));
        report.text(&format!(
            "  µs a tick without streamflow: candle alone {}; ordered with another stream by cudarc {}, in it candle's calls {}",
            each(alone),
            each(beside),
            each(calls),
        ));
    }
    Ok(())
}

/// The same network on candle's own memory, without streamflow: by itself, or after work of another stream and before more of it,
/// ordered by cudarc. Returns the time, and that in candle's calls.
fn by_hand(model: &Model, ticks: u64, beside: bool) -> Result<(Duration, Duration)> {
    let theirs = model.device().as_cuda_device()?.cuda_stream();
    let other = CudaContext::new(0)?.new_stream()?;
    let (image, mut memory) =
        (image(0)?.to_device(model.device())?, other.alloc_zeros::<f32>(INPUT)?);
    model.end()?;
    let (begun, mut calls) = (Instant::now(), Duration::ZERO);
    for tick in 0..ticks {
        if beside {
            other.memset_zeros(&mut memory)?;
            theirs.join(&other)?;
        }
        let call = Instant::now();
        let y = model.forward(&image)?;
        calls += call.elapsed();
        if beside {
            other.join(&theirs)?;
        }
        drop(y);
        if tick % EVERY == EVERY - 1 {
            model.device().synchronize()?;
        }
    }
    model.end()?;
    Ok((begun.elapsed(), calls))
}

/// Waits until all of candle's tensors are back.
///
/// # Errors
/// They are not, after ten seconds.
pub fn given_back() -> Result<()> {
    let end = Instant::now() + Duration::from_secs(10);
    while foreign_counts().adopted > 0 && Instant::now() < end {
        std::thread::yield_now();
    }
    let counts = foreign_counts();
    if counts.adopted > 0 || counts.leaked > 0 {
        return Err(Failure::msg(format!("memory of candle is not given back: {counts:?}")));
    }
    Ok(())
}

/// The memory of this process, in bytes.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number
        .map(|kibibytes| kibibytes << 10)
        .ok_or_else(|| Failure::msg("no line `VmRSS` in the status"))
}
