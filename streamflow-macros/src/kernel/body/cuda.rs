//! The text of a kernel in CUDA C++: the body in a loop over elements, its names, and its parameters.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use super::host::witnesses;
use super::signature::{Argument, Kind, Signature};
use super::translate::{Body, witness_name};
use super::value::Witness;
use super::value::argument_name;

/// `fn __streamflow_cuda(body) -> String`: the functions, types and constants of the body in CUDA, before it.
pub(super) fn cuda_names(
    signature: &Signature,
    body: &Body,
    result: &TokenStream,
    finish: &TokenStream,
) -> TokenStream {
    let bindings = signature.arguments.iter().map(|Argument { ident, ty, kind }| match kind {
        Kind::Output => quote!(let #ident: &mut #ty = ::streamflow::__private::body::any();),
        Kind::Input => quote!(let #ident: &#ty = ::streamflow::__private::body::any();),
        Kind::Table => quote!(let #ident: &[#ty] = ::streamflow::__private::body::any();),
        Kind::Window => quote!(let #ident: ::streamflow::__private::body::Window<#ty> = ::streamflow::__private::body::any();),
        Kind::Scalar | Kind::Number => quote!(let mut #ident: #ty = ::streamflow::__private::body::any();),
        Kind::Coordinates(idents) => {
            quote!(#(let mut #idents: ::core::primitive::usize = ::streamflow::__private::body::any();)*)
        }
    });
    let entries = entries(body);
    let (witnesses, host, items) = (witnesses(body), &body.host, &body.items);
    // The parameters of a function have their types.
    let is_kernel = signature.arguments.iter().any(|one| matches!(one.kind, Kind::Output));
    let values = signature.arguments.iter().enumerate().filter_map(|(number, argument)| {
        let ty = &argument.ty;
        let is_value = is_kernel && matches!(argument.kind, Kind::Scalar);
        is_value.then(|| quote!(__to.argument(#number, <#ty as ::streamflow::__private::body::KernelArg>::cuda);))
    });
    let (declared, bounds) = (signature.generics.declared(), signature.element_bounds());
    quote! {
        #[allow(unused, clippy::all)]
        fn __streamflow_cuda #declared(
            __body: &str,
            __number: ::core::primitive::usize,
            __types: &mut ::streamflow::__private::body::Types,
        ) -> ::std::string::String #bounds {
            #(#items)*
            let mut __to = ::streamflow::__private::body::CudaText::new(__types);
            #witnesses
            if false {
                #(#bindings)*
                let _: #result = #host;
            }
            #(#values)*
            #entries
            #finish
        }
    }
}

/// The statements that add the functions, types and constants of the body to a text.
pub(super) fn entries(body: &Body) -> TokenStream {
    let entries = body.witnesses.iter().enumerate().map(|(number, witness)| {
        let name = witness_name(number);
        match witness {
            Witness::Type => quote!(__to.ty(#number, &#name);),
            Witness::Function => quote!(__to.function(#number, &#name);),
            Witness::Constant(value) => quote!(__to.constant(#number, &#name, #value);),
            Witness::Pattern { of, value } => {
                let of = witness_name(*of);
                quote!(__to.pattern(#number, &#of, #value);)
            }
        }
    });
    quote!(#(#entries)*)
}

/// The variables of the body in CUDA: references to the elements, and values.
fn bindings(
    signature: &Signature,
    element: impl Fn(&str) -> String,
    number: &str,
    at: [&str; 4],
) -> String {
    let mut text = String::new();
    for (at_place, (number_of_table, argument)) in signature.passed_numbers().enumerate() {
        let (name, own) = (argument.ident.unraw().to_string(), argument_name(&argument.ident));
        text += &match &argument.kind {
            Kind::Output => format!("auto& {own} = {};\n", element(&name)),
            // Stencils have no such text.
            Kind::Input | Kind::Window => format!("const auto {own} = {};\n", element(&name)),
            Kind::Table => {
                format!("const auto {own} = sf::table({name}, {name}_len, {number_of_table}u);\n")
            }
            Kind::Scalar => format!("A{at_place} {own} = sf::passed<A{at_place}>({name});\n"),
            Kind::Number => format!("unsigned long long {own} = {number};\n"),
            Kind::Coordinates(idents) => {
                let skipped = 4 - idents.len();
                let each = idents.iter().zip(&at[skipped..]);
                each.map(|(ident, at)| {
                    format!("unsigned long long {} = {at};\n", argument_name(ident))
                })
                .collect()
            }
        };
    }
    text
}

/// A loop over the numbers of elements below `count`, of this type, around the body. A thread has elements that are apart by the
/// number of threads, so that neighbours read neighbouring memory, and reads them before it writes the first, as far as the
/// compiler sees that it may.
fn numbered(ty: &str, count: &str, body: &str) -> String {
    format!(
        "for ({ty} streamflow_first = thread_index(); streamflow_first < {count}; \
         streamflow_first += streamflow_per_thread * ({ty})thread_count()) {{\n\
         #pragma unroll\n\
         for (int streamflow_k = 0; streamflow_k < streamflow_per_thread; ++streamflow_k) {{\n\
         const {ty} streamflow_i = streamflow_first + streamflow_k * ({ty})thread_count();\n\
         if (streamflow_i < {count}) {{\n{body}\n}}}}}}"
    )
}

/// The element of an argument at the four coordinates, computed in integers of this type.
fn at_coordinates(ty: &str, name: &str) -> String {
    let terms: Vec<_> = (0..4)
        .map(|dim| format!("streamflow_at{dim} * ({ty})streamflow_{name}_stride{dim}"))
        .collect();
    format!("{name}[{}]", terms.join(" + "))
}

const COORDINATES: [&str; 4] =
    ["streamflow_at0", "streamflow_at1", "streamflow_at2", "streamflow_at3"];

/// The body for arguments whose elements follow each other: the elements with one number.
pub(super) fn linear(body: &Body, signature: &Signature) -> String {
    let length = signature.arguments.iter().find(|argument| matches!(argument.kind, Kind::Output));
    let length = length.map_or_else(String::new, |first| format!("{}_len", first.ident.unraw()));
    let i = "streamflow_i";
    let bindings =
        bindings(signature, |name| format!("{name}[{i}]"), i, ["0ull", "0ull", "0ull", i]);
    numbered("unsigned long long", &length, &format!("{bindings}{}", body.cuda))
}

/// The body for fewer than 2³¹ elements, whose coordinates follow from their number: the lengths of dimensions come with what a
/// division by them needs.
pub(super) fn flat(body: &Body, signature: &Signature) -> String {
    let ty = "unsigned int";
    let element = |name: &str| at_coordinates(ty, name);
    let bindings = bindings(signature, element, "streamflow_i", COORDINATES);
    let mut lengths = String::new();
    let mut places = format!("{ty} streamflow_rest = streamflow_i;\n");
    for dim in (1..4).rev() {
        lengths += &format!(
            "const sf::Length streamflow_length{dim} = sf::length(streamflow_shape{dim});\n"
        );
        places += &format!(
            "const {ty} streamflow_at{dim} = streamflow_length{dim}.take(streamflow_rest);\n"
        );
    }
    let count = "streamflow_count";
    let product = "(unsigned int)streamflow_shape0 * streamflow_length1.value * streamflow_length2.value * streamflow_length3.value";
    let body =
        format!("{places}const {ty} streamflow_at0 = streamflow_rest;\n{bindings}{}", body.cuda);
    format!("{lengths}const {ty} {count} = {product};\n{}", numbered(ty, count, &body))
}

/// The number of the element at a place of a shape of four dimensions.
pub(super) const ELEMENT_NUMBER: &str = "((streamflow_at0 * streamflow_shape1 + streamflow_at1) * streamflow_shape2 + streamflow_at2) * \
                                         streamflow_shape3 + streamflow_at3";

/// The body for any strides: a thread has the elements at one place of a shape of four dimensions, and some below it. Blocks are
/// two-dimensional: a transposed view is read along its own rows.
pub(super) fn strided(body: &Body, signature: &Signature) -> String {
    let ty = "unsigned long long";
    let element = |name: &str| at_coordinates(ty, name);
    let bindings = bindings(signature, element, ELEMENT_NUMBER, COORDINATES);
    let body = &body.cuda;
    format!(
        "for ({ty} streamflow_z = thread_index_z(); streamflow_z < streamflow_shape0 * streamflow_shape1; \
         streamflow_z += ({ty})gridDim.z * blockDim.z) {{\n\
         const {ty} streamflow_at0 = streamflow_shape0 == 1 ? 0 : streamflow_z / streamflow_shape1, \
         streamflow_at1 = streamflow_z - streamflow_at0 * streamflow_shape1;\n\
         for ({ty} streamflow_at3 = thread_index(); streamflow_at3 < streamflow_shape3; streamflow_at3 += thread_count()) {{\n\
         for ({ty} streamflow_at2 = thread_index_y(); streamflow_at2 < streamflow_shape2; \
         streamflow_at2 += ({ty})gridDim.y * blockDim.y) {{\n\
         {bindings}{body}\n}}}}}}"
    )
}

/// The parameters of the code for arguments without gaps, as `Operands` passes them. Those of the other codes follow from them.
pub(super) fn params(signature: &Signature) -> TokenStream {
    let each = signature.arguments.iter().filter_map(|Argument { ident, ty, kind }| {
        let name = ident.unraw().to_string();
        let span = syn::spanned::Spanned::span(ty);
        let element =
            quote_spanned!(span=> <#ty as ::streamflow::__private::Element>::ELEMENT_CUDA);
        let arg = quote_spanned!(span=> <#ty as ::streamflow::__private::body::KernelArg>);
        let kind_of = |kind| quote!(::streamflow::__private::ParamKind::#kind);
        let (kind, cuda) = match kind {
            Kind::Output => (kind_of(quote!(SliceMut)), element),
            Kind::Input | Kind::Window => (kind_of(quote!(Slice)), element),
            Kind::Table => (kind_of(quote!(Table)), element),
            Kind::Scalar => (quote!(#arg::KIND), quote!(#arg::PARAM)),
            Kind::Number | Kind::Coordinates(_) => return None,
        };
        Some(quote! {
            ::streamflow::__private::ParamInfo {
                name: #name,
                cuda: #cuda,
                kind: #kind,
            },
        })
    });
    quote!(#(#each)*)
}
