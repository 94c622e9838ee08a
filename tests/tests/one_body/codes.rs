//! The loops around a body in CUDA, compiled as C++ for the host: each code of a kernel, with the threads of a grid one after the
//! other, has each element of its arguments once, at its coordinates and with its number.

use std::fmt::Write as _;

use streamflow::__private::{CudaBody, KernelInfo, MapKernel};
use streamflow::prelude::*;
use streamflow_tests::{Failed, check};

use super::compiled::{BODY, REPORT, SHIM, compile};

const PRELUDE: &str = include_str!("../../../streamflow/src/kernel/cuda/prelude.cuh");

/// A body that is short, so that a thread has several elements at a time.
#[kernel(map)]
fn brief(out: &mut u32, a: &u32, #[at] [p, x, y, z]: [usize; 4], #[at] i: usize) {
    *out = *a + 1000 * ((((p * 8 + x) * 8 + y) * 8 + z) as u32) + 10_000_000 * (i as u32);
}

/// The same, as a thread has it for an element at a time.
#[kernel(map)]
fn lengthy(out: &mut u32, a: &u32, #[at] [p, x, y, z]: [usize; 4], #[at] i: usize) {
    let mut at = 0;
    for _ in 0..1 {
        at += ((p * 8 + x) * 8 + y) * 8 + z;
    }
    *out = *a + 1000 * (at as u32) + 10_000_000 * (i as u32);
}

#[derive(Debug, Clone, Copy)]
struct Case {
    code: Code,
    shape: [usize; 4],
    /// The strides of the input; those of the output are of the reversed order of dimensions for `Code::Strided`.
    strides: [usize; 4],
    /// Blocks and threads of a block, in x, y and z.
    grid: [[u32; 3]; 2],
}

/// The codes of a kernel, in the order of the cases' numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Linear,
    Flat,
    Strided,
}

impl Code {
    fn info<K: MapKernel>(self) -> &'static KernelInfo {
        match self {
            Self::Linear => K::LINEAR,
            Self::Flat => K::FLAT,
            Self::Strided => K::STRIDED,
        }
    }
}

fn row_major(shape: [usize; 4]) -> [usize; 4] {
    std::array::from_fn(|dim| shape[dim + 1..].iter().product())
}

fn cases() -> Vec<Case> {
    let grids = [
        [[1, 1, 1], [1, 1, 1]],
        [[3, 1, 1], [2, 1, 1]],
        [[2, 2, 1], [3, 2, 1]],
        [[1, 1, 2], [4, 2, 1]],
    ];
    let mut all = Vec::new();
    for shape in
        [[1, 1, 1, 7], [1, 1, 5, 3], [2, 3, 4, 5], [3, 1, 2, 1], [2, 7, 1, 6], [7, 2, 3, 1]]
    {
        let dense = row_major(shape);
        let gaps = [1000, 200, 30, 1];
        let broadcast = [0, dense[1], 0, 1];
        let constant = [0, 0, 0, 0];
        for grid in grids {
            let is_line = grid[0][1] == 1 && grid[0][2] == 1 && grid[1][1] == 1;
            let mut add = |code, strides| all.push(Case { code, shape, strides, grid });
            if is_line {
                if shape[..3] == [1, 1, 1] {
                    add(Code::Linear, dense);
                }
                for strides in [dense, gaps, broadcast, constant] {
                    add(Code::Flat, strides);
                }
            }
            for strides in [dense, gaps, broadcast, constant, [1, 8, 64, 512]] {
                add(Code::Strided, strides);
            }
        }
    }
    all
}

impl Case {
    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// All coordinates, in row-major order.
    fn places(&self) -> impl Iterator<Item = [usize; 4]> {
        let steps = row_major(self.shape);
        let shape = self.shape;
        (0..self.count()).map(move |i| std::array::from_fn(|dim| i / steps[dim] % shape[dim]))
    }

