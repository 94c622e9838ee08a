//! Plans of libraries in turns with the same library called by hand in C++: the device's time and the host's time of a
//! call.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench libraries -- [--by-hand LIB] [--turns N] [--small] [KIND]...
//! cargo bench -p streamflow-tests --bench libraries -- --help
//! ```
//!
//! `by_hand.cu` says how the library of the code by hand is compiled. Both sides are in one process, since another
//! process could run at another speed. There are two plans and two programs by hand with the same data, each in its own
//! memory and on its own stream. The four are made in the order program, plan, plan, program, since the libraries take
//! up to 600 ns longer for one of two equal plans, depending on the order of their making. In each turn, a kernel keeps
//! the stream busy until all calls of the turn are queued. So the device's time, by CUDA's events, has no gap where the
//! device waits for the host. The host's time is that of queueing. `more` is the mean of the median differences of each
//! plan from each program, and `apart` is how far the second plan is from the first one, and the second program from
//! the first one.
//!
//! A call of a plan and one by hand do the same for the device: one call of the library's function, on operands that are in
//! the device's memory before. The first call of a turn has columns of its own, since it finds less of its memory in the caches
//! than the others: before it the host has waited for the device. All rows have as many calls a turn, but for solvers.
//!
//! Then the host's time of single calls is measured, of all four in turn, call by call: a disturbance of the host for
//! some microseconds slows all four alike. That difference is the most exact one. The last column is the largest
//! difference of the results, over the largest result.
//!
//! A row that fails is printed with its error, and the next one is measured. At the end the files of the libraries are
//! printed that the process has loaded. Two files of one library are an error, since the two sides then ran different
//! code.
//!
//! Without `--by-hand` the plans run alone, on the simulator where there is no GPU, with small sizes, as with `--small`.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

mod loaded;
mod measured;
mod turns;

use std::path::PathBuf;
use std::process::ExitCode;

use streamflow::prelude::*;
use streamflow_tests::foreign::by_hand::ByHand;
use streamflow_tests::libraries::Problem;

use measured::{FORMS, Measured};
use turns::Turns;

/// How many calls a turn has after its first call. With fewer calls, the slow first calls, whose memory is not in the
/// caches yet, would be a large part of the time.
const CALLS: usize = 50;

/// How many calls a turn of a solver has after its first call. Each call launches some hundred kernels. The device
/// accepts about a thousand queued launches, and beyond that the host would have to wait for it.
const CALLS_OF_SOLVER: usize = 4;

/// A problem to measure, with its name in the table.
struct Row {
    /// The command-line argument that chooses the row. The part before `-` chooses it as well.
    kind: &'static str,
    name: &'static str,
    problem: fn() -> Problem,
}

const ROWS: &[Row] = &[
    Row { kind: "fft", name: "FFT 2^20", problem: || Problem::fft(1, &[1 << 20]) },
    Row { kind: "fft-2d", name: "FFT 512 x 512, 16", problem: || Problem::fft(16, &[512, 512]) },
    Row {
        kind: "matmul-bf16",
        name: "matmul 4096 bf16",
        problem: || Problem::matmul_bf16(4096, 4096, 4096, 1),
    },
    Row {
        kind: "matmul-f32",
        name: "matmul 4096 f32",
        problem: || Problem::matmul(4096, 4096, 4096, 1),
    },
    Row {
        kind: "matmul-64",
        name: "matmul 64, 10,000",
        problem: || Problem::matmul(64, 64, 64, 10_000),
    },
    Row { kind: "spmv", name: "SpMV 2^20 x 16", problem: || Problem::spmv(1 << 20, 16) },
    Row { kind: "cholesky", name: "Cholesky 2048 f64", problem: || Problem::cholesky(2048) },
];

graph! {
    struct OneProblem(problem: Problem, by_hand: Option<ByHand>, calls: usize, turns: usize, name: &'static str) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[streams(STREAMS)] #[when(count(1))]
        let turns: Turns = Turns::new(problem, by_hand, calls, turns);
        let print: Print = Print::new(name);
        turns.measured >> print.measured;
    }
}

