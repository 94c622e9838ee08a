//! The CUDA source of a kernel: its body under a signature made from the Rust one.

use std::fmt::Write;

use super::bounds::{Bounds, kernel_id};
use super::{CudaBody, KernelInfo, ParamInfo, ParamKind};

const PRELUDE: &str = include_str!("cuda/prelude.cuh");
const VIEW: &str = include_str!("cuda/view.cuh");
const BODY: &str = include_str!("cuda/body.cuh");
const LANES: &str = concat!(include_str!("cuda/lanes.cuh"), include_str!("cuda/reductions.cuh"));
const REDUCE: &str = include_str!("cuda/reduce.cuh");
const SCAN: &str = include_str!("cuda/scan.cuh");
const REPORT: &str = include_str!("cuda/report.cuh");
const CHECKED: &str = include_str!("cuda/checked.cuh");

/// Names that NVRTC lacks, each with the definition: types whose headers are only in the CUDA toolkit, and the windows of stencils.
const TYPES: [(&str, &str); 5] = [
    ("half", include_str!("cuda/half.cuh")),
    ("nv_bfloat16", include_str!("cuda/bfloat16.cuh")),
    ("complex", include_str!("cuda/complex.cuh")),
    ("bool8", include_str!("cuda/bool8.cuh")),
    ("StreamflowInner", include_str!("cuda/window.cuh")),
];

/// The source that NVRTC compiles.
pub(super) fn generate(info: &KernelInfo, bounds: Bounds) -> String {
    let mut source = String::new();
    let body = info.cuda.text();
    let is_scan = matches!(info.cuda, CudaBody::Made(_)) && uses(info, &body, "streamflow_memory");
    section(&mut source, "prelude", PRELUDE);
    if bounds == Bounds::Checked || info.reports {
        section(&mut source, "report", REPORT);
    }
    if matches!(info.cuda, CudaBody::Made(_)) {
        if info.reports {
            line(&mut source, format_args!("#define STREAMFLOW_REPORTS"));
        }
        section(&mut source, "body", BODY);
        if uses(info, &body, "streamflow_op") {
            section(&mut source, "lanes", LANES);
            let (name, text) = if is_scan { ("scan", SCAN) } else { ("reduce", REDUCE) };
            section(&mut source, name, text);
        }
    }
    for (name, definition) in TYPES.into_iter().filter(|(name, _)| uses(info, &body, name)) {
        section(&mut source, name, definition);
    }
    if bounds == Bounds::Checked {
        section(&mut source, "checks", CHECKED);
    }
    if info.params.iter().any(|param| rank(param).is_some()) {
        section(&mut source, "views", VIEW);
    }
    section(&mut source, "signature", "");
    let bound = info.threads.map(|threads| launch_bounds(threads, is_scan)).unwrap_or_default();
    line(
        &mut source,
        format_args!(
            "extern \"C\" __global__ void {bound}{}({}) {{",
            info.entry,
            parameters(info, bounds)
        ),
    );
    // The alias for a type parameter is within the function, so that the parameter may have the name of any global.
    for (name, cuda) in info.generics {
        line(&mut source, format_args!("typedef {cuda} {name};"));
    }
    if bounds == Bounds::Checked {
        checked_slices(&mut source, info);
    }
    views(&mut source, info, bounds);
    chunks(&mut source, info);
    if info.reports {
        let id = kernel_id(info);
        line(
            &mut source,
            format_args!("const sf::Faults streamflow_faults = {{streamflow_report, {id}ull}};"),
        );
    }
    line(&mut source, format_args!("#line {} \"{}\"", info.line, escaped(info.file)));
    // The closing brace has a line of its own, because the body may end with a comment.
    line(&mut source, format_args!("{body}\n}}"));
    source
}

/// Returns the attribute that limits a kernel's registers to the number that is available in a block of this size. Of a scan, a
/// multiprocessor has three blocks at once: while a block waits for the values of earlier ones, the others load and store.
fn launch_bounds(threads: [u32; 3], is_scan: bool) -> String {
    let at_once = if is_scan { ", 3" } else { "" };
    format!("__launch_bounds__({}{at_once}) ", threads.iter().product::<u32>())
}

/// Adds a line. Writing to a string cannot fail.
fn line(source: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = writeln!(source, "{text}");
}

