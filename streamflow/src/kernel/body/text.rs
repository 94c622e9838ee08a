//! The types and constants of a body, as text in CUDA.

use std::fmt::Write;
use std::marker::PhantomData;

use super::Value;

/// A place of the body that has a type. rustc infers `T` together with the body.
#[derive(Debug, Default)]
pub struct Witness<T>(PhantomData<T>);

impl<T> Witness<T> {
    /// A witness of a type that is not known yet.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// The value, whose type the witness has.
    #[inline(always)]
    pub fn of(&self, value: T) -> T {
        value
    }
}

/// The constant of a kernel's text that says how many elements a thread has at a time.
pub fn per_thread(count: usize) -> String {
    format!("const int streamflow_per_thread = {count};\n")
}

/// A function that kernels call, made by `#[kernel_fn]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of kernels",
    note = "a kernel calls functions with `#[kernel_fn]`"
)]
pub trait KernelFn {
    /// Whether a division in it may be one by 0.
    const REPORTS: bool;
    /// Whether it has no loops and few statements.
    const IS_SHORT: bool;

    /// The function in CUDA, as `C3` for the number 3.
    fn cuda(number: usize) -> String;
}

/// The types and constants, in the order of the witnesses.
#[derive(Debug, Default)]
pub struct CudaText(String);

impl CudaText {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// The type `W3`.
    pub fn ty<T: Value>(&mut self, number: usize, _: &Witness<T>) {
        self.line(format_args!("typedef {} W{number};", T::CUDA));
    }

    /// The type `W3`, and the constant `L3`.
    pub fn constant<T: Value>(&mut self, number: usize, witness: &Witness<T>, value: T) {
        self.ty(number, witness);
        self.pattern(number, witness, value);
    }

    /// The constant `L3`, of the type of another witness.
    pub fn pattern<T: Value>(&mut self, number: usize, _: &Witness<T>, value: T) {
        self.line(format_args!("const {} L{number} = {};", T::CUDA, value.spell()));
    }

    /// The function `C3`.
    pub fn function<F: KernelFn>(&mut self, number: usize) {
        self.line(format_args!("{}", F::cuda(number)));
    }

    /// The text of a function with these parameters, each a type and a name: the object `C3` of a local type `F3`, whose operator
    /// has the body. The types and constants of the body are within it, as are the functions that it calls.
    pub fn finish_function<R: Value>(
        self,
        number: usize,
        reports: bool,
        parameters: &[(&str, &str)],
        body: &str,
    ) -> String {
        let parameters: String =
            parameters.iter().map(|(ty, name)| format!(", {ty} {name}")).collect();
        let (field, faults, value) = if reports {
            (
                "const sf::Faults* faults;",
                "const sf::Faults& streamflow_faults = *faults;",
                "&streamflow_faults",
            )
        } else {
            ("", "", "")
        };
        format!(
            "struct F{number} {{ {field}\n__device__ __forceinline__ {} operator()(long long streamflow_line{parameters}) const \
             {{\n{faults}\n{}{body}\n}}\n}};\nconst F{number} C{number} = {{{value}}};",
            R::CUDA,
            self.0
        )
    }

    /// The text, with the body behind it.
    pub fn finish(mut self, body: &str) -> String {
        self.line(format_args!("{body}"));
        self.0
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{text}");
    }
}
