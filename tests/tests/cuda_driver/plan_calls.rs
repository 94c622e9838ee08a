//! Checks which calls of CUDA and of its libraries a steady call of each plan makes, by name and in order. Runs on the
//! `libcuda` of the tests, with libraries that do nothing (`fake_libraries`).

#[path = "plan_calls/rows.rs"]
mod rows;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::foreign::make_current;
use streamflow_tests::layers::Unlaunched;
use streamflow_tests::{Failed, check, check_error, check_text, child};

use self::rows::{ROWS, Row};
use super::library;

/// The role of the child process that runs these tests.
pub(crate) const ROLE: &str = "plan calls";

/// The environment variable that names the file with the log of all calls.
const LOG: &str = "STREAMFLOW_FAKE_CUDA_LOG";

/// The environment variable that names the library function that fails.
const FAILS: &str = "STREAMFLOW_FAKE_LIBRARIES_FAIL";

/// The environment variable that names a library function whose first call finds no memory, and the status that it
/// returns.
const SHORT: &str = "STREAMFLOW_FAKE_LIBRARIES_SHORT";

/// The functions that allocate memory of the device, each with the library's status for none.
const ALLOCATE: [(&str, &str); 6] = [
    ("cufftMakePlanMany64", "2"),
    ("cublasCreate_v2", "3"),
    ("cusolverDnCreate", "2"),
    ("cusparseCreate", "2"),
    ("cudssCreate", "2"),
    ("cudssExecute", "2"),
];

/// The environment variable that makes the child call each plan on another stream than the plan's own.
const CAPTURING: &str = "STREAMFLOW_TESTS_CAPTURING";

/// The environment variable that names the CUDA call that fails.
const FAULT: &str = "STREAMFLOW_FAKE_CUDA_FAULT";

/// The file names of the libraries.
const FILES: [&str; 6] = [
    "libcufft.so",
    "libcublasLt.so",
    "libcublas.so",
    "libcusolver.so",
    "libcusparse.so",
    "libcudss.so",
];

/// The prefixes of the libraries' function names.
const LIBRARIES: [&str; 5] = ["cufft", "cublas", "cusolver", "cusparse", "cudss"];

/// An operator that calls plans.
#[operator(no_new, streams(work))]
struct Calls {
    /// The differences between the calls that were made and the rows.
    #[output]
    wrong: HostData<Vec<String>>,
    what: What,
}

