//! What a graph of 100 nodes costs to build.
//!
//! ```text
//! cargo bench -p streamflow-tests --bench build_time
//! ```
//!
//! Four programs of the same 100 steps are generated and built with `cargo build`, each from nothing but
//! its dependencies, in turns; medians. `by hand` is plain Rust: structs with streams, called one after
//! the other. `operators` has the steps as operators, each type in an `OperatorHarness`; `graph` has them in
//! a graph.
//! `empty` says what the compiler, the linker and cargo cost anyway.
#![allow(missing_docs, clippy::print_stdout, reason = "a benchmark")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs};

const NODES: usize = 100;
/// How many types of operators they are of.
const TYPES: usize = 20;
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<(), Box<dyn Error>> {
    // Kept from one time to the next, for the dependencies.
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("build_time");
    let programs = [
        ("empty", empty()),
        ("by hand", by_hand()),
        ("operators", operators()),
        ("graph", graph()),
    ];
    write_workspace(&root, &programs)?;
    for (name, source) in &programs {
        println!("{name:<10} {:>5} lines", source.lines().count());
        build(&root, name)?;
    }
    let mut times = programs.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((name, source), times) in programs.iter().zip(&mut times) {
            // Written anew, so that cargo takes it for changed.
            fs::write(main_file(&root, name), source)?;
            let start = Instant::now();
            build(&root, name)?;
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let [empty, by_hand, operators, graph] = times.map(median);
    println!(
        "cargo build, {NODES} nodes of {TYPES} types of operators, without incremental compilation"
    );
    for (name, time) in
        [("empty", empty), ("by hand", by_hand), ("operators", operators), ("graph", graph)]
    {
        println!("{name:<10} {time:>6.2} s");
    }
    println!("the graph beyond the form by hand: {:+.2} s", graph - by_hand);
    println!("the graph beyond its operators:    {:+.2} s", graph - operators);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn package(name: &str) -> String {
    name.replace(' ', "_")
}

fn main_file(root: &Path, name: &str) -> PathBuf {
    root.join(package(name)).join("src/main.rs")
}

fn write_workspace(root: &Path, programs: &[(&str, String)]) -> Result<(), Box<dyn Error>> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let mut members = String::new();
    for (name, source) in programs {
        let package = package(name);
        write!(members, "{package:?}, ")?;
        fs::create_dir_all(root.join(&package).join("src"))?;
        fs::write(main_file(root, name), source)?;
        let manifest = format!(
            "[package]\nname = {package:?}\nedition = \"2024\"\n\n\
             [dependencies]\nstreamflow = {{ path = {:?} }}\n",
            ours.join("streamflow")
        );
        fs::write(root.join(&package).join("Cargo.toml"), manifest)?;
    }
    let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n");
    fs::write(root.join("Cargo.toml"), workspace)?;
    // The same versions as ours, which are here already.
    fs::copy(ours.join("Cargo.lock"), root.join("Cargo.lock"))?;
    Ok(())
}

fn build(root: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--quiet", "--offline", "--package", &package(name)])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{name}` does not build:\n{text}").into())
}

fn empty() -> String {
    "fn main() -> streamflow::Result<()> {\n    streamflow::Platform::host().build().map(drop)\n}\n"
        .into()
}

const KERNEL: &str = "
#[kernel(unsafe cuda = \"
    unsigned long long i = thread_index();
    if (i < data_len) data[i] += value;
\")]
fn add(data: &mut [f32], value: f32) {
    data.iter_mut().for_each(|x| *x += value);
}
";