    fn out_strides(&self) -> [usize; 4] {
        let [a, b, c, d] = self.shape;
        // The first dimension is the innermost in memory.
        if self.code == Code::Strided { [1, a, a * b, a * b * c] } else { row_major([a, b, c, d]) }
    }

    /// The output by the place in memory.
    fn wanted(&self) -> Vec<u32> {
        let mut out = vec![0; self.count()];
        let at = |place: [usize; 4], strides: [usize; 4]| -> usize {
            place.iter().zip(strides).map(|(at, step)| at * step).sum()
        };
        for (number, place) in self.places().enumerate() {
            let [p, x, y, z] = if self.code == Code::Linear { [0, 0, 0, number] } else { place };
            let coordinates = ((p * 8 + x) * 8 + y) * 8 + z;
            let value = at(place, self.strides) % 997 + 1000 * coordinates + 10_000_000 * number;
            out[at(place, self.out_strides())] = value as u32;
        }
        out
    }

    /// The case as a row of the table in C++.
    fn text(&self) -> String {
        let shape = self.shape.map(|len| len as u64);
        let lengths = if self.code == Code::Flat { shape.map(packed) } else { shape };
        let strides = [self.out_strides(), self.strides].concat();
        let numbers = lengths.into_iter().chain(strides.into_iter().map(|step| step as u64));
        let numbers: Vec<String> = numbers.map(|number| format!("{number}ull")).collect();
        let [[bx, by, bz], [tx, ty, tz]] = self.grid;
        let (code, count) = (self.code as u32, self.count());
        format!(
            "{{{code}, {count}, {{{}}}, {{{bx}, {by}, {bz}}}, {{{tx}, {ty}, {tz}}}}},\n",
            numbers.join(", ")
        )
    }
}

/// A length with the factor of a division by it, as a launch passes them.
fn packed(length: u64) -> u64 {
    let factor = ((length.next_power_of_two() - length) << 32) / length + 1;
    factor << 32 | length
}

/// The kernel's code as a function of C++.
fn function(code: Code, info: &KernelInfo, edit: &Edit) -> String {
    let body = match info.cuda {
        CudaBody::Made(made) => made().replace(edit.from, edit.to),
        CudaBody::Text(text) => text.to_owned(),
        CudaBody::Image(_) => String::new(),
    };
    let numbers =
        |name: &str| (0..4).map(|dim| format!("u64 {name}{dim}")).collect::<Vec<_>>().join(", ");
    let memory = |constant: &str, name: &str| {
        let pointer = format!("{constant}unsigned int* {name}");
        match code {
            Code::Linear => format!("{pointer}, u64 {name}_len"),
            _ => format!("{pointer}, {}", numbers(&format!("streamflow_{name}_stride"))),
        }
    };
    let shape =
        if code == Code::Linear { String::new() } else { numbers("streamflow_shape") + ", " };
    let (entry, code) = (info.entry, format!("{code:?}").to_lowercase());
    let (out, a) = (memory("", "out"), memory("const ", "a"));
    format!("static void {entry}_{code}({shape}{out}, {a}) {{\n{body}\n}}\n")
}

const MAIN: &str = include_str!("codes.hpp");

/// A text that takes the place of another one, in the operators and in the codes.
struct Edit {
    name: &'static str,
    from: &'static str,
    to: &'static str,
}