/// Which plans the operator calls.
enum What {
    /// Calls each plan. `log` is the file with all calls, and `rule` judges them.
    Each { log: String, rule: Rule },
    /// Calls the plan of one row, whose library function fails.
    One(&'static Row),
    /// Calls the plan of one row, after another library has made another device current.
    Elsewhere(&'static Row),
}

/// Returns how the calls that were made differ from those of a row, if they do.
type Rule = fn(&Row, &[String]) -> Option<String>;

impl Compute for Calls {
    fn compute(&mut self, io: CallsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut wrong = Vec::new();
        match &self.what {
            What::Each { log, rule } => {
                // All plans are kept until the end: another thread gives dropped plans back, and its calls would be
                // logged between those of the next plan.
                let mut plans = Vec::new();
                for row in ROWS {
                    let before = fs::read_to_string(log)?.len();
                    let mut call = (row.make)(cx, &stream)?;
                    let making = fs::read_to_string(log)?.split_off(before);
                    if !waits_after_making(&making) {
                        wrong.push(format!(
                            "{}: nothing waits for what was queued: {making}",
                            row.name
                        ));
                    }
                    let made = steady_calls(&mut *call, log, &stream)?;
                    plans.push(call);
                    wrong.extend(rule(row, &made));
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

/// Whether the default stream is recorded, and waited for, after the library has made the plan's last part.
fn waits_after_making(log: &str) -> bool {
    let calls: Vec<_> = log.lines().map(|line| line.trim_start_matches("call ")).collect();
    let is_library = |call: &str| LIBRARIES.iter().any(|library| call.starts_with(library));
    let makes = |call: &str| call.contains("Create") || call.contains("MakePlan");
    let made = calls.iter().rposition(|call| is_library(call) && makes(call));
    let waits = calls.windows(2).rposition(|two| two == ["cuEventRecord", "cuStreamWaitEvent"]);
    made < waits
}

/// The rule that exactly the row's calls are made.
fn steadily(row: &Row, made: &[String]) -> Option<String> {
    (made != row.calls).then(|| format!("{}: {made:?}, not {:?}", row.name, row.calls))
}

/// The CUDA calls that a capture makes.
const CAPTURES: [&str; 8] = [
    "cuCtxGetCurrent",
    "cuGraphCreate",
    "cuStreamCreateWithPriority",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuGraphGetNodes",
    "cuGraphDestroy",
    "cuStreamDestroy_v2",
];

/// The rule for captured calls: the row's calls, plus those of the capture, plus those that set a handle's stream.
/// Functions that may be captured are called during a capture, on another stream than their handle's own, and the handle
/// gets its own stream back. cuBLASLt has no handle with a stream.
fn captured(row: &Row, made: &[String]) -> Option<String> {
    let sets = |name: &str| name.contains("SetStream") || name.contains("SetWorkspace");
    // Making or destroying an object has a line of its own in the log.
    let is_capture = |name: &str| CAPTURES.contains(&name) || name.starts_with(['+', '-']);
    let is_other = |name: &&String| !sets(name) && !is_capture(name);
    let others: Vec<_> = made.iter().filter(is_other).cloned().collect();
    let (mut is_begun, mut is_moved, mut is_right) = (false, false, true);
    for (place, name) in made.iter().enumerate() {
        let is_lt = name.starts_with("cublasLt");
        let is_blas = name.starts_with("cublas") && !is_lt;
        match &**name {
            "cuStreamBeginCapture_v2" => is_begun = true,
            "cuStreamEndCapture" => is_begun = false,
            name if name.contains("SetStream") => {
                is_moved = !is_moved;
                // A cuBLAS handle loses its work area when its stream is set.
                let next = made.get(place + 1).map(String::as_str);
                is_right &= !is_blas || next == Some("cublasSetWorkspace_v2");
            }
            name if sets(name) || is_capture(name) => {}
            name => {
                let has_stream = ["cufft", "cusparse"].iter().any(|it| name.starts_with(it));
                let may_be = (has_stream || is_blas || is_lt) && !name.ends_with("Batched");
                is_right &= is_begun == may_be;
                // Whether scalars are on the host or the device does not depend on the stream.
                is_right &= is_moved == (may_be && !is_lt) || name.contains("PointerMode");
            }
        }
    }
    is_right &= !is_moved;
    steadily(row, &others).or_else(|| (!is_right).then(|| format!("{}: {made:?}", row.name)))
}

/// Returns the names of the logged calls that one call of a plan adds, after several calls.
fn steady_calls(
    call: &mut dyn FnMut(&Stream<'_>) -> Result<(), Error>,
    log: &str,
    stream: &Stream<'_>,
) -> Result<Vec<String>> {
    // The number of calls is even, so that operands which alternate are again those of the beginning.
    for _ in 0..4 {
        call(stream)?;
    }
    let before = fs::read_to_string(log)?.len();
    call(stream)?;
    let log = fs::read_to_string(log)?;
    Ok(log[before..].lines().map(|line| line.trim_start_matches("call ").to_owned()).collect())
}

/// Runs in the child process: calls the plans as the environment variables say.
pub(crate) fn play() -> Result<(), Failed> {
    let log = std::env::var(LOG)?;
    let file: File = OpenOptions::new().append(true).create(true).open(Path::new(&log))?;
    let cuda = Platform::builder().race_check(false).cuda()?;
    let below = cuda.driver().clone();
    let (driver, rule): (_, Rule) = match std::env::var_os(CAPTURING) {
        Some(_) => (Unlaunched::capturing(below, file), captured),
        None => (Unlaunched::new(below, file), steadily),
    };
    let platform = Platform::builder().race_check(false).driver(Arc::new(driver))?;
    let is_lost = std::env::var_os(FAULT).is_some();
    if let Ok(short) = std::env::var(SHORT) {
        return play_short(&platform, &short, &log);
    }
    match std::env::var(FAILS) {
        Err(_) => play_steady(&platform, log, rule),
        Ok(function) if is_lost => play_lost(&platform, &function),
        Ok(function) => play_failing(&platform, &function),
    }
}

/// Checks that the function fails because the context is lost.
fn play_lost(platform: &Platform, function: &str) -> Result<(), Failed> {
    let row = ROWS.iter().find(|row| row.calls.contains(&function));
    let row = row.ok_or(Failed::msg("no plan calls it"))?;
    let mut harness = OperatorHarness::new(platform, Calls { what: What::One(row) })?;
    let text = check_error(row.name, harness.tick(), |_| true)?;
    let in_compute = "operator `Calls` failed in `compute`";
    check_text(&text, &[in_compute, function, "ILLEGAL_ADDRESS", "start the process again"])?;
    let sent = harness.take(|ports| &mut ports.wrong);
    check(sent.is_none(), || "the failed tick has sent something".to_owned())?;
    // The device is also lost for the next operator.
    let again = OperatorHarness::new(platform, Calls { what: What::One(row) });
    let text = check_error("another operator", again.map(drop), |_| true)?;
    check_text(&text, &["unusable since", function])
}

fn play_steady(platform: &Platform, log: String, rule: Rule) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Calls { what: What::Each { log, rule } })?;
    harness.tick()?;
    let wrong = harness.take(|ports| &mut ports.wrong).ok_or(Failed::msg("nothing was sent"))?;
    check(wrong.message.is_empty(), || wrong.message.join("\n"))?;
    Ok(harness.stop()?)
}

/// Checks a library function that finds no memory, and finds some after the platform has given its free memory back.
fn play_short(platform: &Platform, short: &str, log: &str) -> Result<(), Failed> {
    let function = short.split_whitespace().next().unwrap_or_default();
    let prefix = &function[..5];
    let is_own = |call: &&str| call.starts_with(prefix) && !call.starts_with("cublasLt");
    let row = ROWS.iter().find(|row| row.calls.iter().any(is_own));
    let row = row.ok_or(Failed::msg("no plan calls its library"))?;
    let mut harness = OperatorHarness::new(platform, Calls { what: What::One(row) })?;
    harness.tick()?;
    let log = fs::read_to_string(log)?;
    let calls = log.lines().map(|line| line.trim_start_matches("call "));
    let is_one = |call: &&str| [function, "cuMemPoolTrimTo"].contains(call);
    let mut seen: Vec<_> = calls.filter(is_one).collect();
    // The platform trims the memory of each device.
    seen.dedup();
    check(seen.starts_with(&[function, "cuMemPoolTrimTo", function]), || format!("{seen:?}"))
}

fn play_failing(platform: &Platform, function: &str) -> Result<(), Failed> {
    for row in ROWS.iter().filter(|row| row.calls.contains(&function)) {
        let mut harness = OperatorHarness::new(platform, Calls { what: What::One(row) })?;
        let text = check_error(row.name, harness.tick(), |_| true)?;
        let in_compute = "operator `Calls` failed in `compute`";
        check_text(&text, &[in_compute, "failed: ", "(7); ", library_of(function)])?;
        let sent = harness.take(|ports| &mut ports.wrong);
        check(sent.is_none(), || format!("{}: the failed tick has sent something", row.name))?;
        // A transform's plan is executed when it is made, so making it fails.
        if function == "cublasLtMatmul" {
            let what = What::Elsewhere(row);
            let mut harness = OperatorHarness::new(platform, Calls { what })?;
            let text = check_error(row.name, harness.tick(), |_| true)?;
            check_text(&text, &["another device than the stream's is current on this thread"])?;
        }
    }
    Ok(())
}

/// Returns the name that messages use for a function's library.
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

/// Checks that a call of each plan makes exactly the calls of its row.
pub(crate) fn steady() -> Result<(), Failed> {
    run(&[])
}

/// Checks that each plan that may be captured makes its calls on the stream that it gets.
pub(crate) fn capturing() -> Result<(), Failed> {
    run(&[(CAPTURING, "1")])
}

/// A library's function fails, and the context is lost.
pub(crate) fn lost() -> Result<(), Failed> {
    // `cuStreamQuery` fails here: the driver queries the stream, since a library's status does not say that the context
    // is lost.
    let fault = "cuStreamQuery 0 700 CUDA_ERROR_ILLEGAL_ADDRESS lost";
    run(&[(FAILS, "cublasLtMatmul"), (FAULT, fault)])
}

/// Checks every library function that finds no memory in its first call.
pub(crate) fn short() -> Result<(), Failed> {
    ALLOCATE
        .iter()
        .try_for_each(|(function, status)| run(&[(SHORT, &format!("{function} {status}"))]))
}

/// Lets each library function fail, one after the other.
pub(crate) fn failing() -> Result<(), Failed> {
    let functions: BTreeSet<_> = ROWS.iter().flat_map(|row| row.calls).collect();
    let of_libraries = functions.into_iter().filter(|name| library_of(name) != "no library");
    of_libraries.copied().try_for_each(|function| run(&[(FAILS, function)]))
}

/// The environment variable of a directory that contains the libraries' directory, and the path between the two.
type Place = (&'static str, &'static str);

const NAMED: Place = ("STREAMFLOW_LIBRARY_DIR", "");

/// Where a CUDA toolkit and NVIDIA's Python wheels install their libraries.
const INSTALLED: [Place; 2] =
    [("CUDA_HOME", "lib64"), ("VIRTUAL_ENV", "lib/python3.12/site-packages/nvidia/cu13/lib")];

/// Checks that the libraries are found where a toolkit installs them, and in the active Python environment.
pub(crate) fn installed() -> Result<(), Failed> {
    // A toolkit that this machine has is searched before the wheels.
    let has_toolkit = || {
        let mut entries = fs::read_dir("/usr/local").into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().starts_with("cuda"))
    };
    let places = if has_toolkit() { &INSTALLED[..1] } else { &INSTALLED };
    places.iter().try_for_each(|place| run_with(*place, &[]))
}

fn run(more: &[(&str, &str)]) -> Result<(), Failed> {
    run_with(NAMED, more)
}

fn run_with((variable, below): Place, more: &[(&str, &str)]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (cuda, root) = (folder.path().join("lib"), folder.path().join("root"));
    library::install(&cuda)?;
    let libraries = root.join(below);
    fs::create_dir_all(&libraries)?;
    let fake = library::beside(library::LIBRARIES).ok_or_else(|| Failed::msg("no path"))?;
    for file in FILES {
        fs::copy(&fake, libraries.join(format!("{file}.12")))?;
    }
    let paths = [cuda, root, folder.path().join("log")];
    let [cuda, root, log] = paths.map(|path| path.to_string_lossy().into_owned());
    // The files that the environment of the tests names must not be found.
    let others = [NAMED.0, "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"];
    let mut variables: Vec<_> = others.map(|name| (name, "")).to_vec();
    variables.extend([("LD_LIBRARY_PATH", &*cuda), (variable, &*root), (LOG, &*log)]);
    variables.extend(more);
    child::run("cuda_driver", ROLE, &variables)
}
