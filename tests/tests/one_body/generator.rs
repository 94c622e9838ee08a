//! Random bodies of kernels, each beside the same in Rust's own words: `build.rs` writes them as a file of Rust.
//!
//! A body is made by types, so that it compiles. In Rust's own words an integer's `+` is `wrapping_add`, and so on; statements
//! are the same in both. No body divides an integer by 0, uses a function that is not exact, or has a loop without an end.

use std::fmt::Write as _;

use crate::random::Random;

fn one_in(random: &mut Random, count: usize) -> bool {
    random.below(count) == 0
}

fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.below(all.len())]
}

const INTEGERS: &[&str] = &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
const NUMBERS: &[&str] = &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"];

type Ty = &'static str;

fn is_float(ty: Ty) -> bool {
    ty.starts_with('f')
}

fn is_signed(ty: Ty) -> bool {
    !ty.starts_with('u')
}

/// A part of a body: as the kernel has it, and in Rust's own words.
struct Both {
    kernel: String,
    rust: String,
}

impl Both {
    fn same(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kernel: text.clone(), rust: text }
    }
}

struct Variable {
    name: String,
    ty: Ty,
    is_mutable: bool,
}

/// The body that is being made.
struct Body<'a> {
    random: &'a mut Random,
    variables: Vec<Variable>,
    names: usize,
    /// How many loops are open.
    loops: usize,
}

