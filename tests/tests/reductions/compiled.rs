//! The CUDA text of reductions, and of scans, compiled as C++ for the host. The tests of the suites run on the simulator with that
//! code in the place of the Rust bodies.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use libloading::Library;
use streamflow::__private::{CudaBody, Described, KernelInfo, ParamKind, ScanKernel};
use streamflow::driver::host::HostDriver;
use streamflow::kernel::reductions::{ArgMax, ArgMin, Max, Min, Norm1, Norm2, NormInf};
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow_driver::driver::{
    Driver, DriverResult, HostArgs, HostKernel, KernelSource, Layer, LoadedKernel,
};
use streamflow_tests::{Failed, check};

const SHIM: &str = include_str!("../one_body/shim.hpp");
/// Before the shim, whose macros have names that these headers use.
const HEADERS: &str = "#include <functional>\n#include <ucontext.h>\n#include <vector>\n";
const THREADS: &str = include_str!("threads.hpp");
const BODY: &str = include_str!("../../../streamflow/src/kernel/cuda/body.cuh");
pub(crate) const LANES: &str = concat!(
    include_str!("../../../streamflow/src/kernel/cuda/lanes.cuh"),
    include_str!("../../../streamflow/src/kernel/cuda/reductions.cuh"),
);
const REDUCE: &str = include_str!("../../../streamflow/src/kernel/cuda/reduce.cuh");

type Test = fn(&Platform) -> Result<(), Failed>;

/// A test, and the kernels that it launches, each with a name of its own.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) test: Test,
    pub(crate) kernels: Vec<&'static KernelInfo>,
    /// The text behind that of lanes.
    pub(crate) tree: &'static str,
    /// A mistake: a text, and the text in its place.
    pub(crate) edit: Option<Edit>,
}

pub(crate) type Edit = (&'static str, &'static str);

fn info<K: ScanKernel>() -> &'static KernelInfo {
    Described::<K>::INFO
}

fn case(name: &'static str, test: Test, kernels: Vec<&'static KernelInfo>) -> Case {
    Case { name, test, kernels, tree: REDUCE, edit: None }
}

fn cases() -> Vec<Case> {
    let extremes =
        vec![info::<Max<i32>>(), info::<Min<i32>>(), info::<ArgMax<i32>>(), info::<ArgMin<i32>>()];
    let of_nan =
        vec![info::<Max<f32>>(), info::<Min<f32>>(), info::<ArgMax<f32>>(), info::<ArgMin<f32>>()];
    let norms = vec![info::<Norm1<f32>>(), info::<Norm2<f32>>(), info::<NormInf<f32>>()];
    let of_ends = vec![info::<Norm1<f64>>(), info::<Norm2<f64>>(), info::<NormInf<f64>>()];
    let sum = || vec![info::<super::sum>()];
    vec![
        case("lengths", super::some_lengths, sum()),
        case("few lengths", super::few_lengths, sum()),
        case("few columns", super::few_columns, sum()),
        case("axes", super::each_axis, sum()),
        case("columns", super::columns, sum()),
        case("strides", super::strides, sum()),
        case("mapped", super::mapped, vec![info::<super::squares>()]),
        case("extremes", super::extremes, extremes),
        case("nans", super::nans, of_nan),
        case("norms", super::norms::each_norm, norms),
        case("ends of norms", super::norms::ends, of_ends),
        case("repeated", super::repeated, vec![info::<super::repeated_squares>()]),
    ]
}

pub(super) fn all() -> Result<Option<String>, Failed> {
    run_all(&cases())
}

/// Runs cases without a mistake.
pub(crate) fn run_all(cases: &[Case]) -> Result<Option<String>, Failed> {
    run(cases, |case, done| done.map_err(|error| Failed::msg(format!("{}: {error}", case.name))))
}

