//! The CUDA text of the kernels, compiled as C++ for the host: what is undefined there ends the program.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use streamflow::__private::{CudaBody, KernelInfo};
use streamflow_tests::{Failed, check};
use tempfile::TempDir;

use super::cases::{Subject, bits};
use super::{kernels, types};

pub(crate) const SHIM: &str = include_str!("shim.hpp");
pub(super) const REPORT: &str = include_str!("../../../streamflow/src/kernel/cuda/report.cuh");
pub(crate) const BODY: &str = include_str!("../../../streamflow/src/kernel/cuda/body.cuh");

/// Kernels with their operators, as one program of C++: each kernel has a number.
pub(super) struct Source {
    text: String,
    count: usize,
}

impl Source {
    pub(super) fn new() -> Self {
        Self { text: SHIM.to_owned(), count: 0 }
    }

    /// Adds a kernel on this text of the operators.
    pub(super) fn add(&mut self, subject: &Subject, operators: &str) {
        self.add_text(subject, operators, &text(subject.info));
    }

    /// Adds a kernel with this text on this text of the operators.
    pub(super) fn add_text(&mut self, subject: &Subject, operators: &str, body: &str) {
        let info = subject.info;
        let number = self.count;
        self.count += 1;
        let (out, of, entry) = (info.params[0].cuda, info.params[1].cuda, info.entry);
        let defined = if info.reports { "#define STREAMFLOW_REPORTS\n" } else { "" };
        let slices = ["a", "b", "c"]
            .map(|name| format!("const {of}* __restrict__ {name}, unsigned long long {name}_len"));
        let passed = ["a", "b", "c"].map(|name| format!("{name}.data(), n")).join(", ");
        // Writing to a string cannot fail.
        let _ = write!(
            self.text,
            "\nnamespace k{number} {{\n\
             static inline unsigned long long thread_index() {{ return 0; }}\n\
             static inline unsigned long long thread_count() {{ return 1; }}\n\
             {REPORT}\n{defined}{operators}\n#undef STREAMFLOW_REPORTS\n\
             static void {entry}({out}* __restrict__ out, unsigned long long out_len, {}, unsigned int op,\n\
             streamflow::Report* streamflow_report) {{\n\
             {}{}{body}\n}}\n\
             static void run(unsigned int op, unsigned long long n) {{\n\
             auto a = taken<{of}>(n); auto b = taken<{of}>(n); auto c = taken<{of}>(n);\n\
             std::vector<{out}> out(n);\n\
             streamflow::Report report = {{}};\n\
             {entry}(out.data(), n, {passed}, op, &report);\n\
             give(out.data(), n);\n\
             give(&report.state, 1);\n\
             }}\n}}\n",
            slices.join(", "),
            if info.reports {
                "const sf::Faults streamflow_faults = {streamflow_report, 1ull};\n"
            } else {
                ""
            },
            of_struct(subject),
        );
    }

    /// The program. `None` without a compiler.
    pub(super) fn build(mut self) -> Result<Option<Program>, Failed> {
        let cases: String = (0..self.count)
            .map(|number| format!("case {number}: k{number}::run(op, n); break;\n"))
            .collect();
        let _ = write!(
            self.text,
            "int main(int, char** arguments) {{\n\
             unsigned long long n;\n\
             unsigned int op;\n\
             while (fread(&op, sizeof(op), 1, stdin) == 1 && fread(&n, sizeof(n), 1, stdin) == 1) {{\n\
             int number = 0; sscanf(arguments[1], \"%d\", &number);\n\
             switch (number) {{\n{cases}}}\n}}\n}}\n"
        );
        compile(&self.text, &[])
    }
}

/// The text of a kernel, between the braces.
pub(super) fn text(info: &KernelInfo) -> String {
    match info.cuda {
        CudaBody::Made(made) => made(),
        CudaBody::Text(text) => text.to_owned(),
        CudaBody::Image(image) => unreachable!("{image:?} is no body"),
    }
}

/// The struct that a kernel is launched with, as its body has it.
fn of_struct(subject: &Subject) -> String {
    let Some(param) = subject.info.params.get(5) else { return String::new() };
    let chunks = subject.chunks.iter().map(|[low, high]| format!("{{{{{low}ull, {high}ull}}}}"));
    let chunks: Vec<_> = chunks.collect();
    format!("const {} {}[] = {{{}}};\n", param.cuda, param.name, chunks.join(", "))
}

