//! The source texts of the programs to build. `value` is a number in the steps that differs from build to build.

use std::fmt::Write as _;

/// Returns how many operator types a program with this many nodes has.
fn types(nodes: usize) -> usize {
    nodes.min(20)
}

/// Returns a program without steps. Its build time is that of the compiler, the linker and cargo alone.
pub(crate) fn empty() -> String {
    "fn main() -> streamflow::Result<()> {\n    streamflow::Platform::host().build()?;\n    Ok(())\n}\n"
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

/// Returns a program without streamflow's graphs: structs with streams, called one after the other.
pub(crate) fn by_hand(nodes: usize, value: usize) -> String {
    let types = types(nodes);
    let mut text = format!("use streamflow::prelude::*;\n{KERNEL}");
    for i in 0..types {
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
    for i in 0..nodes {
        let _ = writeln!(text, "    node{i}: Step{},", i % types);
    }
    text +=
        "    sums: Vec<f32>,\n}\n\nimpl App {\n    fn new(platform: &Platform) -> Result<Self> {\n";
    text += "        let pool = platform.stream_pool(\"STREAMS\", &CudaStreamPool::new())?;\n";
    text += "        Ok(Self {\n            platform: platform.clone(),\n";
    text += "            source: pool.allocate(\"source\")?,\n";
    for i in 0..nodes {
        let (ty, stream) = (i % types, format!("pool.allocate(\"node{i}\")?"));
        let _ = writeln!(
            text,
            "            node{i}: Step{ty} {{ stream: {stream}, value: {}.0 }},",
            i + value
        );
    }
    text += "            sums: Vec::new(),\n        })\n    }\n\n    fn tick(&mut self) -> Result<()> {\n";
    text += "        let mut data = self.platform.tensor([100], &self.source)?;\n";
    text += "        self.source.launch::<add>(data.len(), (&mut data, 1.0))?;\n";
    for i in 0..nodes {
        let _ = writeln!(text, "        let data = self.node{i}.step(data)?;");
    }
    text += "        let sums = self.platform.download(&data, &self.source)?;\n";
    text += "        self.sums.push(sums.wait_blocking()?[0]);\n        Ok(())\n    }\n}\n";
    text + "
fn main() -> Result<()> {
    let mut app = App::new(&Platform::host().build()?)?;
    (0..10).try_for_each(|_| app.tick())?;
    Ok(())
}
"
}

/// Returns a program with the steps as operators, each operator type in an `OperatorHarness`. The function `main` comes
/// last.
pub(crate) fn operators(nodes: usize, value: usize) -> String {
    let types = types(nodes);
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
    for i in 0..types {
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
    let types = (0..types).map(|i| format!("Step{i}::new({value}.0)"));
    for new in types.chain(["Source::new()".into(), "Sink::new(Vec::new())".into()]) {
        let harness = "streamflow::testing::OperatorHarness::new";
        let _ = writeln!(text, "    count += u32::from({harness}(&platform, {new})?.tick()?);");
    }
    text + "    println!(\"{count}\");\n    Ok(())\n}\n"
}

/// Returns a program with the steps as operators in a graph.
pub(crate) fn graph(nodes: usize, value: usize) -> String {
    let types = types(nodes);
    let operators = operators(nodes, value);
    // The text before `main` is used: the graph's program has a `main` of its own.
    let (operators, _) = operators.split_once("\nfn main").unwrap_or((&operators, ""));
    let mut text = operators.to_owned();
    text += "\ngraph! {\n    struct App(count: u64) {\n";
    text += "        const STREAMS: CudaStreamPool = CudaStreamPool::new();\n";
    text += "        #[streams(STREAMS)] #[when(count(count))]\n        let source: Source = Source::new();\n";
    for i in 0..nodes {
        let ty = i % types;
        let _ = writeln!(
            text,
            "        #[streams(STREAMS)]\n        let node{i}: Step{ty} = Step{ty}::new({}.0);",
            i + value
        );
    }
    text += "        #[streams(STREAMS)]\n        let sink: Sink = Sink::new(Vec::new());\n";
    text += "        source.data >> node0.data;\n";
    for i in 1..nodes {
        let _ = writeln!(text, "        node{}.out >> node{i}.data;", i - 1);
    }
    let _ = writeln!(text, "        node{}.out >> sink.data;\n    }}\n}}", nodes - 1);
    text + "
fn main() -> Result<()> {
    App::new(&Platform::host().build()?, 10)?.run()?;
    Ok(())
}
"
}