/// Runs each mistake in the case that it names: each one fails.
pub(crate) fn run_mistakes(
    cases: impl Fn() -> Vec<Case>,
    mistakes: &[(&'static str, &'static str, &'static str)],
) -> Result<Option<String>, Failed> {
    let edited = |&(name, from, to): &(&'static str, &'static str, &'static str)| {
        let case = cases().into_iter().find(|case| case.name == name);
        case.map(|case| Case { edit: Some((from, to)), ..case })
    };
    // Without debug assertions no launch is recorded, so `repeated` repeats none.
    let is_noticed = |name: &str| cfg!(debug_assertions) || name != "repeated";
    let noticed: Vec<_> = mistakes.iter().filter(|(name, ..)| is_noticed(name)).collect();
    let mistaken: Vec<Case> = noticed.iter().copied().filter_map(edited).collect();
    check(mistaken.len() == noticed.len(), || "a mistake names no case".to_owned())?;
    run(&mistaken, |case, done| {
        check(done.is_err(), || format!("no test notices `{}`", case.edit.unwrap_or_default().1))
    })
}

pub(super) fn mistakes() -> Result<Option<String>, Failed> {
    let mistakes = [
        (
            "few lengths",
            "op.combine(op.combine(sum[0], sum[1]), op.combine(sum[2], sum[3]))",
            "op.combine(op.combine(op.combine(sum[0], sum[1]), sum[2]), sum[3])",
        ),
        ("few lengths", "by = width / 2; by > 0; by /= 2", "by = 1; by < width; by *= 2"),
        (
            "few lengths",
            "value = lanes_of(op, value, lane, 8);",
            "value = lanes_of(op, value, lane, 4);",
        ),
        ("few lengths", "own.at = 4 * lane;", "own.at = 4 * (lane / 2 + lane % 2 * 16);"),
        (
            "few lengths",
            "if (own.at + c < own.end) sum[c] = op.combine(sum[c], values[c]);",
            "if (own.at + 4 <= own.end) sum[c] = op.combine(sum[c], values[c]);",
        ),
        (
            "few lengths",
            "op.of(words[k].at[c], own.at",
            "op.of(words[k].at[c == 1 ? 2 : c == 2 ? 1 : c], own.at",
        ),
        (
            "few lengths",
            "op.identity(), op.identity(), op.identity(), op.identity()",
            "op.identity(), op.identity(), op.identity(), 1",
        ),
        ("few columns", "own.by = of.parts;", "own.by = 1;"),
        ("strides", "return x * s3 + y * s2", "return x * s3 + y * s1"),
        ("mapped", "is_second ? parts[i]", "is_second ? op.of((In)parts[i], i)"),
        ("nans", "if (b != b) return b;", ""),
        (
            "repeated",
            "op.combine(op.combine(sum[0], sum[1]), op.combine(sum[2], sum[3]))",
            "op.combine(op.combine(op.combine(sum[0], sum[1]), sum[2]), sum[3])",
        ),
        ("repeated", "is_second ? parts[i]", "is_second ? op.of((In)parts[i], i)"),
        ("extremes", "return a.index < b.index ? a : b;", "return a;"),
    ];
    run_mistakes(cases, &mistakes)
}

/// Runs each case on a platform of its own, and judges its result.
fn run(
    cases: &[Case],
    judge: impl Fn(&Case, Result<(), Failed>) -> Result<(), Failed>,
) -> Result<Option<String>, Failed> {
    // The functions of C++ have numbers in the whole program.
    static TURN: Mutex<()> = Mutex::new(());
    let _alone = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = format!("{HEADERS}{}{THREADS}", SHIM.replace("static const Dim", "static Dim"));
    let mut all: Vec<&KernelInfo> = Vec::new();
    for case in cases {
        for info in &case.kernels {
            let mut operators = format!("{LANES}{}", case.tree);
            if let Some((from, to)) = case.edit {
                check(operators.contains(from), || format!("the text has no `{from}`"))?;
                operators = operators.replace(from, to);
            }
            write_kernel(&mut text, all.len(), info, &operators);
            all.push(info);
        }
    }
    if Command::new("g++").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Ok(Some("no g++".to_owned()));
    }
    let folder = tempfile::tempdir()?;
    let (source, built) =
        (folder.path().join("reductions.cpp"), folder.path().join("reductions.so"));
    fs::write(&source, &text)?;
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-o"]);
    let done = compiler.arg(&built).arg(&source).output()?;
    check(done.status.success(), || {
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        format!("g++: {}", text.lines().take(20).collect::<Vec<_>>().join("\n"))
    })?;
    // SAFETY: the library is the text above, without code that runs when it is loaded.
    let library =
        || unsafe { Library::new(&built) }.map_err(|error| Failed::msg(error.to_string()));
    let mut first = 0;
    for case in cases {
        let names = case.kernels.iter().map(|info| info.name).collect();
        let below: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        let layer = Compiled { below, names, first, library: library()? };
        first += case.kernels.len();
        let platform = Platform::builder().driver(Arc::new(layer))?;
        judge(case, (case.test)(&platform))?;
    }
    Ok(None)
}

fn write_kernel(text: &mut String, number: usize, info: &KernelInfo, operators: &str) {
    let body = match info.cuda {
        CudaBody::Made(made) => made(),
        CudaBody::Text(text) => text.to_owned(),
        CudaBody::Image(_) => String::new(),
    };
    let mut at = 0;
    let mut param = |name: String, ty: &str| {
        at += 1;
        format!("{ty} {name} = ({ty})params[{}];\n", 2 * (at - 1))
    };
    let number_of = "const unsigned long long";
    let mut params = String::new();
    for of in info.params {
        let name = of.name;
        let list = match of.kind {
            ParamKind::Elements | ParamKind::ElementsMut => {
                let ty = if name == "in" { "const void*" } else { "void*" };
                params += &param(name.to_owned(), ty);
                format!("streamflow_{name}_stride")
            }
            ParamKind::Shape => name.to_owned(),
            _ => {
                params += &param(name.to_owned(), number_of);
                continue;
            }
        };
        (0..4).for_each(|dim| params += &param(format!("{list}{dim}"), number_of));
    }
    let is_scan = info.params.iter().any(|param| param.name == "streamflow_tiles");
    let blocks = if is_scan { "blocks_of_scan" } else { "blocks_of_reduction" };
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\nnamespace k{number} {{\n{BODY}\n{operators}\n\
         static void kernel(const unsigned long long* params) {{\n{params}{body}\n}}\n}}\n\
         extern \"C\" void launch{number}(const unsigned long long* params) {{\n\
         run({blocks}(params), [=] {{ k{number}::kernel(params); }});\n}}\n",
    );
}