/// Compiles a program of C++, in which what is undefined ends the program. `None` without a compiler.
pub(crate) fn compile(text: &str, options: &[&str]) -> Result<Option<Program>, Failed> {
    if Command::new("g++").arg("--version").stdout(Stdio::null()).status().is_err() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let (source, program) = (folder.path().join("kernels.cpp"), folder.path().join("kernels"));
    fs::write(&source, text)?;
    let mut compiler = Command::new("g++");
    // Without expensive optimizations g++ fuses no product and sum.
    compiler.args(["-std=c++17", "-O1", "-fexpensive-optimizations", "-ffp-contract=fast", "-w"]);
    compiler.args(["-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"]);
    compiler.args(options);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        compiler.arg("-mfma");
    }
    let done = compiler.arg("-o").arg(&program).arg(&source).output()?;
    check(done.status.success(), || {
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        format!("g++: {}", text.lines().take(20).collect::<Vec<_>>().join("\n"))
    })?;
    Ok(Some(Program { folder, program }))
}

/// A compiled program, until it is dropped.
pub(crate) struct Program {
    folder: TempDir,
    program: PathBuf,
}

impl Program {
    /// Runs the kernel with this number on an input.
    pub(crate) fn run(&self, number: usize, input: &[u8]) -> Result<Output, Failed> {
        let file = self.folder.path().join(format!("{number}"));
        fs::write(&file, input)?;
        let mut command = Command::new(&self.program);
        Ok(command.arg(number.to_string()).stdin(File::open(&file)?).output()?)
    }

    /// What the program prints.
    pub(super) fn printed(&self) -> Result<String, Failed> {
        let done = Command::new(&self.program).output()?;
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        check(done.status.success(), || format!("{}: {errors}", done.status))?;
        Ok(String::from_utf8(done.stdout)?)
    }

    /// Runs all cases of a kernel, and checks its results.
    pub(super) fn check(&self, number: usize, subject: &Subject) -> Result<(), Failed> {
        let name = subject.info.name;
        let done = self.run(number, &cases(subject))?;
        let mut rest = &done.stdout[..];
        for case in &subject.cases {
            let len = case.count * subject.size + 4;
            let Some((found, after)) = rest.split_at_checked(len) else {
                let text = String::from_utf8_lossy(&done.stderr).into_owned();
                return Err(Failed::msg(format!("`{}` of `{name}` ended: {text}", case.name)));
            };
            rest = after;
            let (found, state) = found.split_at(len - 4);
            subject.check(case, &bits(found, subject.size))?;
            check((state != [0; 4]) == case.reports, || {
                format!("`{}` of `{name}`: the report is in state {state:?}", case.name)
            })?;
        }
        check(done.status.success(), || format!("`{name}`: {}", done.status))
    }
}

/// The cases of a kernel, as its program reads them.
fn cases(subject: &Subject) -> Vec<u8> {
    let mut bytes = Vec::new();
    for case in &subject.cases {
        bytes.extend(case.number.to_ne_bytes());
        bytes.extend((case.count as u64).to_ne_bytes());
        case.inputs.iter().for_each(|input| bytes.extend(input));
    }
    bytes
}

/// All kernels, on the operators as they are.
pub(super) fn all() -> Result<Option<String>, Failed> {
    let all = [kernels::integers(), kernels::floats(), kernels::casts(), types::all()];
    run(all.into_iter().flatten().collect())
}

/// The random bodies.
pub(super) fn random() -> Result<Option<String>, Failed> {
    run(kernels::random::all())
}

fn run(subjects: Vec<Subject>) -> Result<Option<String>, Failed> {
    let mut source = Source::new();
    subjects.iter().for_each(|subject| source.add(subject, BODY));
    let Some(program) = source.build()? else { return Ok(Some("no g++".to_owned())) };
    let wrong: Vec<String> = subjects
        .iter()
        .enumerate()
        .filter_map(|(number, subject)| program.check(number, subject).err())
        .map(|error| error.to_string())
        .collect();
    check(wrong.is_empty(), || wrong.join("\n"))?;
    Ok(None)
}