#[operator]
struct Print {
    #[input]
    measured: &HostData<Measured>,
    name: &'static str,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{:<18}{}", self.name, **io.measured.receive().into_data());
        Ok(())
    }
}

const HELP: &str = "\
cargo bench -p streamflow-tests --bench libraries -- [--by-hand LIB] [--turns N] [--small] [KIND]...

  --by-hand LIB  take turns with the C++ code, compiled in one line:
                 nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC tests/benches/libraries/by_hand.cu \\
                     -o libby_hand.so -lcufft -lcublasLt -lcusparse -lcusolver
                 The loader must find what it links: set LD_LIBRARY_PATH and STREAMFLOW_LIBRARY_DIR to one directory.
  --turns N      40 without it; rounded up to a multiple of 4
  --small        small problems
  KIND           fft, fft-2d, matmul-bf16, matmul-f32, matmul-64, spmv or cholesky; fft and matmul choose all of theirs. All
                 without one
";

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// Whether an argument chooses rows of this kind.
fn is_of(kind: &str, argument: &str) -> bool {
    kind.strip_prefix(argument).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

struct Arguments {
    by_hand: Option<PathBuf>,
    turns: usize,
    is_small: bool,
    kinds: Vec<String>,
}

fn arguments() -> Result<Arguments> {
    let mut found = Arguments { by_hand: None, turns: 40, is_small: false, kinds: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo passes `--bench` to every benchmark.
            "--bench" => {}
            "--by-hand" => {
                let path = arguments.next().map(PathBuf::from);
                found.by_hand = Some(path.ok_or_else(|| Failure::msg("--by-hand needs a path"))?);
            }
            "--small" => found.is_small = true,
            "--turns" => {
                let turns: Option<usize> = arguments.next().and_then(|turns| turns.parse().ok());
                found.turns = turns
                    .filter(|&turns| turns > 0)
                    .ok_or_else(|| Failure::msg("--turns needs a number above 0"))?
                    .next_multiple_of(FORMS);
            }
            kind if ROWS.iter().any(|it| is_of(it.kind, kind)) => found.kinds.push(argument),
            _ => return Err(Failure::msg(format!("`{argument}` is no argument; see --help"))),
        }
    }
    Ok(found)
}

/// Measures all chosen rows. Returns whether each was measured without an error.
fn measure() -> Result<bool> {
    let Arguments { by_hand, turns, is_small, kinds } = arguments()?;
    let platform = Platform::detect()?;
    if by_hand.is_some() && platform.driver().device_info(device(0))?.is_simulated {
        return Err(Failure::msg("the code by hand needs a GPU, and no driver or GPU was found"));
    }
    let by_hand = by_hand.map(|path| ByHand::open(&path)).transpose()?;
    let mut is_complete = true;
    let mut row = |name, problem, calls| {
        if let Err(error) = one(&platform, name, problem, by_hand, calls, turns) {
            println!("{name:<18} error: {error:?}");
            is_complete = false;
        }
    };
    println!("{}, {turns} turns, medians per call", platform.name());
    println!("{}", Measured::HEADINGS);
    let is_chosen = |kind: &str| kinds.is_empty() || kinds.iter().any(|it| is_of(kind, it));
    if is_small || by_hand.is_none() {
        // A small problem has only the part of a kind before `-`, so a longer argument chooses it too.
        let is_chosen = |kind: &str| is_chosen(kind) || kinds.iter().any(|it| is_of(it, kind));
        let small = Problem::small().into_iter().filter(|it| is_chosen(it.kind));
        small.for_each(|problem| row(problem.kind, problem, 5));
    } else {
        for it in ROWS.iter().filter(|it| is_chosen(it.kind)) {
            let calls = if it.kind == "cholesky" { CALLS_OF_SOLVER } else { CALLS };
            row(it.name, (it.problem)(), calls);
        }
    }
    Ok(loaded::print_and_compare() && is_complete)
}

fn one(
    platform: &Platform,
    name: &'static str,
    problem: Problem,
    by_hand: Option<ByHand>,
    calls: usize,
    turns: usize,
) -> Result<()> {
    OneProblem::new(platform, problem, by_hand, calls, turns, name)?.run()?;
    Ok(())
}