/// Adds a text of streamflow, and a `#line` directive with the file name that the compiler's messages show for it.
fn section(source: &mut String, name: &str, text: &str) {
    line(source, format_args!("#line 1 \"streamflow/{name}\"\n{text}"));
}

fn parameters(info: &KernelInfo, bounds: Bounds) -> String {
    let mut list: Vec<String> = Vec::new();
    // With checks, the pointer parameter gets another name, because the checked slice has the name of the argument.
    let pointer = |name| match bounds {
        Bounds::Unchecked => format!("__restrict__ {name}"),
        Bounds::Checked => format!("streamflow_{name}"),
    };
    for param in info.params {
        let (name, ty) = (param.name, param.cuda);
        match param.kind {
            ParamKind::Slice => list.push(format!("const {ty}* {}", pointer(name))),
            ParamKind::SliceMut => list.push(format!("{ty}* {}", pointer(name))),
            ParamKind::Table => list.push(format!("const {ty}* __restrict__ {name}")),
            ParamKind::Chunks(count) => {
                list.extend((0..count).map(|number| format!("const {ty} {}", chunk(name, number))));
                continue;
            }
            ParamKind::Scalar => {
                list.push(format!("{ty} {name}"));
                continue;
            }
            ParamKind::Shape => {
                list.extend((0..4).map(|dim| format!("{ty} {name}{dim}")));
                continue;
            }
            ParamKind::Elements | ParamKind::ElementsMut => {
                let constant = constant(param);
                list.push(format!("{constant}{ty}* __restrict__ {name}"));
                list.extend(
                    (0..4).map(|dim| format!("unsigned long long streamflow_{name}_stride{dim}")),
                );
                continue;
            }
            ParamKind::View(_) | ParamKind::ViewMut(_) => {
                let constant = constant(param);
                list.push(format!("{constant}{ty}* __restrict__ streamflow_{name}"));
                let numbers = of_view(param).into_iter().flatten();
                list.extend(numbers.map(|number| format!("unsigned long long {number}")));
                continue;
            }
        }
        list.push(format!("unsigned long long {name}_len"));
    }
    if bounds == Bounds::Checked || info.reports {
        list.push("streamflow::Report* streamflow_report".into());
    }
    list.join(", ")
}

fn checked_slices(source: &mut String, info: &KernelInfo) {
    let id = kernel_id(info);
    for (index, param) in info.params.iter().enumerate() {
        let constant = match param.kind {
            ParamKind::Slice => "const ",
            ParamKind::SliceMut => "",
            _ => continue,
        };
        let (name, ty) = (param.name, param.cuda);
        line(
            source,
            format_args!(
                "streamflow::Checked<{constant}{ty}> {name}(streamflow_{name}, {name}_len, \
                 {index}u, {id}ull, streamflow_report);"
            ),
        );
    }
}

/// The name of one of the parameters of an array or a struct.
fn chunk(name: &str, number: usize) -> String {
    format!("streamflow_{name}_chunk{number}")
}

/// Adds to the body an array of the parameters of each array or struct, with the name of the argument.
fn chunks(source: &mut String, info: &KernelInfo) {
    for param in info.params {
        let ParamKind::Chunks(count) = param.kind else { continue };
        let all: Vec<String> = (0..count).map(|number| chunk(param.name, number)).collect();
        let (name, ty, all) = (param.name, param.cuda, all.join(", "));
        line(source, format_args!("const {ty} {name}[{count}] = {{{all}}};"));
    }
}

/// The number of dimensions if the argument is a view; `None` for a slice or a scalar.
fn rank(param: &ParamInfo) -> Option<usize> {
    match param.kind {
        ParamKind::View(rank) | ParamKind::ViewMut(rank) => Some(rank),
        _ => None,
    }
}

fn constant(param: &ParamInfo) -> &'static str {
    if matches!(param.kind, ParamKind::Slice | ParamKind::View(_) | ParamKind::Elements) {
        "const "
    } else {
        ""
    }
}

/// The names of the parameters that a view is passed by: the lengths of its dimensions, then the strides.
fn of_view(param: &ParamInfo) -> [Vec<String>; 2] {
    ["shape", "stride"].map(|what| {
        let dims = 0..rank(param).unwrap_or(0);
        dims.map(|dim| format!("streamflow_{}_{what}{dim}", param.name)).collect()
    })
}