fn by_hand() -> String {
    let mut text = format!("use streamflow::prelude::*;\n{KERNEL}");
    for i in 0..TYPES {
        let _ = write!(
            text,
            "
struct Step{i} {{
    stream: CudaStream,
    value: f32,
}}

impl Step{i} {{
    fn step(&mut self, mut data: Tensor<f32>) -> Result<Tensor<f32>> {{
        self.stream.launch::<add>(data.len(), (&mut data, self.value + {i}.0))?;
        Ok(data)
    }}
}}
"
        );
    }
    text += "\nstruct App {\n    platform: Platform,\n    source: CudaStream,\n";
    for i in 0..NODES {
        let _ = writeln!(text, "    node{i}: Step{},", i % TYPES);
    }
    text +=
        "    sums: Vec<f32>,\n}\n\nimpl App {\n    fn new(platform: &Platform) -> Result<Self> {\n";
    text += "        let pool = platform.stream_pool(\"STREAMS\", &CudaStreamPool::new())?;\n";
    text += "        Ok(Self {\n            platform: platform.clone(),\n";
    text += "            source: pool.allocate(\"source\")?,\n";
    for i in 0..NODES {
        let (ty, stream) = (i % TYPES, format!("pool.allocate(\"node{i}\")?"));
        let _ =
            writeln!(text, "            node{i}: Step{ty} {{ stream: {stream}, value: {i}.0 }},");
    }
    text += "            sums: Vec::new(),\n        })\n    }\n\n    fn tick(&mut self) -> Result<()> {\n";
    text += "        let mut data = self.platform.tensor([100], &self.source)?;\n";
    text += "        self.source.launch::<add>(data.len(), (&mut data, 1.0))?;\n";
    for i in 0..NODES {
        let _ = writeln!(text, "        let data = self.node{i}.step(data)?;");
    }
    text += "        let sums = self.platform.download(&data, &self.source)?;\n";
    text += "        self.sums.push(sums.wait_blocking()?[0]);\n        Ok(())\n    }\n}\n";
    text + "
fn main() -> Result<()> {
    let mut app = App::new(&Platform::host().build()?)?;
    (0..10).try_for_each(|_| app.tick())
}
"
}

fn operators() -> String {
    let mut text = format!(
        "#![allow(dead_code)]
use streamflow::prelude::*;
{KERNEL}
#[operator(streams(fill))]
struct Source {{
    #[output]
    data: Tensor<f32>,
}}

impl Compute for Source {{
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {{
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut data = cx.tensor([100], &stream)?;
        stream.launch::<add>(data.len(), (&mut data, 1.0))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }}
}}

#[operator]
struct Sink {{
    #[input]
    data: &Tensor<f32>,
    sums: Vec<f32>,
}}

impl Compute for Sink {{
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {{
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let sums = cx.download(data, &stream)?;
        self.sums.push(sums.wait_blocking()?[0]);
        Ok(())
    }}
}}
"
    );
    for i in 0..TYPES {
        let _ = write!(
            text,
            "
#[operator]
struct Step{i} {{
    #[input]
    data: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    value: f32,
}}

impl Compute for Step{i} {{
    fn compute(&mut self, io: Step{i}Io<'_>, cx: &ExecutionContext) -> Result<()> {{
        let (mut data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        stream.launch::<add>(data.len(), (&mut data, self.value + {i}.0))?;
        io.out.emit(data)
    }}
}}
"
        );
    }
    text += "\nfn main() -> Result<()> {\n    let platform = Platform::host().build()?;\n";
    text += "    let mut count = 0;\n";
    let types = (0..TYPES).map(|i| format!("Step{i}::new(1.0)"));
    for new in types.chain(["Source::new()".into(), "Sink::new(Vec::new())".into()]) {
        let harness = "streamflow::testing::OperatorHarness::new";
        let _ = writeln!(text, "    count += u32::from({harness}(&platform, {new})?.tick()?);");
    }
    text + "    println!(\"{count}\");\n    Ok(())\n}\n"
}

fn graph() -> String {
    let operators = operators();
    // The graph has a `main` of its own.
    let (operators, _) = operators.split_once("\nfn main").unwrap_or((&operators, ""));
    let mut text = operators.to_owned();
    text += "\ngraph! {\n    struct App(count: u64) {\n";
    text += "        const STREAMS: CudaStreamPool = CudaStreamPool::new();\n";
    text += "        #[streams(STREAMS)] #[when(count(count))]\n        let source: Source = Source::new();\n";
    for i in 0..NODES {
        let ty = i % TYPES;
        let _ = writeln!(
            text,
            "        #[streams(STREAMS)]\n        let node{i}: Step{ty} = Step{ty}::new({i}.0);"
        );
    }
    text += "        #[streams(STREAMS)]\n        let sink: Sink = Sink::new(Vec::new());\n";
    text += "        source.data >> node0.data;\n";
    for i in 1..NODES {
        let _ = writeln!(text, "        node{}.out >> node{i}.data;", i - 1);
    }
    let _ = writeln!(text, "        node{}.out >> sink.data;\n    }}\n}}", NODES - 1);
    text + "
fn main() -> Result<()> {
    App::new(&Platform::host().build()?, 10)?.run()
}
"
}
