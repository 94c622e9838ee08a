//! The CUDA bodies of the documentation compile. The documentation's examples run on the simulator, with only the Rust
//! bodies. The test needs NVRTC, and no GPU. Without NVRTC it does nothing, unless `STREAMFLOW_REQUIRE_NVRTC=1`.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

use streamflow::__private::{Axes, Coverage, CudaBody, KernelInfo, ParamInfo, ParamKind};
use streamflow::kernel::{CompiledCode, compile_for};

/// A kernel as the documentation writes it.
#[derive(Debug, PartialEq)]
struct Example {
    file: String,
    name: String,
    cuda: String,
    /// `out`, `&mut [f32]`
    arguments: Vec<(String, String)>,
}

/// Returns the kernels of a text, each from `#[kernel(unsafe cuda = "` to the end of its arguments.
fn examples(file: &str, text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    for rest in text.split("#[kernel(unsafe cuda = \"").skip(1) {
        let (cuda, rest) =
            rest.split_once('"').unwrap_or_else(|| panic!("{file}: no end of {rest}"));
        let Some((_, rest)) = rest.split_once("fn ") else { continue };
        let (name, rest) = rest.split_once('(').unwrap();
        let (arguments, _) = rest.split_once(')').unwrap();
        // A view's rank also follows a comma, so these commas are replaced before the arguments are split.
        let arguments =
            arguments.replace(", 1>", ";1>").replace(", 2>", ";2>").replace(", 3>", ";3>");
        let arguments = arguments.split(',').filter_map(|one| one.split_once(':'));
        let arguments =
            arguments.map(|(name, ty)| (name.trim().to_owned(), ty.trim().to_owned())).collect();
        let (name, cuda) = (name.to_owned(), cuda.to_owned());
        found.push(Example { file: file.to_owned(), name, cuda, arguments });
    }
    found
}

/// Returns the documentation in a file: all of a page, or the doc comments of source code.
fn documentation(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "md") {
        return text;
    }
    let lines = text.lines().map(str::trim_start);
    let docs = lines.filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    let docs = docs.map(|line| {
        let line = line.trim_start();
        // A line that begins with `# ` is one that the documentation does not show.
        line.strip_prefix("# ").unwrap_or(line)
    });
    docs.collect::<Vec<_>>().join("\n")
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            into.push(path);
        }
    }
}

fn all_examples() -> Vec<Example> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = vec![root.join("README.md"), root.join("streamflow/README.md")];
    for folder in ["streamflow/src", "streamflow-macros/src", "crates/streamflow-driver/src"] {
        files(&root.join(folder), &mut paths);
    }
    let of = |path: &PathBuf| examples(&path.display().to_string(), &documentation(path));
    paths.iter().flat_map(of).collect()
}

fn leaked(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn info(example: &Example) -> KernelInfo {
    unsafe fn never_called(_: streamflow::__private::HostArgs<'_>) {}
    let param = |(name, ty): &(String, String)| {
        let slice = |prefix: &str| ty.strip_prefix(prefix)?.strip_suffix(']');
        let view = |prefix: &str| {
            let (element, rank) = ty.strip_prefix(prefix)?.strip_suffix('>')?.split_once(';')?;
            Some((element, rank.parse().ok()?))
        };
        let (kind, ty) = if let Some((element, rank)) = view("&mut Strided<") {
            (ParamKind::ViewMut(rank), element)
        } else if let Some((element, rank)) = view("&Strided<") {
            (ParamKind::View(rank), element)
        } else if let Some(element) = slice("&mut [") {
            (ParamKind::SliceMut, element)
        } else if let Some(element) = slice("&[") {
            (ParamKind::Slice, element)
        } else {
            (ParamKind::Scalar, ty.as_str())
        };
        ParamInfo { name: leaked(name), cuda: cuda_name(ty, example), kind }
    };
    KernelInfo {
        name: leaked(&example.name),
        entry: leaked(&format!("{}_kernel", example.name)),
        file: leaked(&example.file),
        line: 1,
        cuda: CudaBody::Text(leaked(&example.cuda)),
        params: example.arguments.iter().map(param).collect::<Vec<_>>().leak(),
        generics: &[],
        threads: None,
        coverage: Coverage::Partial,
        axes: Axes::UNKNOWN,
        reports: false,
        host: never_called,
    }
}

fn cuda_name(ty: &str, example: &Example) -> &'static str {
    match ty {
        "f32" => "float",
        "f64" => "double",
        "u8" => "unsigned char",
        "i32" => "int",
        "u32" => "unsigned int",
        "u64" | "usize" => "unsigned long long",
        "i64" => "long long",
        _ => panic!("add `{ty}` to this table, for {example:?}"),
    }
}

#[test]
fn the_kernels_of_the_documentation_compile() {
    let examples = all_examples();
    assert!(examples.len() >= 10, "{}: {examples:#?}", examples.len());
    let infos: Vec<KernelInfo> = examples.iter().map(info).collect();
    if let Err(missing) = CompiledCode::compiler_version() {
        assert!(std::env::var_os("STREAMFLOW_REQUIRE_NVRTC").is_none(), "{missing}");
        return;
    }
    for info in &infos {
        for image in [compile_for(info, (8, 0)), CompiledCode::checked_for(info, (8, 0))] {
            image.unwrap_or_else(|error| panic!("{} of {}: {error}", info.name, info.file));
        }
    }
}

/// The control: a body with a mistake does not compile.
#[test]
fn a_kernel_with_a_mistake_does_not_compile() {
    let text = r#"
        #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_lenn) data[i] = value;")]
        fn fill(data: &mut [f32], value: f32) {
    "#;
    let [example] = &examples("a page", text)[..] else { panic!("one kernel") };
    assert_eq!(example.arguments.len(), 2);
    if CompiledCode::compiler_version().is_ok() {
        let error = compile_for(&info(example), (8, 0)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("data_lenn"), "{error}");
    }
}
