//! Mistakes in the text of the operators and in that of kernels, and the case that notices each, or the compiler.

use streamflow::__private::KernelInfo;
use streamflow_tests::{Failed, check, check_text};

use super::cases::Subject;
use super::compiled::{BODY, Source, text};
use super::{kernels, types};

/// A mistake: its name, the kernel that shows it, and the texts with what takes their place, one after the other.
type Mistake = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const MISTAKES: [Mistake; 20] = [
    (
        "a shift by the whole amount",
        "i32_operators",
        &[("(U)a << ((unsigned int)by & (Width<T>::bits - 1))", "(U)a << (unsigned int)by")],
    ),
    (
        "a mask of 32 bits for each type",
        "i8_operators",
        &[("a >> ((unsigned int)by & (Width<T>::bits - 1))", "a >> ((unsigned int)by & 31u)")],
    ),
    (
        "a product and a sum that are fused",
        "f32_operators",
        &[
            ("return __fadd_rn(a, b);", "return a + b;"),
            ("return __fmul_rn(a, b);", "return a * b;"),
        ],
    ),
    ("a sum of signed numbers", "i32_operators", &[("(T)((U)a + (U)b)", "(T)(a + b)")]),
    (
        "a minimum that keeps NaN",
        "f32_operators",
        &[(
            "float min(float a, float b) { return b < a || a != a ? b : a; }",
            "float min(float a, float b) { return b < a ? b : a; }",
        )],
    ),
    (
        "a maximum that keeps NaN",
        "f64_operators",
        &[(
            "double max(double a, double b) { return a < b || a != a ? b : a; }",
            "double max(double a, double b) { return a < b ? b : a; }",
        )],
    ),
    (
        "a cast without its upper limit",
        "f32_casts",
        &[("if (a >= beyond) return (To)Limits<To>::high;", "")],
    ),
    (
        "a cast without its lower limit",
        "f64_casts",
        &[("if (a <= below) return (To)Limits<To>::low;", "")],
    ),
    ("a cast of NaN", "f32_casts", &[("if (a != a) return To(0);", "")]),
    (
        "the division of the smallest number by -1",
        "i32_operators",
        &[("if (IsSigned<T>::value && b == T(-1)) return neg(a);", "")],
    ),
    (
        "the remainder of the smallest number by -1",
        "i64_operators",
        &[("if (IsSigned<T>::value && b == T(-1)) return T(0);", "")],
    ),
    (
        "a division by 0 that nobody is told of",
        "u8_operators",
        &[("if (b == T(0)) { fault.division(); return T(0); }", "if (b == T(0)) return T(0);")],
    ),
    (
        "the bits of a sign",
        "i8_operators",
        &[(
            "(unsigned long long)a & ((1ull << (Width<T>::bits & 63)) - 1)",
            "(unsigned long long)a",
        )],
    ),
    (
        "a remainder below 0",
        "i16_operators",
        &[(
            "return rest < T(0) ? (b < T(0) ? sub(rest, b) : add(rest, b)) : rest;",
            "return rest;",
        )],
    ),
    (
        "a table whose indices are not checked",
        "table",
        &[("if (index < table.length) return true;", "return true;")],
    ),
    (
        "a table with an element more",
        "table",
        &[("if (index < table.length) return true;", "if (index <= table.length) return true;")],
    ),
    (
        "an index beyond a table that nobody is told of",
        "table",
        &[("fault.index(table.argument, index, table.length);", "")],
    ),
    (
        "an array whose indices are not checked",
        "places",
        &[("if (index < N) return true;", "return true;")],
    ),
    (
        "an index beyond an array that nobody is told of",
        "places",
        &[("fault.index(0xfffffffeu, index, N);", "")],
    ),
    (
        "an array of which one element is filled",
        "places",
        &[("i < sizeof(array.at) / sizeof(array.at[0])", "i < 1")],
    ),
];

