//! Which calls of CUDA and of its libraries a steady call of each plan makes, by name and in their order: on the `libcuda`
//! of the tests, with libraries that do nothing (`fake_libraries`).

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use streamflow::library::fft::{Fft, InverseRealFft, Norm, RealFft};
use streamflow::library::matmul::{Blas, Matmul};
use streamflow::library::solve::{Checked, Cholesky, Eigen, Lu, Qr, Svd};
use streamflow::library::sparse::{Csr, SpMm, SpMv};
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::foreign::make_current;
use streamflow_tests::layers::Unlaunched;
use streamflow_tests::{Failed, check, check_error, check_text, child};

use crate::library;

/// The role of the process.
pub(crate) const ROLE: &str = "plan calls";

/// The log of all calls.
const LOG: &str = "STREAMFLOW_FAKE_CUDA_LOG";

/// The function of a library that fails.
const FAILS: &str = "STREAMFLOW_FAKE_LIBRARIES_FAIL";

/// The call of CUDA that fails.
const FAULT: &str = "STREAMFLOW_FAKE_CUDA_FAULT";

/// The libraries, each with its file.
const FILES: [&str; 5] =
    ["libcufft.so", "libcublasLt.so", "libcublas.so", "libcusolver.so", "libcusparse.so"];

/// One call of a plan, with operands of its own.
type Call = Box<dyn FnMut(&Stream<'_>) -> Result<(), Error>>;
type Make = fn(&ExecutionContext, &Stream<'_>) -> Result<Call, Error>;

/// A plan, and the calls of one call of it.
struct Row {
    name: &'static str,
    calls: &'static [&'static str],
    make: Make,
}

const fn row(name: &'static str, calls: &'static [&'static str], make: Make) -> Row {
    Row { name, calls, make }
}

/// Rows and columns of each matrix, and elements of each vector.
const N: usize = 4;

const ROWS: &[Row] = &[
    row("FFT", &["cufftExecC2C"], |cx, s| {
        let mut plan = Fft::<f32>::plan([N]).on(cx, s)?;
        let (x, mut y) = (complex(cx, s)?, complex(cx, s)?);
        Ok(Box::new(move |s| plan.forward(s, &x, &mut y)))
    }),
    row("batched FFT in place, divided", &["cufftExecC2C", "launch scale"], |cx, s| {
        let mut plan = Fft::<f32>::plan([2]).batch(N / 2).norm(Norm::ByLength).on(cx, s)?;
        let mut x = complex(cx, s)?;
        Ok(Box::new(move |s| plan.inverse_in_place(s, &mut x)))
    }),
    row("FFT of real numbers", &["cufftExecR2C"], |cx, s| {
        let mut plan = RealFft::<f32>::plan(N).on(cx, s)?;
        let (x, mut y) = (vector(cx, s)?, cx.tensor([N / 2 + 1], s)?);
        Ok(Box::new(move |s| plan.forward(s, &x, &mut y)))
    }),
    row("FFT to real numbers", &["cufftExecC2R"], |cx, s| {
        let mut plan = InverseRealFft::<f32>::plan(N).on(cx, s)?;
        let (mut x, mut y) = (cx.tensor([N / 2 + 1], s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.inverse(s, &mut x, &mut y)))
    }),
    row("matmul", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(N, N, N).on(cx, s)?;
        let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &mut c)))
    }),
    row("batched matmul", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(2, 2, 2).batch(4).on(cx, s)?;
        let make = || cx.tensor::<f32>([4, 2, 2], s);
        let (a, b, mut c) = (make()?, make()?, make()?);
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &mut c)))
    }),
    row("matmul of views", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(N, N, N).on(cx, s)?;
        let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a.view(), &b, &mut c)))
    }),
    row("matmul with a bias", &["cublasLtMatmul"], |cx, s| {
        let mut plan = Matmul::<f32>::plan(N, N, N).bias().relu().on(cx, s)?;
        let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        let bias = vector(cx, s)?;
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &bias, &mut c)))
    }),
    row(
        "matmul with another bias than before",
        &["cublasLtMatmulDescSetAttribute", "cublasLtMatmul"],
        |cx, s| {
            let mut plan = Matmul::<f32>::plan(N, N, N).bias().on(cx, s)?;
            let (a, b, mut c) = (matrix(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
            let (mut bias, mut other) = (vector(cx, s)?, vector(cx, s)?);
            Ok(Box::new(move |s| {
                std::mem::swap(&mut bias, &mut other);
                plan.execute(s, &a, &b, &bias, &mut c)
            }))
        },
    ),
    row("axpy", &["cublasSaxpy_v2"], |cx, s| {
        let mut plan = Blas::<f32>::on(cx, s)?;
        let (x, mut y) = (vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.axpy(s, 2.0, &x, &mut y)))
    }),
    row("dot", &["cublasSdot_v2"], |cx, s| {
        let mut plan = Blas::<f32>::on(cx, s)?;
        let (x, y, mut sum) = (vector(cx, s)?, vector(cx, s)?, cx.tensor([1], s)?);
        Ok(Box::new(move |s| plan.dot(s, &x, &y, &mut sum)))
    }),
    row(
        "norm, and axpy after it",
        &["cublasSetPointerMode_v2", "cublasSnrm2_v2", "cublasSetPointerMode_v2", "cublasSaxpy_v2"],
        |cx, s| {
            let mut plan = Blas::<f32>::on(cx, s)?;
            let (x, mut y, mut sum) = (vector(cx, s)?, vector(cx, s)?, cx.tensor([1], s)?);
            Ok(Box::new(move |s| {
                plan.norm(s, &x, &mut sum)?;
                plan.axpy(s, 2.0, &x, &mut y)
            }))
        },
    ),
    row("gemv", &["cublasSgemv_v2"], |cx, s| {
        let mut plan = Blas::<f32>::on(cx, s)?;
        let (a, x, mut y) = (matrix(cx, s)?, vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.gemv(s, (1.0, &a, &x), (0.0, &mut y))))
    }),
    row("SpMV", &["cusparseSpMV"], |cx, s| {
        let a = diagonal(cx)?;
        let (mut plan, x, mut y) = (SpMv::plan(&a).on(cx, s)?, vector(cx, s)?, vector(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a, &x, &mut y)))
    }),
    row(
        "SpMV of another vector than before",
        &["cusparseDnVecSetValues", "cusparseSpMV"],
        |cx, s| {
            let a = diagonal(cx)?;
            let (mut plan, mut y) = (SpMv::plan(&a).on(cx, s)?, vector(cx, s)?);
            let (mut x, mut other) = (vector(cx, s)?, vector(cx, s)?);
            Ok(Box::new(move |s| {
                std::mem::swap(&mut x, &mut other);
                plan.execute(s, &a, &x, &mut y)
            }))
        },
    ),
    row("SpMM", &["cusparseSpMM"], |cx, s| {
        let a = diagonal(cx)?;
        let (mut plan, b, mut c) = (SpMm::plan(&a, N).on(cx, s)?, matrix(cx, s)?, matrix(cx, s)?);
        Ok(Box::new(move |s| plan.execute(s, &a, &b, &mut c)))
    }),
    row("Cholesky in place", &["cusolverDnXpotrf"], |cx, s| {
        let mut plan = Cholesky::<f32>::plan(N).on(cx, s)?;
        let mut a = Checked::new(matrix(cx, s)?, cx, s)?;
        Ok(Box::new(move |s| plan.factor_in_place(s, &mut a)))
    }),
    row(
        "Cholesky",
        &[
            "cuMemsetD8Async",
            "launch take",
            "cusolverDnXpotrf",
            "cuMemcpyDtoDAsync_v2",
            "cusolverDnXpotrs",
        ],
        |cx, s| {
            let mut plan = Cholesky::<f32>::plan(N).on(cx, s)?;
            let (a, b) = (matrix(cx, s)?, vector(cx, s)?);
            let mut x = Checked::new(vector(cx, s)?, cx, s)?;
            Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
        },
    ),
    row(
        "LU",
        &[
            "cuMemsetD8Async",
            "launch take",
            "cusolverDnXgetrf",
            "cuMemcpyDtoDAsync_v2",
            "cusolverDnXgetrs",
        ],
        |cx, s| {
            let mut plan = Lu::<f32>::plan(N).on(cx, s)?;
            let (a, b) = (matrix(cx, s)?, vector(cx, s)?);
            let mut x = Checked::new(vector(cx, s)?, cx, s)?;
            Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
        },
    ),
    row(
        "batched LU",
        &[
            "cuMemsetD8Async",
            "launch take",
            "cublasSgetrfBatched",
            "cuMemcpyDtoDAsync_v2",
            "cublasSgetrsBatched",
            "cuMemcpyDtoDAsync_v2",
        ],
        |cx, s| {
            let mut plan = Lu::<f32>::plan(2).batch(3).on(cx, s)?;
            let (a, b) = (cx.tensor::<f32>([3, 2, 2], s)?, cx.tensor::<f32>([3, 2], s)?);
            let mut x = Checked::of_batch(3, cx.tensor::<f32>([3, 2], s)?, cx, s)?;
            Ok(Box::new(move |s| plan.solve(s, &a, &b, &mut x)))
        },
    ),
    row(
        "QR",
        &[
            "launch transpose",
            "cusolverDnXgeqrf",
            "launch upper",
            "cusolverDnSorgqr",
            "launch transpose",
        ],
        |cx, s| {
            let mut plan = Qr::<f32>::plan(N, N).on(cx, s)?;
            let (a, mut out) = (matrix(cx, s)?, plan.result(cx, s)?);
            Ok(Box::new(move |s| plan.execute(s, &a, &mut out)))
        },
    ),
    row("SVD", &["cuMemcpyDtoDAsync_v2", "cusolverDnXgesvd"], |cx, s| {
        let mut plan = Svd::<f32>::plan(N, N).on(cx, s)?;
        let (a, mut out) = (matrix(cx, s)?, plan.result(cx, s)?);
        Ok(Box::new(move |s| plan.execute_blocking(s, &a, &mut out)))
    }),
    row("eigenvalues", &["cuMemcpyDtoDAsync_v2", "cusolverDnXsyevd"], |cx, s| {
        let mut plan = Eigen::<f32>::plan(N).on(cx, s)?;
        let (a, mut out) = (matrix(cx, s)?, plan.result(cx, s)?);
        Ok(Box::new(move |s| plan.execute_blocking(s, &a, &mut out)))
    }),
];

