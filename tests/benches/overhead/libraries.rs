//! Calls of libraries' plans: the host's time from the call of a plan to the library's function. The functions do
//! nothing here.
//!
//! A call by hand has no such time, so this is the extra cost of a plan. For the second time, other memory is used
//! between two calls, as a library and the CUDA driver would: a call then no longer finds its own memory in the first
//! cache.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use streamflow::prelude::*;
use streamflow_tests::layers::Null;
use streamflow_tests::libraries::Problem;

use super::{ROUNDS, median};

/// How many calls a round has.
const CALLS: usize = 2_000;
/// How often each time is measured. The smallest value counts, since other programs can only make it longer.
const TRIES: usize = 20;

/// How many bytes of other memory are touched between two calls: one and a half times a first-level cache.
const OTHER_MEMORY: usize = 48 << 10;

/// A row's name, and the function that makes its problem.
type Row = (&'static str, fn() -> Problem);

const ROWS: &[Row] = &[
    ("fft", || Problem::fft(1, &[8])),
    ("matmul", || Problem::matmul(4, 4, 4, 1)),
    ("spmv", || Problem::spmv(4, 2)),
    ("cholesky", || Problem::cholesky(2)),
];

/// The nanoseconds of a call: with calls in direct succession, and with other memory touched between two calls.
type PerCall = [f64; 2];

#[operator(no_new, streams(calls))]
struct Calls {
    #[output]
    per_call: HostData<PerCall>,
    problem: Problem,
    null: Arc<Null>,
}

/// Memory that is touched between two calls, to displace their data from the first-level cache.
struct Other(Vec<u64>);

impl Other {
    const LINE: usize = 64 / size_of::<u64>();

    /// Writes one word in each cache line.
    #[inline(never)]
    fn touch(&mut self) {
        for line in black_box(&mut self.0).chunks_exact_mut(Self::LINE) {
            line[0] += 1;
        }
    }
}

/// Makes a round of calls, and returns the nanoseconds per call.
fn time(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    (0..CALLS).try_for_each(|_| call())?;
    Ok(begin.elapsed().as_secs_f64() * 1e9 / CALLS as f64)
}

impl Calls {
    fn new(problem: Problem, null: Arc<Null>) -> Self {
        Self { problem, null }
    }
}

impl Compute for Calls {
    fn compute(&mut self, io: CallsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.calls)?;
        let mut plan = self.problem.workload(cx, &stream)?;
        plan.prepare(CALLS, cx, &stream)?;
        stream.synchronize_blocking()?;
        let mut other = Other(vec![0; OTHER_MEMORY / size_of::<u64>()]);
        let (mut rounds, mut with_other) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let [mut warm, mut both, mut alone] = [f64::INFINITY; 3];
            for _ in 0..TRIES {
                plan.prepare(CALLS, cx, &stream)?;
                stream.synchronize_blocking()?;
                warm = warm.min(self.null.off(|| time(|| plan.call(&stream)))?);
                plan.prepare(CALLS, cx, &stream)?;
                stream.synchronize_blocking()?;
                let with_other = || {
                    time(|| {
                        other.touch();
                        plan.call(&stream)
                    })
                };
                both = both.min(self.null.off(with_other)?);
                alone = alone.min(time(|| {
                    other.touch();
                    Ok(())
                })?);
            }
            rounds.push(warm);
            with_other.push(both - alone);
        }
        io.per_call.emit(HostData([median(rounds), median(with_other)]))
    }
}

#[operator]
struct Print {
    #[input]
    per_call: &HostData<PerCall>,
    name: &'static str,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, _: &ExecutionContext) -> Result<()> {
        let [warm, other] = **io.per_call.receive().into_data();
        println!("{:<14}{warm:>9.1} ns{other:>18.1} ns", self.name);
        Ok(())
    }
}

graph! {
    struct OneCall(problem: Problem, null: Arc<Null>, name: &'static str) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(1);
        #[streams(STREAMS)] #[when(count(1))]
        let calls: Calls = Calls::new(problem, null);
        let print: Print = Print::new(name);
        calls.per_call >> print.per_call;
    }
}

/// Measures and prints all rows, or only the row with the given name.
pub(crate) fn measure(null: &Arc<Null>, platform: &Platform, row: Option<String>) -> Result<()> {
    println!("\n{:<14}{:>12}{:>21}", "a library", "per call", "after other memory");
    for (name, problem) in ROWS {
        if row.as_ref().is_none_or(|row| row == name) {
            OneCall::new(platform, problem(), null.clone(), name)?.run()?;
        }
    }
    Ok(())
}