impl Body<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        // Now and then a name hides an earlier one.
        if one_in(self.random, 6) { "hidden".to_owned() } else { format!("v{}", self.names) }
    }

    fn literal(&mut self, ty: Ty) -> String {
        if is_float(ty) {
            let values = ["0.0", "1.0", "0.1", "-2.5", "3.75", "1e10", "-1e-30", "16777217.0"];
            let value = one_of(self.random, &values);
            return if let Some(positive) = value.strip_prefix('-') {
                format!("(-{positive}_{ty})")
            } else {
                format!("{value}_{ty}")
            };
        }
        match self.random.below(6) {
            0 => format!("{ty}::MAX"),
            1 => format!("{ty}::MIN"),
            2 if is_signed(ty) => format!("(-{}_{ty})", self.random.below(100) + 1),
            _ => format!("{}_{ty}", self.random.below(128)),
        }
    }

    fn variable(&mut self, ty: Ty) -> Option<String> {
        let mut seen = Vec::new();
        let mut found = Vec::new();
        for variable in self.variables.iter().rev() {
            if !seen.contains(&&variable.name) {
                seen.push(&variable.name);
                if variable.ty == ty {
                    found.push(variable.name.clone());
                }
            }
        }
        (!found.is_empty()).then(|| found.swap_remove(self.random.below(found.len())))
    }

    /// A variable that can be assigned.
    fn place(&mut self) -> Option<(String, Ty)> {
        let mut seen = Vec::new();
        let mut found = Vec::new();
        for variable in self.variables.iter().rev() {
            if !seen.contains(&&variable.name) {
                seen.push(&variable.name);
                if variable.is_mutable {
                    found.push((variable.name.clone(), variable.ty));
                }
            }
        }
        (!found.is_empty()).then(|| found.swap_remove(self.random.below(found.len())))
    }

    // ---- expressions ----------------------------------------------------------------------------

    fn value(&mut self, ty: Ty, depth: usize) -> Both {
        if depth == 0 || one_in(self.random, 6) {
            if one_in(self.random, 4) {
                return Both::same(self.literal(ty));
            }
            // The arguments are never hidden.
            let argument = one_of(self.random, &["x", "y", "z"]);
            let variable = self.variable(ty);
            return Both::same(variable.unwrap_or_else(|| format!("({argument} as {ty})")));
        }
        match self.random.below(14) {
            13 => {
                let (a, b) = (self.value(ty, depth - 1), self.value(ty, depth - 1));
                Both {
                    kernel: format!("shared_{ty}({}, {})", a.kernel, b.kernel),
                    rust: format!("own_{ty}({}, {})", a.rust, b.rust),
                }
            }
            0 => self.cast(ty, depth),
            1 => self.branch(ty, depth),
            2 => self.block(ty, depth),
            3 => self.choice(ty, depth),
            _ if is_float(ty) => self.float(ty, depth),
            _ => self.integer(ty, depth),
        }
    }

    fn cast(&mut self, ty: Ty, depth: usize) -> Both {
        if !is_float(ty) && one_in(self.random, 4) {
            let Both { kernel, rust } = self.condition(depth - 1);
            return Both {
                kernel: format!("(({kernel}) as {ty})"),
                rust: format!("(({rust}) as {ty})"),
            };
        }
        let from = one_of(self.random, NUMBERS);
        let Both { kernel, rust } = self.value(from, depth - 1);
        Both { kernel: format!("({kernel} as {ty})"), rust: format!("({rust} as {ty})") }
    }

    fn branch(&mut self, ty: Ty, depth: usize) -> Both {
        let condition = self.condition(depth - 1);
        let (then, otherwise) = (self.tail(ty, depth - 1), self.tail(ty, depth - 1));
        let text = |condition: &str, then: &str, otherwise: &str| {
            format!("(if {condition} {{ {then} }} else {{ {otherwise} }})")
        };
        Both {
            kernel: text(&condition.kernel, &then.kernel, &otherwise.kernel),
            rust: text(&condition.rust, &then.rust, &otherwise.rust),
        }
    }

    fn block(&mut self, ty: Ty, depth: usize) -> Both {
        let Both { kernel, rust } = self.tail(ty, depth - 1);
        Both { kernel: format!("({{ {kernel} }})"), rust: format!("({{ {rust} }})") }
    }

    fn choice(&mut self, ty: Ty, depth: usize) -> Both {
        let of = one_of(self.random, INTEGERS);
        let scrutinee = self.value(of, depth - 1);
        let mut whole = Both {
            kernel: format!("(match {} {{ ", scrutinee.kernel),
            rust: format!("(match {} {{ ", scrutinee.rust),
        };
        for pattern in ["0", "1 | 2", "3..=9", "10..", "_"] {
            let Both { kernel, rust } = self.tail(ty, depth - 1);
            // Writing to a string cannot fail.
            let _ = write!(whole.kernel, "{pattern} => {{ {kernel} }} ");
            let _ = write!(whole.rust, "{pattern} => {{ {rust} }} ");
        }
        whole.kernel.push_str("})");
        whole.rust.push_str("})");
        whole
    }

    /// Statements and a value.
    fn tail(&mut self, ty: Ty, depth: usize) -> Both {
        let open = self.variables.len();
        let statements =
            if one_in(self.random, 2) { self.statements(1, depth) } else { Both::same("") };
        let value = self.value(ty, depth);
        self.variables.truncate(open);
        Both {
            kernel: format!("{}{}", statements.kernel, value.kernel),
            rust: format!("{}{}", statements.rust, value.rust),
        }
    }

    fn integer(&mut self, ty: Ty, depth: usize) -> Both {
        let a = self.value(ty, depth - 1);
        let (x, y) = (&a.kernel, &a.rust);
        match self.random.below(if is_signed(ty) { 6 } else { 4 }) {
            0 => return Both { kernel: format!("(!{x})"), rust: format!("(!{y})") },
            1 => {
                let by = self.value("u32", depth - 1);
                let (op, name) =
                    one_of(self.random, &[("<<", "wrapping_shl"), (">>", "wrapping_shr")]);
                return Both {
                    kernel: format!("({x} {op} {})", by.kernel),
                    rust: format!("({y}).{name}({})", by.rust),
                };
            }
            2 => {
                let name = one_of(self.random, &["count_ones", "leading_zeros", "trailing_zeros"]);
                return Both {
                    kernel: format!("(({x}).{name}() as {ty})"),
                    rust: format!("(({y}).{name}() as {ty})"),
                };
            }
            4 => return Both { kernel: format!("(-{x})"), rust: format!("({y}).wrapping_neg()") },
            5 => {
                return Both {
                    kernel: format!("({x}).abs()"),
                    rust: format!("({y}).wrapping_abs()"),
                };
            }
            _ => {}
        }
        let b = self.value(ty, depth - 1);
        let (v, w) = (&b.kernel, &b.rust);
        let infix = [("+", "wrapping_add"), ("-", "wrapping_sub"), ("*", "wrapping_mul")];
        match self.random.below(7) {
            0 => {
                let op = one_of(self.random, &["&", "|", "^"]);
                Both { kernel: format!("({x} {op} {v})"), rust: format!("({y} {op} {w})") }
            }
            1 => {
                let (op, name) =
                    one_of(self.random, &[("/", "wrapping_div"), ("%", "wrapping_rem")]);
                Both {
                    kernel: format!("({x} {op} ({v} | 1))"),
                    rust: format!("({y}).{name}({w} | 1)"),
                }
            }
            2 => {
                let name = one_of(self.random, &["min", "max", "saturating_add", "saturating_sub"]);
                Both { kernel: format!("({x}).{name}({v})"), rust: format!("({y}).{name}({w})") }
            }
            3 => Both {
                kernel: format!("({x}).rem_euclid({v} | 1)"),
                rust: format!("({y}).wrapping_rem_euclid({w} | 1)"),
            },
            _ => {
                let (op, name) = one_of(self.random, &infix);
                Both { kernel: format!("({x} {op} {v})"), rust: format!("({y}).{name}({w})") }
            }
        }
    }

    fn float(&mut self, ty: Ty, depth: usize) -> Both {
        let a = self.value(ty, depth - 1);
        let (x, y) = (&a.kernel, &a.rust);
        match self.random.below(8) {
            0 => return Both { kernel: format!("(-{x})"), rust: format!("(-{y})") },
            1 | 2 => {
                let name = one_of(
                    self.random,
                    &["sqrt", "abs", "floor", "ceil", "round", "trunc", "fract"],
                );
                return Both { kernel: format!("({x}).{name}()"), rust: format!("({y}).{name}()") };
            }
            _ => {}
        }
        let b = self.value(ty, depth - 1);
        let (v, w) = (&b.kernel, &b.rust);
        match self.random.below(8) {
            0 => {
                let c = self.value(ty, depth - 1);
                Both {
                    kernel: format!("({x}).mul_add({v}, {})", c.kernel),
                    rust: format!("({y}).mul_add({w}, {})", c.rust),
                }
            }
            1 => {
                let name = one_of(self.random, &["min", "max"]);
                Both {
                    kernel: format!("({x}).{name}({v})"),
                    rust: format!("{name}_{ty}({y}, {w})"),
                }
            }
            _ => {
                let op = one_of(self.random, &["+", "-", "*", "/", "%", "+", "*"]);
                Both { kernel: format!("({x} {op} {v})"), rust: format!("({y} {op} {w})") }
            }
        }
    }

    fn condition(&mut self, depth: usize) -> Both {
        let depth = depth.max(1);
        match self.random.below(6) {
            0 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                let op = one_of(self.random, &["&&", "||", "&", "|", "^"]);
                Both {
                    kernel: format!("({} {op} {})", a.kernel, b.kernel),
                    rust: format!("({} {op} {})", a.rust, b.rust),
                }
            }
            1 => {
                let Both { kernel, rust } = self.condition(depth - 1);
                Both { kernel: format!("(!{kernel})"), rust: format!("(!{rust})") }
            }
            2 => {
                let ty = one_of(self.random, &["f32", "f64"]);
                let name = one_of(self.random, &["is_nan", "is_finite", "is_infinite"]);
                let Both { kernel, rust } = self.value(ty, depth - 1);
                Both { kernel: format!("({kernel}).{name}()"), rust: format!("({rust}).{name}()") }
            }
            _ => {
                let ty = one_of(self.random, NUMBERS);
                let (a, b) = (self.value(ty, depth - 1), self.value(ty, depth - 1));
                let op = one_of(self.random, &["==", "!=", "<", "<=", ">", ">="]);
                Both {
                    kernel: format!("({} {op} {})", a.kernel, b.kernel),
                    rust: format!("({} {op} {})", a.rust, b.rust),
                }
            }
        }
    }

    // ---- statements -----------------------------------------------------------------------------

    fn statements(&mut self, most: usize, depth: usize) -> Both {
        let mut all = Both::same("");
        for _ in 0..=self.random.below(most + 1) {
            let Both { kernel, rust } = self.statement(depth);
            all.kernel.push_str(&kernel);
            all.rust.push_str(&rust);
        }
        all
    }

    fn scope(&mut self, most: usize, depth: usize) -> Both {
        let open = self.variables.len();
        let all = self.statements(most, depth);
        self.variables.truncate(open);
        all
    }

    fn statement(&mut self, depth: usize) -> Both {
        match self.random.below(9) {
            0..=2 => self.declaration(depth),
            3 | 4 => self.assignment(depth),
            5 => {
                let condition = self.condition(depth.min(2));
                let (then, otherwise) = (self.scope(1, depth / 2), self.scope(1, depth / 2));
                let text = |condition: &str, then: &str, otherwise: &str| {
                    format!("if {condition} {{ {then} }} else {{ {otherwise} }} ")
                };
                Both {
                    kernel: text(&condition.kernel, &then.kernel, &otherwise.kernel),
                    rust: text(&condition.rust, &then.rust, &otherwise.rust),
                }
            }
            6 | 7 if self.loops < 2 => self.repetition(depth),
            8 if self.loops > 0 => {
                let condition = self.condition(depth.min(2));
                let word = one_of(self.random, &["break", "continue"]);
                let label = if one_in(self.random, 2) { "" } else { " 'outer" };
                Both {
                    kernel: format!("if {} {{ {word}{label}; }} ", condition.kernel),
                    rust: format!("if {} {{ {word}{label}; }} ", condition.rust),
                }
            }
            _ => self.declaration(depth),
        }
    }

    fn declaration(&mut self, depth: usize) -> Both {
        let ty = one_of(self.random, NUMBERS);
        let Both { kernel, rust } = self.value(ty, depth);
        let (name, is_mutable) = (self.name(), one_in(self.random, 2));
        let word = if is_mutable { "let mut" } else { "let" };
        let both = Both {
            kernel: format!("{word} {name} = {kernel}; "),
            rust: format!("{word} {name}: {ty} = {rust}; "),
        };
        self.variables.push(Variable { name, ty, is_mutable });
        both
    }

    fn assignment(&mut self, depth: usize) -> Both {
        let Some((name, ty)) = self.place() else { return self.declaration(depth) };
        let Both { kernel, rust } = self.value(ty, depth);
        if one_in(self.random, 3) {
            return Both {
                kernel: format!("{name} = {kernel}; "),
                rust: format!("{name} = {rust}; "),
            };
        }
        if is_float(ty) {
            let op = one_of(self.random, &["+=", "-=", "*=", "/="]);
            return Both {
                kernel: format!("{name} {op} {kernel}; "),
                rust: format!("{name} {op} {rust}; "),
            };
        }
        let (op, called) = one_of(
            self.random,
            &[("+=", "wrapping_add"), ("-=", "wrapping_sub"), ("*=", "wrapping_mul")],
        );
        Both {
            kernel: format!("{name} {op} {kernel}; "),
            // Rust evaluates the right side of `+=` first.
            rust: format!("{{ let right: {ty} = {rust}; {name} = {name}.{called}(right); }} "),
        }
    }

    /// A loop with an end. The outermost one has the label `'outer`.
    fn repetition(&mut self, depth: usize) -> Both {
        let open = self.variables.len();
        let label = if self.loops == 0 { "'outer: " } else { "" };
        let (ty, name) = (one_of(self.random, INTEGERS), self.name());
        let is_while = one_in(self.random, 3);
        self.variables.push(Variable { name: name.clone(), ty, is_mutable: false });
        self.loops += 1;
        let body = self.statements(2, depth / 2);
        self.loops -= 1;
        self.variables.truncate(open);
        let count = self.random.below(4);
        let text = |body: &str, range: &str| {
            if is_while {
                // The counter changes first, so that `continue` does not keep it.
                let counter = format!("counter{open}");
                format!(
                    "let mut {counter} = 0_{ty}; {label}while {counter} < {count} {{ let {name} = {counter}; \
                     {counter} += 1; {body} }} "
                )
            } else {
                format!("{label}for {name} in {range} {{ {body} }} ")
            }
        };
        let range = match self.random.below(4) {
            0 => format!("0_{ty}..{count}"),
            1 => format!("(0_{ty}..{count}).rev()"),
            2 => format!("0_{ty}..={count}"),
            _ => format!("(0_{ty}..={count}).rev()"),
        };
        Both { kernel: text(&body.kernel, &range), rust: text(&body.rust, &range) }
    }
}

