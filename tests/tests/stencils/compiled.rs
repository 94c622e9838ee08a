//! The CUDA text of stencils, compiled as C++ for the host, and mistakes in it. A read or a write beside the memory of a launch ends
//! the program.

use std::fmt::Write as _;

use streamflow::__private::{CudaBody, ParamKind};
use streamflow_tests::{Failed, check};

use super::kernels::{self, Subject};
use super::{POISON, noise};
use crate::one_body::compiled::{BODY, Program, SHIM, compile};

const WINDOW: &str = include_str!("../../../streamflow/src/kernel/cuda/window.cuh");

/// The variables of a thread, and the loop over all blocks and threads of a launch.
const THREADS: &str = "
static Dim at_block, at_thread, of_grid;
#define blockIdx at_block
#define threadIdx at_thread
#define gridDim of_grid
template <class F> static void launch(Dim grid, Dim block, F each) {
    of_grid = grid;
    for (at_block.z = 0; at_block.z < grid.z; ++at_block.z)
    for (at_block.y = 0; at_block.y < grid.y; ++at_block.y)
    for (at_block.x = 0; at_block.x < grid.x; ++at_block.x)
    for (at_thread.y = 0; at_thread.y < block.y; ++at_thread.y)
    for (at_thread.x = 0; at_thread.x < block.x; ++at_thread.x) each();
}
";

/// The memory of both arguments of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Memory {
    Dense,
    /// The dimensions are reversed.
    Turned,
}

/// A kernel in a program, and the texts that have others in their place.
struct Entry<'a> {
    subject: &'a Subject,
    /// 0 for the code of windows without gaps in the last dimension, 1 for that of others.
    variant: usize,
    edits: &'a [(&'static str, &'static str)],
}

impl Entry<'_> {
    /// The kernel in C++, within a namespace of this number.
    fn text(&self, number: usize) -> Result<String, Failed> {
        let info = self.subject.infos[self.variant];
        let CudaBody::Made(made) = info.cuda else { return Err(Failed::msg("no text")) };
        let (mut body, mut window) = (made(), WINDOW.to_owned());
        for (from, to) in self.edits {
            check(body.contains(from) || window.contains(from), || format!("no `{from}`"))?;
            (body, window) = (body.replace(from, to), window.replace(from, to));
        }
        let (mut parameters, mut passed) = (Vec::new(), Vec::new());
        let mut numbers = |name: &str, values: &str| {
            for dim in 0..4 {
                parameters.push(format!("unsigned long long {name}{dim}"));
                passed.push(format!("{values}[{dim}]"));
            }
        };
        numbers("streamflow_shape", "shape");
        let mut memory = Vec::new();
        for param in info.params {
            let (name, ty) = (param.name, param.cuda);
            let constant = match param.kind {
                ParamKind::Elements => "const ",
                ParamKind::ElementsMut => "",
                _ => continue,
            };
            memory.push(format!("{constant}{ty}* __restrict__ {name}"));
            numbers(&format!("streamflow_{name}_stride"), "strides");
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\nnamespace k{number} {{\n{BODY}\n{window}\n\
             static void kernel({}, {}) {{\n{body}\n}}\n\
             static void run() {{\n\
             unsigned long long n, shape[4], strides[4], dims[5];\n\
             while (fread(&n, sizeof(n), 1, stdin) == 1) {{\n\
             if (fread(shape, 8, 4, stdin) + fread(strides, 8, 4, stdin) + fread(dims, 8, 5, stdin) != 13) return;\n\
             auto a = taken<int>(n), out = taken<int>(n);\n\
             launch({{(unsigned)dims[0], (unsigned)dims[1], (unsigned)dims[2]}}, {{(unsigned)dims[3], (unsigned)dims[4], 1}},\n\
             [&] {{ kernel(out.data(), a.data(), {}); }});\n\
             give(out.data(), n);\n\
             }}\n}}\n}}\n",
            memory.join(", "),
            parameters.join(", "),
            passed.join(", "),
        );
        Ok(text)
    }

    /// Runs the cases, and compares their results.
    fn check(&self, program: &Program, number: usize) -> Result<(), Failed> {
        let rank = self.subject.reach.len();
        let memory = [Memory::Dense, Memory::Turned][self.variant];
        let (mut input, mut wanted) = (Vec::new(), Vec::new());
        for shape in shapes(rank) {
            let elements = noise(shape.iter().product());
            let results = self.subject.wanted(&shape, &elements);
            let numbers: Vec<usize> = match memory {
                Memory::Dense => (0..elements.len()).collect(),
                Memory::Turned => kernels::turned(&shape),
            };
            let mut placed = vec![0; elements.len()];
            let mut expected = placed.clone();
            for (i, number) in numbers.into_iter().enumerate() {
                (placed[number], expected[number]) = (elements[i], results[i]);
            }
            let mut header = vec![elements.len()];
            header.extend(padded(&shape, 1));
            header.extend(padded(&strides(&shape, memory), 0));
            header.extend(self.grid(&shape));
            input.extend(header.iter().flat_map(|number| (*number as u64).to_ne_bytes()));
            let poison = vec![POISON; elements.len()];
            input.extend(placed.iter().chain(&poison).flat_map(|element| element.to_ne_bytes()));
            wanted.extend(expected.iter().flat_map(|element| element.to_ne_bytes()));
        }
        let done = program.run(number, &input)?;
        let name = self.subject.infos[self.variant].name;
        let text = String::from_utf8_lossy(&done.stderr);
        check(done.status.success(), || format!("`{name}`: {}, {text}", done.status))?;
        check(done.stdout == wanted, || format!("`{name}`, {memory:?}: other results"))
    }

    /// The blocks in x, y and z, and the threads in x and y. Along y and z there are two blocks at most, so that the loops go on.
    fn grid(&self, shape: &[usize]) -> [usize; 5] {
        let tiles =
            self.subject.tiles.map_or([1, 1], |tiles| tiles.elements.map(|len| len as usize));
        let [x, y, _] = self.subject.infos[0].threads.unwrap_or([1; 3]).map(|len| len as usize);
        let shape = padded(shape, 1);
        let planes = shape[0] * shape[1];
        [shape[3].div_ceil(tiles[1]), shape[2].div_ceil(tiles[0]).min(2), planes.min(2), x, y]
    }
}

