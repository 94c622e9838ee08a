//! The types and constants of a body, as text in CUDA.

use std::any::TypeId;
use std::fmt::Write;
use std::marker::PhantomData;

use super::argument::CHUNKS;
use super::{KernelArg, Types};

/// A place of the body that has a type. rustc infers `T` together with the body.
#[derive(Debug, Default)]
pub struct Witness<T>(PhantomData<T>);

impl<T> Witness<T> {
    /// A witness of a type that is not known yet.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// The value, whose type the witness has.
#[inline(always)]
pub fn typed<T>(_: &Witness<T>, value: T) -> T {
    value
}

/// The elements of a constant array, whose type the witness has, without a copy of it.
#[inline(always)]
pub fn elements<'a, T, const N: usize>(_: &Witness<[T; N]>, array: &'a [T; N]) -> &'a [T] {
    array
}

/// How many elements a thread has at a time, in a launch with many: a body that is not short needs no more to be busy.
pub const fn elements_at_a_time(is_short: bool) -> usize {
    if is_short { 4 } else { 1 }
}

/// The constant of a kernel's text that says how many elements a thread has at a time.
pub fn per_thread(count: usize) -> String {
    format!("const int streamflow_per_thread = {count};\n")
}

/// The result of a function that kernels call, with the type of its instance.
#[derive(Debug)]
pub struct Called<F, R>(R, PhantomData<F>);

impl<F, R> Called<F, R> {
    /// A result.
    #[inline(always)]
    pub fn of(result: R) -> Self {
        Self(result, PhantomData)
    }

    /// The result. The witness has the type of the instance.
    #[inline(always)]
    pub fn tell(self, _: &Witness<F>) -> R {
        self.0
    }
}

/// A function that kernels call, made by `#[kernel_fn]`, or an instance of a generic one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of kernels",
    note = "a kernel calls functions with `#[kernel_fn]`"
)]
pub trait KernelFn: 'static {
    /// The function in CUDA, as `C3` for the number 3.
    fn cuda(number: usize, types: &mut Types) -> String;
}

/// A function of one value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of one value",
    label = "no function of one value",
    note = "write it as `#[kernel_fn] fn {Self}(x: f32) -> f32`"
)]
pub trait Unary: KernelFn {
    /// The argument.
    type Input;
    /// The result.
    type Output;

    /// Calls the function.
    #[track_caller]
    fn call(value: Self::Input) -> Self::Output;
}

/// A name, and what tells its type in CUDA.
type Typed<'a> = (&'a str, fn(&mut Types) -> String);

/// The text of a function with a number, and the line that its reports name.
pub type Mapped = (fn(usize, &mut Types) -> String, u32);

/// The statements of a reduction by the function `F`: its elements are of the type `element`, and `map` is the text of the function
/// that makes a value of one. Reports name `line`.
pub fn reduction<F: KernelFn, T: KernelArg>(
    element: &str,
    identity: T,
    map: Option<Mapped>,
    line: u32,
) -> String {
    Types::with(|types| of_types::<F, T>(element, identity, map, line, types))
}

fn of_types<F: KernelFn, T: KernelArg>(
    element: &str,
    identity: T,
    map: Option<Mapped>,
    line: u32,
    types: &mut Types,
) -> String {
    let (ty, identity, combine) = (T::cuda(types), identity.spell(), F::cuda(0, types));
    let (text, field, of, value) = match map {
        Some((map, line)) => (map(1, types), "F1 map;", format!("map({line}, value)"), ", C1"),
        None => (String::new(), "", "value".to_owned(), ""),
    };
    let member = "__device__ __forceinline__";
    format!(
        "{combine}\n{text}\nstruct streamflow_reduction {{\n\
         typedef {element} In;\ntypedef {ty} State;\ntypedef {ty} Out;\nF0 combined;\n{field}\n\
         {member} State identity() const {{ return {identity}; }}\n\
         {member} State of(In value, unsigned long long) const {{ return {of}; }}\n\
         {member} State combine(State a, State b) const {{ return combined({line}, a, b); }}\n\
         {member} Out finish(State value, unsigned long long) const {{ return value; }}\n\
         }};\nconst streamflow_reduction streamflow_op = {{C0{value}}};"
    )
}
/// Tells the name of a type in CUDA.
type Spelled = fn(&mut Types) -> String;

/// The types and constants, in the order of the witnesses.
#[derive(Debug)]
pub struct CudaText<'a> {
    text: String,
    types: &'a mut Types,
    /// The functions, each with its number.
    functions: Vec<(TypeId, usize)>,
}

