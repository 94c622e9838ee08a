//! NVIDIA's libraries when a GPU is present and a library is missing or too old: `start` fails once, with an
//! error that names the operator, the library, and what to do.

use std::fs;

use streamflow::prelude::*;
use streamflow_math::fft::Fft;
use streamflow_math::matmul::{Blas, Matmul};
use streamflow_math::solve::{DirectSolver, Lu};
use streamflow_math::sparse::{Csr, SpMv};
use streamflow_tests::{Failed, check_equal, check_error, check_text, child, cudss};

use super::library;

/// The role of the child processes.
pub(crate) const ROLE: &str = "libraries";

/// The environment variable with the name of the library, and of the expected error.
const EXPECTED: &str = "STREAMFLOW_TEST_EXPECTED";

type Plan = fn(&ExecutionContext, &Stream<'_>) -> Result<(), Error>;

/// A library: its name, its file, its wheels for CUDA 12 and 13, the first function that is looked up, and a plan
/// that uses it.
type Library = (&'static str, &'static str, [&'static str; 2], &'static str, Plan);

const LIBRARIES: &[Library] = &[
    ("cuFFT", "libcufft.so", ["nvidia-cufft-cu12", "nvidia-cufft"], "cufftCreate", |cx, stream| {
        Fft::<f32>::plan([8]).on(cx, stream).map(drop)
    }),
    (
        "cuBLASLt",
        "libcublasLt.so",
        ["nvidia-cublas-cu12", "nvidia-cublas"],
        "cublasLtCreate",
        |cx, stream| Matmul::<f32>::plan(2, 2, 2).on(cx, stream).map(drop),
    ),
    (
        "cuBLAS",
        "libcublas.so",
        ["nvidia-cublas-cu12", "nvidia-cublas"],
        "cublasCreate_v2",
        |cx, stream| Blas::<f32>::on(cx, stream).map(drop),
    ),
    (
        "cuSOLVER",
        "libcusolver.so",
        ["nvidia-cusolver-cu12", "nvidia-cusolver"],
        "cusolverDnCreate",
        |cx, stream| Lu::<f32>::plan(2).on(cx, stream).map(drop),
    ),
    (
        "cuSPARSE",
        "libcusparse.so",
        ["nvidia-cusparse-cu12", "nvidia-cusparse"],
        "cusparseCreate",
        |cx, stream| {
            let matrix = Csr::upload(cx, [1, 1], &[0, 1], &[0], &[1.0_f32])?;
            SpMv::plan(&matrix).on(cx, stream).map(drop)
        },
    ),
    (
        "cuDSS",
        "libcudss.so",
        ["nvidia-cudss-cu12", "nvidia-cudss-cu13"],
        "cudssCreate",
        |cx, stream| {
            let matrix = Csr::upload(cx, [1, 1], &[0, 1], &[0], &[1.0_f32])?;
            DirectSolver::plan(&matrix).on_blocking(cx, stream).map(drop)
        },
    ),
];

/// An operator that makes a library's plan in `start`.
#[operator(streams(work))]
struct Plans {
    #[output]
    ticks: u64,
    plan: Plan,
}

impl Compute for Plans {
    fn start(&mut self, streams: PlansStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.work)?;
        Ok((self.plan)(cx, &stream)?)
    }

    fn compute(&mut self, io: PlansIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.ticks.emit(cx.tick())
    }
}

graph! {
    struct PlansApp(plan: Plan) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(1);

        #[streams(STREAMS)] #[when(count(1))]
        let plans: Plans = Plans::new(plan);

        plans.ticks >> _;
    }
}

/// Runs the graph with each library in turn.
pub(crate) fn play() -> Result<(), Failed> {
    let expected = std::env::var(EXPECTED)?;
    let is_old = expected == "old";
    for &(name, file, wheels, function, plan) in LIBRARIES {
        // This package has the mathematics with the default feature, CUDA 13, so the error names that wheel.
        let [_, wheel] = wheels;
        let install = if is_old { "pip install -U" } else { "pip install" };
        let platform = Platform::builder().race_check(false).cuda()?;
        let run = PlansApp::new(&platform, plan)?.run();
        let text = check_error(name, run.map(drop), |_| true)?;
        let problem = match is_old {
            true => format!("has no function `{function}`"),
            false => format!("holds no {file}"),
        };
        check_text(
            &text,
            &[
                "operator `plans` failed in `start`",
                name,
                &problem,
                &format!("`{install} {wheel}`"),
            ],
        )?;
        check_equal(text.matches(name).count(), if is_old { 2 } else { 1 })?;
    }
    // Without cuDSS, the tests that need it are skipped with this reason.
    let missing = cudss::missing(&Platform::builder().race_check(false).cuda()?);
    check_text(&missing.unwrap_or_default(), &["cuDSS", "pip install"])?;
    check_equal(cudss::missing(&Platform::host().build()?), None)
}

/// Checks the error when the named folder has no library.
pub(crate) fn absent() -> Result<(), Failed> {
    run("absent", |_| Ok(()))
}

/// Checks the error when a file with the library's name lacks all of its functions, as an old version lacks some.
pub(crate) fn old() -> Result<(), Failed> {
    run("old", |folder| {
        library::install(folder)?;
        LIBRARIES.iter().try_for_each(|(_, file, ..)| {
            fs::copy(folder.join("libcuda.so"), folder.join(file))?;
            Ok(())
        })
    })
}

fn run(
    expected: &str,
    fill: impl FnOnce(&std::path::Path) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (cuda, libraries) = (folder.path().join("lib"), folder.path().join("libraries"));
    library::install(&cuda)?;
    fs::create_dir(&libraries)?;
    fill(&libraries)?;
    let [cuda, libraries] = [cuda, libraries].map(|path| path.to_string_lossy().into_owned());
    let variables = [
        ("LD_LIBRARY_PATH", &*cuda),
        ("STREAMFLOW_LIBRARY_DIR", &*libraries),
        (EXPECTED, expected),
    ];
    child::run("cuda_driver", ROLE, &variables)
}
