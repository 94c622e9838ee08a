//! The text of a stencil in CUDA C++: the loops over tiles of its output, with the calls for blocks within the windows' edges and for
//! blocks at an edge.

use std::fmt::Write;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::cuda::ELEMENT_NUMBER;
use super::signature::{Argument, Kind, Signature};
use super::stencil::Stencil;
use super::value::argument_name;

/// The threads of a block along the last two dimensions, and the rows of a thread: neighbours below each other share what they read.
struct Shape {
    threads: [u32; 2],
    rows: u32,
}

impl Shape {
    fn of(stencil: &Stencil) -> Self {
        match stencil.reach.len() {
            1 => Self { threads: [1, 256], rows: 1 },
            _ => Self { threads: [8, 32], rows: 4 },
        }
    }

    /// The elements of a block.
    fn tile(&self) -> [u32; 2] {
        [self.threads[0] * self.rows, self.threads[1]]
    }
}

/// The threads of a block, for `KernelInfo`.
pub(super) fn threads(signature: &Signature) -> TokenStream {
    let Some(stencil) = &signature.stencil else { return quote!(::core::option::Option::None) };
    let [y, x] = Shape::of(stencil).threads;
    quote!(::core::option::Option::Some([#x, #y, 1]))
}

/// The constant `TILES` of `MapKernel`.
pub(super) fn tiles(signature: &Signature) -> TokenStream {
    let Some(stencil) = &signature.stencil else { return quote!(::core::option::Option::None) };
    let (rank, [y, x]) = (stencil.reach.len(), Shape::of(stencil).tile().map(u64::from));
    quote!(::core::option::Option::Some(::streamflow::__private::Tiles { rank: #rank, elements: [#y, #x] }))
}

/// The types of the arguments, as pairs of their name and their type in CUDA.
pub(super) fn types(signature: &Signature) -> TokenStream {
    let each = signature.arguments.iter().filter_map(|Argument { ident, ty, kind }| {
        let (name, span) = (ident.unraw().to_string(), ty.span());
        Some(match kind {
            Kind::Output | Kind::Input | Kind::Window | Kind::Table => {
                quote_spanned!(span=> (#name, |_| ::std::string::String::from(<#ty as ::streamflow::__private::Element>::ELEMENT_CUDA)))
            }
            Kind::Scalar => quote_spanned!(span=> (#name, <#ty as ::streamflow::__private::body::KernelArg>::cuda)),
            Kind::Number | Kind::Coordinates(_) => return None,
        })
    });
    quote!(&[#(#each),*])
}

/// The parameters of the body for blocks within the edges, and for others.
pub(super) fn parameters(signature: &Signature, stencil: &Stencil) -> [String; 2] {
    let outer = format!("Outer<TYPE, sf::{}>", stencil.border);
    ["Inner<TYPE>", &outer].map(|window| {
        let each = signature.arguments.iter().flat_map(|Argument { ident, kind, .. }| {
            let (own, ty) = (argument_name(ident), format!("streamflow_{}_type", ident.unraw()));
            match kind {
                Kind::Output => vec![format!("{ty}& {own}")],
                Kind::Input => vec![format!("const {ty} {own}")],
                Kind::Window => vec![format!("const sf::{} {own}", window.replace("TYPE", &ty))],
                Kind::Table => vec![format!("const sf::Table<{ty}> {own}")],
                Kind::Scalar => vec![format!("{ty} {own}")],
                Kind::Number => vec![format!("unsigned long long {own}")],
                Kind::Coordinates(idents) => {
                    let each = idents.iter().map(argument_name);
                    each.map(|own| format!("unsigned long long {own}")).collect()
                }
            }
        });
        each.collect::<Vec<_>>().join(", ")
    })
}

/// The loops. If `is_dense`, the last step of outputs and windows is 1.
pub(super) fn loops(signature: &Signature, stencil: &Stencil, is_dense: bool) -> String {
    let shape = Shape::of(stencil);
    let ([height, width], [_, across]) = (shape.tile(), shape.threads);
    let (rank, rows) = (stencil.reach.len(), shape.rows);
    let mut text = String::new();
    let mut closing = 0;
    // Writing to a string cannot fail.
    let mut line = |line: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{line}");
    };
    let number = "const unsigned long long";
    if rank > 2 {
        line(format_args!(
            "for (unsigned long long streamflow_z = blockIdx.z; streamflow_z < streamflow_shape0 * streamflow_shape1; \
             streamflow_z += gridDim.z) {{"
        ));
        closing += 1;
    }
    let [at0, at1] = match rank {
        4 => ["streamflow_z / streamflow_shape1", "streamflow_z % streamflow_shape1"],
        3 => ["0", "streamflow_z"],
        _ => ["0", "0"],
    };
    line(format_args!("{number} streamflow_at0 = {at0}, streamflow_at1 = {at1};"));
    if rank > 1 {
        line(format_args!(
            "for (unsigned long long streamflow_y = (unsigned long long)blockIdx.y * {height}; streamflow_y < \
             streamflow_shape2; streamflow_y += (unsigned long long)gridDim.y * {height}) {{"
        ));
        closing += 1;
        line(format_args!("{number} streamflow_first = streamflow_y + threadIdx.y * {rows};"));
    } else {
        line(format_args!("{number} streamflow_first = 0;"));
    }
    line(format_args!("{number} streamflow_x = (unsigned long long)blockIdx.x * {across};"));
    line(format_args!("{number} streamflow_at3 = streamflow_x + threadIdx.x;"));
    // The first of a thread's elements in each argument, and the step to that in the next row.
    let in_memory = signature.arguments.iter().filter(|argument| argument.kind.is_in_memory());
    for Argument { ident, kind, .. } in in_memory {
        let name = ident.unraw();
        let stride = |dim: usize| match kind {
            Kind::Output | Kind::Window if is_dense && dim == 3 => "1".to_owned(),
            _ => format!("streamflow_{name}_stride{dim}"),
        };
        let terms: Vec<_> = (4 - rank..4)
            .map(|dim| match dim {
                2 => format!("streamflow_first * {}", stride(2)),
                dim => format!("streamflow_at{dim} * {}", stride(dim)),
            })
            .collect();
        line(format_args!("{number} streamflow_{name}_first = {};", terms.join(" + ")));
    }
    let begins = ["streamflow_at0", "streamflow_at1", "streamflow_y", "streamflow_x"];
    let counts = [1, 1, height, width];
    let within: Vec<_> = (4 - rank..4)
        .zip(&stencil.reach)
        .map(|(dim, reach)| {
            format!(
                "sf::is_within({}, {}, {reach}, streamflow_shape{dim})",
                begins[dim], counts[dim]
            )
        })
        .collect();
    line(format_args!("if ({}) {{", within.join(" && ")));
    for (object, unroll, condition) in [
        ("streamflow_inner", "#pragma unroll", String::new()),
        (
            "streamflow_outer",
            "#pragma unroll 1",
            "if (streamflow_at2 < streamflow_shape2 && streamflow_at3 < streamflow_shape3) "
                .to_owned(),
        ),
    ] {
        let passed = passed(signature, object == "streamflow_inner", rank, is_dense);
        line(format_args!(
            "{unroll}\nfor (unsigned int streamflow_row = 0; streamflow_row < {rows}; ++streamflow_row) {{\n\
             {number} streamflow_at2 = streamflow_first + streamflow_row;\n\
             {condition}{object}({passed});\n}}"
        ));
        line(format_args!("{}", if condition.is_empty() { "} else {" } else { "}" }));
    }
    line(format_args!("{}", "}".repeat(closing)));
    text
}

/// The arguments of a call of the body.
fn passed(signature: &Signature, is_inner: bool, rank: usize, is_dense: bool) -> String {
    let each = signature.passed_numbers().flat_map(|(number, Argument { ident, kind, .. })| {
        let name = ident.unraw().to_string();
        // The dimensions before those of the stencil have one element.
        let has = |dim: usize| dim + rank >= 4;
        let step = |dim: usize| match dim {
            3 if is_dense => "1".to_owned(),
            dim if has(dim) => format!("(long long)streamflow_{name}_stride{dim}"),
            _ => "0".to_owned(),
        };
        let row = if has(2) {
            format!(" + streamflow_row * streamflow_{name}_stride2")
        } else {
            String::new()
        };
        let place = format!("streamflow_{name}_first{row}");
        let all = |each: &dyn Fn(usize) -> String| (0..4).map(each).collect::<Vec<_>>().join(", ");
        vec![match kind {
            Kind::Output | Kind::Input => format!("{name}[{place}]"),
            Kind::Window if is_inner => {
                format!("{{{name} + streamflow_{name}_first, (int)streamflow_row, {}}}", all(&step))
            }
            Kind::Window => {
                let at = |dim: usize| format!("(long long)streamflow_at{dim}");
                let len = |dim: usize| {
                    if has(dim) {
                        format!("(long long)streamflow_shape{dim}")
                    } else {
                        "1".to_owned()
                    }
                };
                format!("{{{name}, {}, {}, {}}}", all(&at), all(&len), all(&step))
            }
            Kind::Table => format!("sf::table({name}, {name}_len, {number}u)"),
            Kind::Scalar => format!("sf::passed<streamflow_{name}_type>({name})"),
            Kind::Number => ELEMENT_NUMBER.to_owned(),
            Kind::Coordinates(idents) => {
                let each = (4 - idents.len()..4).map(|dim| format!("streamflow_at{dim}"));
                return each.collect();
            }
        }]
    });
    each.collect::<Vec<_>>().join(", ")
}