/// The places of fields in the text of a kernel. Here the fields have one size, so that only their values tell.
const FIELDS: Mistake = (
    "two fields in the places of each other",
    "by_value",
    &[
        ("signed char f_sign;", "a field;"),
        ("unsigned char f_last;", "signed char f_sign;"),
        ("a field;", "unsigned char f_last;"),
    ],
);

/// Fields of other sizes.
const SIZES: Mistake = (
    "a field before another one",
    "by_value",
    &[(
        "signed char f_sign; double f_wide; unsigned short f_small;",
        "double f_wide; signed char f_sign; unsigned short f_small;",
    )],
);

fn subjects() -> Vec<Subject> {
    let all = [kernels::integers(), kernels::floats(), kernels::casts(), types::all()];
    all.into_iter().flatten().collect()
}

fn find<'a>(subjects: &'a [Subject], kernel: &str) -> Result<&'a Subject, Failed> {
    let found = subjects.iter().find(|subject| subject.info.name == kernel);
    found.ok_or_else(|| Failed::msg(format!("no kernel `{kernel}`")))
}

/// A text with a mistake.
fn edited((name, _, edits): &Mistake, mut text: String) -> Result<String, Failed> {
    for (from, to) in *edits {
        check(text.contains(from), || format!("{name}: the text has no `{from}`"))?;
        text = text.replace(from, to);
    }
    Ok(text)
}

pub(super) fn all() -> Result<Option<String>, Failed> {
    let subjects = subjects();
    let mut source = Source::new();
    let mut shown = Vec::new();
    for mistake @ (_, kernel, _) in &MISTAKES {
        let subject = find(&subjects, kernel)?;
        source.add(subject, &edited(mistake, BODY.to_owned())?);
        shown.push(subject);
    }
    let Some(program) = source.build()? else { return Ok(Some("no g++".to_owned())) };
    for (number, (subject, (name, ..))) in shown.into_iter().zip(&MISTAKES).enumerate() {
        check(program.check(number, subject).is_err(), || format!("{name}: no case notices it"))?;
    }
    Ok(None)
}

/// The order of the fields of a struct is that of its derive on both sides: cases notice another order, or the text's own checks.
pub(super) fn fields() -> Result<Option<String>, Failed> {
    let subjects = subjects();
    let subject = find(&subjects, "by_value")?;
    let build = |mistake| {
        let mut source = Source::new();
        source.add_text(subject, BODY, &edited(mistake, text(subject.info))?);
        source.build()
    };
    let Some(program) = build(&FIELDS)? else { return Ok(Some("no g++".to_owned())) };
    check(program.check(0, subject).is_err(), || format!("{}: no case notices it", FIELDS.0))?;
    match build(&SIZES) {
        Ok(_) => Err(Failed::msg(format!("{}: the text compiles", SIZES.0))),
        Err(error) => check_text(&error.to_string(), &["the place of a field"]).map(|()| None),
    }
}

/// Each instance of a generic kernel has a text of its own: cases notice that of another one, or the compiler.
pub(super) fn instances() -> Result<Option<String>, Failed> {
    let build = |pairs: &[(Subject, &KernelInfo)]| {
        let mut source = Source::new();
        for (subject, other) in pairs {
            source.add_text(subject, BODY, &text(other));
        }
        source.build()
    };
    let pairs = types::exchanged();
    let Some(program) = build(&pairs)? else { return Ok(Some("no g++".to_owned())) };
    for (number, (subject, other)) in pairs.iter().enumerate() {
        let (name, of, own) = (other.name, other.generics, subject.info.generics);
        check(program.check(number, subject).is_err(), || {
            format!("`{name}`: no case notices the text of {of:?} for {own:?}")
        })?;
    }
    match build(&types::refused()) {
        Ok(_) => Err(Failed::msg("the text of `u8` compiles for `i32`")),
        Err(error) => check_text(&error.to_string(), &["g++", "is ambiguous"]).map(|()| None),
    }
}