/// Runs all cases with each edit, in one program. Returns the wrong cases of each. `None` without a compiler.
fn run(edits: &[Edit]) -> Result<Option<Vec<Vec<String>>>, Failed> {
    let cases = cases();
    let rows: String = cases.iter().map(Case::text).collect();
    let mut text = format!("{SHIM}\n{PRELUDE}\n{}\n", MAIN.replace("CASES", &rows));
    for (number, edit) in edits.iter().enumerate() {
        let operators = BODY.replace(edit.from, edit.to);
        // Writing to a string cannot fail.
        let _ = write!(text, "namespace k{number} {{\n{REPORT}\n{operators}\n");
        for code in [Code::Linear, Code::Flat, Code::Strided] {
            text += &function(code, code.info::<brief>(), edit);
            text += &function(code, code.info::<lengthy>(), edit);
        }
        text += "ALL\n}\n";
    }
    let all: String = (0..edits.len()).map(|number| format!("k{number}::all();\n")).collect();
    let _ = write!(text, "int main() {{\n{all}}}\n");
    let Some(program) = compile(&text, &[])? else { return Ok(None) };
    let printed = program.printed()?;
    let mut lines = printed.lines();
    let mut checked = |case: &Case, kernel: &str| {
        let line = lines.next().unwrap_or_default();
        let found: Vec<u32> = line.split_whitespace().flat_map(str::parse).collect();
        let wanted = case.wanted();
        (found != wanted)
            .then(|| format!("`{kernel}` of {case:?} gives {found:?}, and not {wanted:?}"))
    };
    let kernels = ["brief", "lengthy"];
    let mut wrong = Vec::new();
    for _ in edits {
        let all = cases.iter().flat_map(|case| kernels.map(|kernel| (case, kernel)));
        wrong.push(all.filter_map(|(case, kernel)| checked(case, kernel)).collect());
    }
    Ok(Some(wrong))
}

/// The texts as they are, and with a mistake each.
const EDITS: [Edit; 8] = [
    Edit { name: "no mistake", from: "\0", to: "" },
    Edit { name: "a wrong shift", from: ">> shift", to: ">> (shift + 1)" },
    Edit {
        name: "a stride of another dimension",
        from: "streamflow_at2 * (unsigned int)streamflow_a_stride2",
        to: "streamflow_at2 * (unsigned int)streamflow_a_stride1",
    },
    Edit {
        name: "an element twice, and its neighbours not at all",
        from: "streamflow_k * (unsigned int)thread_count()",
        to: "streamflow_k / 2 * (unsigned int)thread_count()",
    },
    Edit {
        name: "elements after the first ones that are left out",
        from: "streamflow_per_thread * (unsigned int)thread_count()",
        to: "streamflow_per_thread * (unsigned int)thread_count() + 1",
    },
    Edit {
        name: "dimensions in another order",
        from: "streamflow_length2.take",
        to: "streamflow_length1.take",
    },
    Edit {
        name: "rows that are left out",
        from: "streamflow_at2 += (unsigned long long)gridDim.y * blockDim.y",
        to: "streamflow_at2 += (unsigned long long)gridDim.y * blockDim.y + 1",
    },
    Edit {
        name: "planes that are left out",
        from: "streamflow_z < streamflow_shape0 * streamflow_shape1",
        to: "streamflow_z < streamflow_shape1",
    },
];

pub(super) fn all() -> Result<Option<String>, Failed> {
    let texts: Vec<String> = [<brief as MapKernel>::FLAT, <brief as MapKernel>::STRIDED]
        .into_iter()
        .map(|info| match info.cuda {
            CudaBody::Made(made) => made(),
            CudaBody::Text(text) => text.to_owned(),
            CudaBody::Image(_) => String::new(),
        })
        .chain([BODY.to_owned()])
        .collect();
    for Edit { name, from, .. } in &EDITS[1..] {
        check(texts.iter().any(|text| text.contains(from)), || {
            format!("{name}: no text has `{from}`")
        })?;
    }
    let Some(wrong) = run(&EDITS)? else { return Ok(Some("no g++".to_owned())) };
    let [sound, mistakes @ ..] = &wrong[..] else { return Err(Failed::msg("no edits")) };
    let first = sound.first().cloned().unwrap_or_default();
    check(sound.is_empty(), || format!("{} cases are wrong: {first}", sound.len()))?;
    for (wrong, Edit { name, .. }) in mistakes.iter().zip(&EDITS[1..]) {
        check(!wrong.is_empty(), || format!("{name}: no case notices it"))?;
    }
    Ok(None)
}