fn vector(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Tensor<f32>, Error> {
    cx.tensor([N], stream)
}

fn matrix(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Tensor<f32>, Error> {
    cx.tensor([N, N], stream)
}

fn complex(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Tensor<Complex<f32>>, Error> {
    cx.tensor([N], stream)
}

fn diagonal(cx: &ExecutionContext) -> Result<Csr<f32>, Error> {
    Csr::upload(cx, [N, N], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[2.0; N])
}

/// Calls plans.
#[operator(no_new, streams(work))]
struct Calls {
    /// What it finds otherwise than the rows say.
    #[output]
    wrong: HostData<Vec<String>>,
    what: What,
}

/// What it calls.
enum What {
    /// Each plan, with the log of all calls.
    Each { log: String },
    /// The plan of a row, of which a function fails.
    One(&'static Row),
    /// The same, after another library has made another device current.
    Elsewhere(&'static Row),
}

impl Compute for Calls {
    fn compute(&mut self, io: CallsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut wrong = Vec::new();
        match &self.what {
            What::Each { log } => {
                for row in ROWS {
                    let made = steady_calls(row, log, cx, &stream)?;
                    if made != row.calls {
                        wrong.push(format!("{}: {made:?}, not {:?}", row.name, row.calls));
                    }
                }
            }
            What::One(row) => (row.make)(cx, &stream)?(&stream)?,
            What::Elsewhere(row) => {
                let mut call = (row.make)(cx, &stream)?;
                make_current(1).map_err(Failure::msg)?;
                call(&stream)?;
            }
        }
        io.wrong.emit(HostData(wrong))
    }
}

/// The names in the log that one call adds, after others.
fn steady_calls(
    row: &Row,
    log: &str,
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<Vec<String>> {
    let mut call = (row.make)(cx, stream)?;
    // An even number, so that operands that alternate are again those of the begin.
    for _ in 0..4 {
        call(stream)?;
    }
    let before = fs::read_to_string(log)?.len();
    call(stream)?;
    let log = fs::read_to_string(log)?;
    Ok(log[before..].lines().map(|line| line.trim_start_matches("call ").to_owned()).collect())
}

/// The child's side.
pub(crate) fn play() -> Result<(), Failed> {
    let log = std::env::var(LOG)?;
    let file: File = OpenOptions::new().append(true).create(true).open(Path::new(&log))?;
    let cuda = Platform::builder().race_check(false).cuda()?;
    let driver = Arc::new(Unlaunched::new(cuda.driver().clone(), file));
    let platform = Platform::builder().race_check(false).driver(driver)?;
    let is_lost = std::env::var_os(FAULT).is_some();
    match std::env::var(FAILS) {
        Err(_) => play_steady(&platform, log),
        Ok(function) if is_lost => play_lost(&platform, &function),
        Ok(function) => play_failing(&platform, &function),
    }
}

/// The function fails since the context is lost.
fn play_lost(platform: &Platform, function: &str) -> Result<(), Failed> {
    let row = ROWS.iter().find(|row| row.calls.contains(&function));
    let row = row.ok_or(Failed::msg("no plan calls it"))?;
    let mut harness = OperatorHarness::new(platform, Calls { what: What::One(row) })?;
    let text = check_error(row.name, harness.tick(), |_| true)?;
    let in_compute = "operator `Calls` failed in `compute`";
    check_text(&text, &[in_compute, function, "ILLEGAL_ADDRESS", "start the process again"])?;
    let sent = harness.take(|ports| &mut ports.wrong);
    check(sent.is_none(), || "the failed tick has sent something".to_owned())?;
    // The device is lost for the next operator, too.
    let again = OperatorHarness::new(platform, Calls { what: What::One(row) });
    let text = check_error("another operator", again.map(drop), |_| true)?;
    check_text(&text, &["unusable since", function])
}

fn play_steady(platform: &Platform, log: String) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Calls { what: What::Each { log } })?;
    harness.tick()?;
    let wrong = harness.take(|ports| &mut ports.wrong).ok_or(Failed::msg("nothing was sent"))?;
    check(wrong.message.is_empty(), || wrong.message.join("\n"))?;
    Ok(harness.stop()?)
}

fn play_failing(platform: &Platform, function: &str) -> Result<(), Failed> {
    for row in ROWS.iter().filter(|row| row.calls.contains(&function)) {
        let mut harness = OperatorHarness::new(platform, Calls { what: What::One(row) })?;
        let text = check_error(row.name, harness.tick(), |_| true)?;
        let in_compute = "operator `Calls` failed in `compute`";
        check_text(&text, &[in_compute, "failed: ", "(7); ", library_of(function)])?;
        let sent = harness.take(|ports| &mut ports.wrong);
        check(sent.is_none(), || format!("{}: the failed tick has sent something", row.name))?;
        // A transform is executed when its plan is made, so that this fails.
        if function == "cublasLtMatmul" {
            let what = What::Elsewhere(row);
            let mut harness = OperatorHarness::new(platform, Calls { what })?;
            let text = check_error(row.name, harness.tick(), |_| true)?;
            check_text(&text, &["another device than the stream's is current on this thread"])?;
        }
    }
    Ok(())
}

/// The name of a function's library in messages.
fn library_of(function: &str) -> &'static str {
    const BY_PREFIX: [(&str, &str); 5] = [
        ("cufft", " of cuFFT"),
        ("cublasLt", " of cuBLASLt"),
        ("cublas", " of cuBLAS"),
        ("cusparse", " of cuSPARSE"),
        ("cusolver", " of cuSOLVER"),
    ];
    let known = BY_PREFIX.iter().find(|(prefix, _)| function.starts_with(prefix));
    known.map_or("no library", |(_, name)| name)
}

/// One call of each plan makes the calls of its row.
pub(crate) fn steady() -> Result<(), Failed> {
    run(&[])
}

/// A library's function fails, and the context is lost.
pub(crate) fn lost() -> Result<(), Failed> {
    // The driver asks the stream, since a library's status does not say so.
    let fault = "cuStreamQuery 0 700 CUDA_ERROR_ILLEGAL_ADDRESS lost";
    run(&[(FAILS, "cublasLtMatmul"), (FAULT, fault)])
}

/// Each function fails in turn.
pub(crate) fn failing() -> Result<(), Failed> {
    let functions: BTreeSet<_> = ROWS.iter().flat_map(|row| row.calls).collect();
    let of_libraries = functions.into_iter().filter(|name| library_of(name) != "no library");
    of_libraries.copied().try_for_each(|function| run(&[(FAILS, function)]))
}

fn run(more: &[(&str, &str)]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (cuda, libraries) = (folder.path().join("lib"), folder.path().join("libraries"));
    library::install(&cuda)?;
    fs::create_dir(&libraries)?;
    let fake = library::beside(library::LIBRARIES).ok_or_else(|| Failed::msg("no path"))?;
    for file in FILES {
        fs::copy(&fake, libraries.join(file))?;
    }
    let paths = [cuda, libraries, folder.path().join("log")];
    let [cuda, libraries, log] = paths.map(|path| path.to_string_lossy().into_owned());
    let mut variables =
        vec![("LD_LIBRARY_PATH", &*cuda), ("STREAMFLOW_LIBRARY_DIR", &*libraries), (LOG, &*log)];
    variables.extend(more);
    child::run(ROLE, &variables)
}
