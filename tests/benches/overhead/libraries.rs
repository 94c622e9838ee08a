//! Calls of libraries' plans: the host's time from the call of a plan to the library's function, which does nothing here.
//!
//! A call by hand has none of it, so this is what a plan costs more, but for what the CUDA driver needs to tell which
//! context is bound.

use std::sync::Arc;
use std::time::Instant;

use streamflow::prelude::*;
use streamflow_tests::layers::Null;
use streamflow_tests::libraries::Problem;

use super::{ROUNDS, median};

/// How many calls a round has.
const CALLS: usize = 2_000;
/// Each time is the least of so many, since other programs can only make it longer.
const TRIES: usize = 20;

/// The name of a row, and what it computes.
type Row = (&'static str, fn() -> Problem);

const ROWS: &[Row] = &[
    ("fft", || Problem::fft(1, &[8])),
    ("matmul", || Problem::matmul(4, 4, 4, 1)),
    ("spmv", || Problem::spmv(4, 2)),
    ("cholesky", || Problem::cholesky(2)),
];

#[operator(no_new, streams(calls))]
struct Calls {
    #[output]
    per_call: HostData<f64>,
    problem: Problem,
    null: Arc<Null>,
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
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let mut least = f64::INFINITY;
            for _ in 0..TRIES {
                plan.prepare(CALLS, cx, &stream)?;
                stream.synchronize_blocking()?;
                let call = || {
                    let begin = Instant::now();
                    (0..CALLS).try_for_each(|_| plan.call(&stream))?;
                    Ok::<_, Failure>(begin.elapsed().as_secs_f64() * 1e9 / CALLS as f64)
                };
                least = least.min(self.null.off(call)?);
            }
            rounds.push(least);
        }
        io.per_call.emit(HostData(median(rounds)))
    }
}

#[operator]
struct Print {
    #[input]
    per_call: &HostData<f64>,
    name: &'static str,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{:<14}{:>9.1} ns", self.name, **io.per_call.receive().into_data());
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

/// Prints the rows, or the one of this name.
pub(crate) fn measure(null: &Arc<Null>, platform: &Platform, row: Option<String>) -> Result<()> {
    println!("\n{:<14}{:>12}", "a library", "per call");
    for (name, problem) in ROWS {
        if row.as_ref().is_none_or(|row| row == name) {
            OneCall::new(platform, problem(), null.clone(), name)?.run()?;
        }
    }
    Ok(())
}
