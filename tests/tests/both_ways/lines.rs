//! The lines of each form, as the sources of this suite have them: without blank lines and comments.

use streamflow_tests::{Failed, check};

const SOURCES: [(&str, &str); 6] = [
    ("delay and sum", include_str!("delay_and_sum.rs")),
    ("envelope", include_str!("envelope.rs")),
    ("scan conversion", include_str!("scan_conversion.rs")),
    ("resize, normalise, HWC→NCHW", include_str!("preparation.rs")),
    ("arg-max", include_str!("arg_max.rs")),
    ("overlay", include_str!("overlay.rs")),
];

/// The text between two lines.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Result<&'a str, Failed> {
    let part = text.split_once(from).and_then(|(_, rest)| rest.split_once(to));
    part.map(|(part, _)| part).ok_or_else(|| Failed::msg(format!("no {from:?} before {to:?}")))
}

/// The lines of code in Rust and in CUDA C++.
fn lines(text: &str) -> [usize; 2] {
    let mut found = [0; 2];
    let mut is_cuda = false;
    for line in text.lines().map(str::trim) {
        let is_end = is_cuda && line.starts_with('"');
        is_cuda &= !is_end;
        if !line.is_empty() && !line.starts_with("//") {
            found[usize::from(is_cuda)] += 1;
        }
        is_cuda |= line.ends_with("unsafe cuda = \"");
    }
    found
}

/// The lines of a kernel: with one body, and with two bodies in Rust and in CUDA C++.
fn of_source(source: &str) -> Result<[usize; 3], Failed> {
    let one = between(source, "\n// With one body:\n", "\n// With two bodies:\n")?;
    let two = between(source, "\n// With two bodies:\n", "\n// The test of both:\n")?;
    let ([one, of_cuda], [rust, cuda]) = (lines(one), lines(two));
    check(one > 0 && of_cuda == 0 && rust > 0 && cuda > 0, || {
        format!("{one} and {of_cuda} lines of one body, {rust} and {cuda} of two")
    })?;
    Ok([one, rust, cuda])
}

/// Prints the table, and compares it with that of the suite.
#[expect(clippy::print_stdout, reason = "the table is for readers of the test")]
pub(super) fn test() -> Result<(), Failed> {
    let mut all = [0; 3];
    let mut table = String::new();
    let mut add = |name: &str, [one, rust, cuda]: [usize; 3]| {
        let row = format!("//! | {name} | {one} | {} | {rust} | {cuda} |", rust + cuda);
        println!("{row}");
        table += &row;
        table.push('\n');
    };
    for (name, source) in SOURCES {
        let found = of_source(source)?;
        let [one, rust, cuda] = found;
        check(one < rust + cuda, || format!("{name}: {one} lines are not fewer: {rust} + {cuda}"))?;
        all.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        add(name, found);
    }
    add("all", all);
    check(include_str!("../both_ways.rs").contains(&table), || {
        format!("the table at the head of both_ways.rs is another one than\n{table}")
    })
}

/// The control: text and comments that are no code of a kernel, and a body in CUDA.
pub(super) fn control() -> Result<(), Failed> {
    let code =
        "\n/// Text.\n#[kernel(unsafe cuda = \"\n    a;\n\n    // b\n    c;\n\")]\nfn f() {\n}\n";
    let found = lines(code);
    check(found == [4, 2], || format!("{found:?}"))?;
    check(of_source(code).is_err(), || "a source without its comments has lines".into())
}