/// How many bodies a kernel has. The compiler's time for a function of this kind grows faster than the function.
const OF_A_KERNEL: usize = 3;

/// A file with `count` bodies for each of some types.
pub(crate) fn bodies(seed: u64, count: usize) -> String {
    let mut random = Random::new(seed);
    let mut text = format!("// The seed is {seed}.\n");
    let mut tables = Vec::new();
    for ty in ["i8", "i32", "i64", "u8", "u32", "u64", "f32", "f64"] {
        for first in (0..count).step_by(OF_A_KERNEL) {
            let table = format!("bodies_of_{ty}_from_{first}");
            let _ = write!(
                text,
                "operations! {{\n{ty}_bodies_from_{first} {table} {ty} {ty} [a b c] \
                 [x = *a, y = *b, z = *c]\n"
            );
            for number in first..count.min(first + OF_A_KERNEL) {
                text.push_str(&body(&mut random, ty, number));
            }
            text.push_str("}\n");
            tables.push(table + "()");
        }
    }
    let tables = tables.join(", ");
    let _ = write!(text, "pub(crate) fn all() -> Vec<Subject> {{\nvec![{tables}]\n}}\n");
    text
}

/// A row of the table of a kernel's operations.
fn body(random: &mut Random, ty: Ty, number: usize) -> String {
    let arguments =
        ["x", "y", "z"].map(|name| Variable { name: name.into(), ty, is_mutable: false });
    let mut body = Body { random, variables: arguments.into(), names: 0, loops: 0 };
    let statements = body.statements(4, 3);
    let value = body.value(ty, 4);
    format!(
        "{number} \"body {number}\" Three {{ {}{} }}\n    = {{ {}{} }}\n",
        statements.kernel, value.kernel, statements.rust, value.rust
    )
}