/// Four numbers, the last of which are these.
fn padded(numbers: &[usize], with: usize) -> Vec<usize> {
    [vec![with; 4 - numbers.len()], numbers.to_vec()].concat()
}

fn strides(shape: &[usize], memory: Memory) -> Vec<usize> {
    let product = |lengths: &[usize]| lengths.iter().product();
    let dims = 0..shape.len();
    match memory {
        Memory::Dense => dims.map(|dim| product(&shape[dim + 1..])).collect(),
        Memory::Turned => dims.map(|dim| product(&shape[..dim])).collect(),
    }
}

/// Shapes with blocks within the edges and at them.
fn shapes(rank: usize) -> Vec<Vec<usize>> {
    let shapes: &[&[usize]] = match rank {
        1 => &[&[1], &[2], &[7], &[256], &[257], &[259], &[770], &[771]],
        2 => &[&[1, 1], &[2, 1], &[1, 40], &[33, 34], &[64, 66], &[97, 98], &[96, 97], &[101, 70]],
        3 => &[&[1, 1, 1], &[2, 3, 2], &[3, 68, 66], &[4, 33, 97]],
        _ => &[&[1, 1, 1, 1], &[2, 2, 3, 2], &[3, 2, 65, 68]],
    };
    shapes.iter().map(|shape| shape.to_vec()).collect()
}