/// Adds to the body the definitions of its views, which are made from the kernel's parameters.
fn views(source: &mut String, info: &KernelInfo, bounds: Bounds) {
    let id = kernel_id(info);
    for (index, param) in info.params.iter().enumerate() {
        let Some(rank) = rank(param) else { continue };
        let (name, ty, constant) = (param.name, param.cuda, constant(param));
        let [shape, strides] = of_view(param).map(|names| names.join(", "));
        let report = match bounds {
            Bounds::Unchecked => String::new(),
            Bounds::Checked => format!(", {{{index}u, {id}ull, streamflow_report}}"),
        };
        line(
            source,
            format_args!(
                "const streamflow::View<{constant}{ty}, {rank}> {name} = \
                 {{streamflow_{name}, {{{shape}}}, {{{strides}}}{report}}};"
            ),
        );
    }
}

/// Whether the signature has a type of this name, or the body's text contains the name.
fn uses(info: &KernelInfo, body: &str, name: &str) -> bool {
    let params = info.params.iter().map(|param| param.cuda);
    let generics = info.generics.iter().map(|(_, cuda)| *cuda);
    params.chain(generics).chain([body]).any(|text| {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
    })
}

fn escaped(file: &str) -> String {
    file.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Axes, Coverage};

    unsafe fn host(_: crate::driver::HostArgs<'_>) {}

    const INFO: KernelInfo = KernelInfo {
        name: "scale",
        entry: "scale_kernel",
        file: "src/a\"b.rs",
        line: 7,
        cuda: CudaBody::Text("out[0] = a[0]; // done"),
        params: &[
            ParamInfo { name: "out", cuda: "float", kind: ParamKind::SliceMut },
            ParamInfo { name: "a", cuda: "float", kind: ParamKind::Slice },
            ParamInfo { name: "n", cuda: "int", kind: ParamKind::Scalar },
        ],
        generics: &[("T", "float")],
        threads: None,
        coverage: Coverage::Elementwise,
        axes: Axes::UNKNOWN,
        reports: false,
        host,
    };

    #[test]
    fn the_body_is_under_the_signature() {
        let source = generate(&INFO, Bounds::Unchecked);
        let (_, own) =
            source.split_once("#line 1 \"streamflow/signature\"\n\n").unwrap_or_default();
        assert_eq!(
            own,
            "extern \"C\" __global__ void scale_kernel(float* __restrict__ out, unsigned long \
             long out_len, const float* __restrict__ a, unsigned long long a_len, int n) {\n\
             typedef float T;\n\
             #line 7 \"src/a\\\"b.rs\"\n\
             out[0] = a[0]; // done\n\
             }\n"
        );
        assert!(!source.contains("struct half") && !source.contains("Checked"));
    }

    #[test]
    fn checked_slices_replace_the_pointers() {
        let source = generate(&INFO, Bounds::Checked);
        assert!(source.contains("(float* streamflow_out, unsigned long long out_len, const float* streamflow_a, unsigned long long a_len, int n, streamflow::Report* streamflow_report) {"), "{source}");
        let id = kernel_id(&INFO);
        let line = format!(
            "streamflow::Checked<const float> a(streamflow_a, a_len, 1u, {id}ull, streamflow_report);"
        );
        assert!(source.contains(&line), "{source}");
    }

    #[test]
    fn a_block_size_limits_the_registers() {
        let info = KernelInfo { threads: Some([16, 8, 2]), ..INFO };
        let source = generate(&info, Bounds::Unchecked);
        assert!(source.contains("void __launch_bounds__(256) scale_kernel(float*"), "{source}");
    }

    #[test]
    fn a_type_is_defined_where_it_is_used() {
        for (name, definition) in TYPES {
            let generated = |info| generate(&info, Bounds::Unchecked).contains(definition);
            let param = ParamInfo { name: "x", cuda: name, kind: ParamKind::Scalar };
            assert!(generated(KernelInfo { params: vec![param].leak(), ..INFO }));
            assert!(generated(KernelInfo { generics: vec![("T", name)].leak(), ..INFO }));
            let body = |text: String| KernelInfo { cuda: CudaBody::Text(text.leak()), ..INFO };
            assert!(generated(body(format!("{name} x = a[0];"))));
            assert!(!generated(body(format!("float {name}way = a[0];"))));
        }
        let complex = KernelInfo { generics: &[("T", "complex<float>")], ..INFO };
        assert!(
            generate(&complex, Bounds::Unchecked).contains("struct alignas(2 * sizeof(T)) complex")
        );
    }
}