/// A function of C++, with the parameters of a launch.
type Entry = unsafe extern "C" fn(*const u64);

/// The functions by which the simulator calls those of C++: a body of the simulator is a function without a state.
const MOST: usize = 32;
static ENTRIES: [Mutex<Option<Entry>>; MOST] = [const { Mutex::new(None) }; MOST];

unsafe fn body<const N: usize>(args: HostArgs<'_>) {
    let entry = *ENTRIES[N].lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = entry {
        // SAFETY: the parameters are those of a launch of this kernel, each of 16 bytes.
        unsafe { entry(args.params.as_ptr().cast()) };
    }
}

macro_rules! bodies {
    ($($number:literal)*) => { [$(body::<$number>),*] };
}
const BODIES: [HostKernel; MOST] =
    bodies!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);

/// A simulator that runs functions of C++ for kernels with these names.
#[derive(Debug)]
struct Compiled {
    below: Arc<dyn Driver>,
    names: Vec<&'static str>,
    /// The number of the first of them.
    first: usize,
    library: Library,
}

// SAFETY: the functions of C++ touch the memory that the Rust bodies touch.
unsafe impl Layer for Compiled {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel> {
        let found = self.names.iter().position(|name| *name == source.name);
        let host = match found.map(|at| self.first + at) {
            Some(number) => {
                // SAFETY: the library has a function of this type and name for each kernel.
                let entry =
                    unsafe { self.library.get::<Entry>(format!("launch{number}").as_bytes()) };
                let entry = entry.ok().map(|entry| *entry);
                *ENTRIES[number].lock().unwrap_or_else(PoisonError::into_inner) = entry;
                Some(BODIES[number])
            }
            None => source.host,
        };
        let source = KernelSource { host, ..*source };
        // SAFETY: the caller keeps the contract of the same method.
        unsafe { self.below.load_kernel(device, &source) }
    }
}
