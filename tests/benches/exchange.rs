//! The host's time for a hand-over of a tensor to other code, and from it: nanoseconds per call.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench exchange
//! ```
//!
//! The driver does nothing, so the time is streamflow's. `export` hands a tensor that another stream has written to a
//! consumer's stream; `import` takes a tensor over which a producer's stream has written. The code that returns the memory is
//! measured apart: the consumer's call of the deleter, the taking back, and the drop of an import. `by hand` is the
//! record and the wait that an exchange needs, and `nothing` is an empty loop. All take turns; the results are medians.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use streamflow::driver::host::HostDriver;
use streamflow::memory::After;
use streamflow::memory::dlpack::{Abi, Consumer, DlExport, DlTensor, Imported};
use streamflow::prelude::*;
use streamflow_tests::foreign::from_outside;
use streamflow_tests::layers::Null;

const ROUNDS: usize = 31;
const COUNT: usize = 1000;
const ROWS: [&str; 8] = [
    "nothing",
    "by hand: record and wait",
    "export",
    "the consumer's deleter",
    "taking back",
    "import",
    "of that: reading the structure",
    "drop of an import",
];

struct Bench {
    null: Arc<Null>,
    platform: Platform,
    ours: CudaStream,
    theirs: CudaStream,
}

/// Returns how many nanoseconds a call takes on average, and the result of `run`, which makes all calls.
fn timed<R>(run: impl FnOnce() -> R) -> (f64, R) {
    let begun = Instant::now();
    let result = run();
    (begun.elapsed().as_nanos() as f64 / COUNT as f64, result)
}

impl Bench {
    fn new() -> Result<Self> {
        let null = Arc::new(Null::new(Arc::new(HostDriver::builder().build())));
        let platform = Platform::builder().driver(null.clone())?;
        let pool = platform.stream_pool("STREAMS", &CudaStreamPool::new())?;
        let (ours, theirs) = (pool.allocate("ours")?, pool.allocate("theirs")?);
        Ok(Self { null, platform, ours, theirs })
    }

    fn tensors(&self) -> Result<Vec<Tensor<f32>>> {
        (0..COUNT)
            .map(|_| {
                let mut tensor = self.platform.tensor([16], &self.ours)?;
                self.ours.fill_bytes(&mut tensor, 0)?;
                Ok(tensor)
            })
            .collect()
    }

    fn export(&self, tensor: Tensor<f32>) -> Result<DlExport, Error> {
        // As in a pipeline, each tensor is written after the hand-over of the tensor before it. So each hand-over needs a
        // new record.
        self.ours.record()?;
        tensor.into_dlpack(Abi::Versioned, Consumer::QueuesOn(&self.theirs))
    }

    /// Measures every row once. Returns the nanoseconds per call of each row.
    fn round(&self) -> Result<[f64; ROWS.len()]> {
        let (nothing, ()) = timed(|| (0..COUNT).for_each(|at| _ = black_box(at)));
        let by_hand = self
            .null
            .off(|| timed(|| (0..COUNT).try_for_each(|_| self.theirs.wait(self.ours.record()?))));
        by_hand.1?;
        let tensors = self.tensors()?;
        let (export, exported) = self.null.off(|| {
            timed(|| tensors.into_iter().map(|it| self.export(it)).collect::<Result<Vec<_>, _>>())
        });
        // The exported structures are imported again, as structures that other code has made.
        let (import, imported) = self.null.off(|| {
            timed(|| exported?.into_iter().map(|it| self.import(it)).collect::<Result<Vec<_>, _>>())
        });
        let imported = imported?;
        let (given_back, ()) = timed(|| drop(imported));
        self.ours.synchronize_blocking()?;
        // A second export, whose structures are not imported: this measures the consumer's call of the deleter.
        let exported: Vec<DlExport> =
            self.tensors()?.into_iter().map(|it| self.export(it)).collect::<Result<_, _>>()?;
        let (read, structures) =
            timed(|| exported.into_iter().map(from_outside).collect::<Result<Vec<_>, _>>());
        let exported: Vec<DlTensor> = structures?;
        let (deleted, ()) = timed(|| drop(exported));
        let (taken, empty) =
            self.null.off(|| timed(|| self.platform.tensor::<f32>([16], &self.ours)));
        drop(empty?);
        Ok([nothing, by_hand.0, export, deleted, taken, import, read, given_back])
    }

    fn import(&self, structure: DlExport) -> Result<Imported<Tensor<f32>>> {
        Ok(self.platform.import_dlpack(from_outside(structure)?, After::QueuedOn(&self.theirs))?)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let bench = Bench::new()?;
    let mut all: [Vec<f64>; ROWS.len()] = Default::default();
    for _ in 0..ROUNDS {
        let times = bench.round()?;
        all.iter_mut().zip(times).for_each(|(row, time)| row.push(time));
    }
    for (name, mut times) in ROWS.into_iter().zip(all) {
        times.sort_by(f64::total_cmp);
        let (median, least, most) = (times[times.len() / 2], times[0], times[times.len() - 1]);
        println!("{name:<32} {median:8.0} ns  ({least:.0} to {most:.0})");
    }
    Ok(())
}