impl<'a> CudaText<'a> {
    /// No text.
    pub fn new(types: &'a mut Types) -> Self {
        Self { text: String::new(), types, functions: Vec::new() }
    }

    /// The type `W3`.
    pub fn ty<T: KernelArg>(&mut self, number: usize, _: &Witness<T>) {
        let cuda = T::cuda(self.types);
        self.line(format_args!("typedef {cuda} W{number};"));
    }

    /// The type `A3`, of an argument.
    pub fn argument(&mut self, number: usize, cuda: Spelled) {
        let cuda = cuda(self.types);
        self.line(format_args!("typedef {cuda} A{number};"));
    }

    /// The type `W3`, and the constant `L3`.
    pub fn constant<T: KernelArg>(&mut self, number: usize, witness: &Witness<T>, value: T) {
        self.ty(number, witness);
        self.pattern(number, witness, value);
    }

    /// The constant `L3`, of the type of another witness.
    pub fn pattern<T: KernelArg>(&mut self, number: usize, _: &Witness<T>, value: T) {
        let (cuda, value) = (T::cuda(self.types), value.spell());
        // An array is data of the program, as far as its elements are literals: NaN and the infinities are calls. Else each thread
        // would write a copy of its own.
        let is_data = T::PARAM == CHUNKS && !value.contains("sf::");
        let place = if is_data { "static " } else { "" };
        self.line(format_args!("{place}const {cuda} L{number} = {value};"));
    }

    /// The function `C3`. A second one of its type is the same function by another name.
    pub fn function<F: KernelFn>(&mut self, number: usize, _: &Witness<F>) {
        let id = TypeId::of::<F>();
        if let Some((_, first)) = self.functions.iter().find(|(known, _)| *known == id) {
            let first = *first;
            return self.line(format_args!(
                "typedef F{first} F{number}; const F{number} C{number} = C{first};"
            ));
        }
        self.functions.push((id, number));
        let text = F::cuda(number, self.types);
        self.line(format_args!("{text}"));
    }

    /// The text of a function with these parameters, each a name and what tells its type: the object `C3` of a local type `F3`,
    /// whose operator has the body. The types and constants of the body are within it, as are the functions that it calls.
    pub fn finish_function<R: KernelArg>(
        self,
        number: usize,
        reports: bool,
        parameters: &[(&str, Spelled)],
        body: &str,
    ) -> String {
        let each = parameters.iter().map(|(name, ty)| format!(", {} {name}", ty(self.types)));
        let parameters: String = each.collect();
        let result = R::cuda(self.types);
        let parameters = format!("long long streamflow_line{parameters}");
        let names = [format!("F{number}"), format!("C{number}")];
        self.object(&names, &result, reports, &parameters, body)
    }

    /// The text of a stencil: an object for blocks within the windows' edges, and one for blocks at an edge, each with its
    /// parameters and the whole body, and the loops that call them. Before them the type of each argument has a name.
    pub fn finish_stencil(
        self,
        reports: bool,
        types: &[Typed<'_>],
        [inner, outer]: [&str; 2],
        body: &str,
        loops: &str,
    ) -> String {
        let each = types
            .iter()
            .map(|(name, ty)| format!("typedef {} streamflow_{name}_type;\n", ty(self.types)));
        let types: String = each.collect();
        let object = |class: &str, name: &str, parameters| {
            self.object(&[class.to_owned(), name.to_owned()], "void", reports, parameters, body)
        };
        let inner = object("StreamflowInner", "streamflow_inner", inner);
        let outer = object("StreamflowOuter", "streamflow_outer", outer);
        format!("{types}{inner}\n{outer}\n{loops}")
    }

    /// An object of a local type, by the names of the type and of the object. Its operator has the body, within it all that the
    /// body names, and a label of its own for each loop.
    fn object(
        &self,
        [class, name]: &[String; 2],
        result: &str,
        reports: bool,
        parameters: &str,
        body: &str,
    ) -> String {
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
            "struct {class} {{ {field}\n__device__ __forceinline__ {result} operator()({parameters}) const \
             {{\n{faults}\n{}{body}\n}}\n}};\nconst {class} {name} = {{{value}}};",
            self.text
        )
    }

    /// The text, with the body behind it.
    pub fn finish(mut self, body: &str) -> String {
        self.line(format_args!("{body}"));
        self.text
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{text}");
    }
}