/// One program for all entries: each has a number. `None` without a compiler.
fn program(entries: &[Entry<'_>]) -> Result<Option<Program>, Failed> {
    let mut text = format!("{SHIM}{THREADS}");
    let mut cases = String::new();
    for (number, entry) in entries.iter().enumerate() {
        text += &entry.text(number)?;
        cases += &format!("case {number}: k{number}::run(); break;\n");
    }
    let _ = write!(
        text,
        "int main(int, char** arguments) {{\n\
         int number = 0; sscanf(arguments[1], \"%d\", &number);\n\
         switch (number) {{\n{cases}}}\n}}\n"
    );
    compile(&text, &["-fsanitize=address"])
}

pub(super) fn all() -> Result<Option<String>, Failed> {
    let subjects: Vec<Subject> = (1..=4).flat_map(kernels::of_rank).collect();
    let each = subjects.iter().flat_map(|subject| [(subject, 0), (subject, 1)]);
    let entries: Vec<_> =
        each.map(|(subject, variant)| Entry { subject, variant, edits: &[] }).collect();
    let Some(program) = program(&entries)? else { return Ok(Some("no g++".to_owned())) };
    let wrong: Vec<String> = entries
        .iter()
        .enumerate()
        .filter_map(|(number, entry)| entry.check(&program, number).err())
        .map(|error| error.to_string())
        .collect();
    check(wrong.is_empty(), || wrong.join("\n"))?;
    Ok(None)
}

/// A mistake: its name, the kernel and the variant that show it, and the texts with what takes their place.
type Mistake = (&'static str, &'static str, usize, &'static [(&'static str, &'static str)]);

const MISTAKES: [Mistake; 14] = [
    (
        "the end has the element before the last",
        "clamp_1",
        0,
        &[("at < 0 ? 0 : len - 1", "at < 0 ? 0 : len - 2")],
    ),
    (
        "the border of 0 is the nearest element",
        "zero_2",
        0,
        &[(
            "long long, long long) { return -1; }",
            "long long at, long long len) { return at < 0 ? 0 : len - 1; }",
        )],
    ),
    (
        "a wrapped index stays negative",
        "wrap_2",
        0,
        &[("return at < 0 ? at + len : at;", "return at;")],
    ),
    (
        "a wrapped index goes around once",
        "wrap_1",
        0,
        &[("        at %= len;\n", "        if (at >= len) at -= len;\n")],
    ),
    (
        "the mirror repeats the last element",
        "mirror_2",
        1,
        &[("len > 1 ? 2 * len - 2 : 1", "2 * len"), ("period - at;", "period - 1 - at;")],
    ),
    (
        "the mirror goes back once",
        "mirror_1",
        0,
        &[(
            "        at %= period;\n        if (at < 0) at += period;\n",
            "        if (at < 0) at = -at;\n",
        )],
    ),
    (
        "the reach is ignored at the end",
        "clamp_2",
        0,
        &[("first + count + reach <= len", "first + count <= len")],
    ),
    ("the reach is ignored at the start", "wrap_2", 0, &[("first >= reach && ", "")]),
    (
        "the blocks within the edges are one too many",
        "zero_1",
        0,
        &[("first + count + reach <= len", "first + count + reach <= len + 1")],
    ),
    (
        "the reach of rows is ignored",
        "clamp_3",
        0,
        &[("32, 2, streamflow_shape2)", "32, 0, streamflow_shape2)")],
    ),
    (
        "the reach of planes is ignored",
        "clamp_4",
        1,
        &[("1, 1, streamflow_shape0)", "1, 0, streamflow_shape0)")],
    ),
    (
        "all rows of a thread read the first one's window",
        "mirror_2",
        0,
        &[("(row + by2) * step2", "by2 * step2")],
    ),
    (
        "a block at an edge writes all of its rows",
        "zero_2",
        0,
        &[("streamflow_at2 < streamflow_shape2 && ", "")],
    ),
    ("the last step is 1 in each code", "wrap_3", 1, &[("(long long)streamflow_a_stride3", "1")]),
];

pub(super) fn mutants() -> Result<Option<String>, Failed> {
    let subjects: Vec<Subject> = (1..=4).flat_map(kernels::of_rank).collect();
    let mut entries = Vec::new();
    for (_, kernel, variant, edits) in MISTAKES {
        let subject = subjects.iter().find(|subject| subject.infos[0].name == kernel);
        let subject = subject.ok_or_else(|| Failed::msg(format!("no kernel `{kernel}`")))?;
        entries.push(Entry { subject, variant, edits });
    }
    let Some(program) = program(&entries)? else { return Ok(Some("no g++".to_owned())) };
    let unnoticed: Vec<&str> = entries
        .iter()
        .zip(&MISTAKES)
        .enumerate()
        .filter(|(number, (entry, _))| entry.check(&program, *number).is_ok())
        .map(|(_, (_, (name, ..)))| *name)
        .collect();
    check(unnoticed.is_empty(), || format!("no case notices: {}", unnoticed.join("; ")))?;
    Ok(None)
}
