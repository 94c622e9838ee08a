//! The code of a kernel on the simulator: the user's function, and its calls for all elements.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, ItemFn};

use super::signature::{Argument, Kind, Signature};
use super::translate::{Body, witness_name};
use super::value::Witness;

/// The beginning of a body: a short name for the module of its functions, since each operator is a call, and the witnesses as
/// variables of one pattern. rustc nests a scope for each `let`, and a body may have hundreds of witnesses.
pub(super) fn witnesses(body: &Body) -> TokenStream {
    let all = body.witnesses.iter().enumerate();
    let declared = all.filter(|(_, witness)| !matches!(witness, Witness::Pattern { .. }));
    let names: Vec<Ident> = declared.map(|(number, _)| witness_name(number)).collect();
    let values = names.iter().map(|_| quote!(__body::Witness::new()));
    quote! {
        #[allow(unused_imports)]
        use ::streamflow::__private::body as __body;
        let (#(#names,)*) = (#(#values,)*);
    }
}

/// The user's function, with the operators of kernels.
pub(super) fn host_function(function: &ItemFn, body: &Body) -> TokenStream {
    let ItemFn { attrs, vis, sig, .. } = function;
    let mut sig = sig.clone();
    for input in &mut sig.inputs {
        if let FnArg::Typed(input) = input {
            input.attrs.clear();
        }
    }
    let (witnesses, host) = (witnesses(body), &body.host);
    let items = body.items.iter().chain(&body.checks);
    quote! {
        #(#attrs)*
        #[allow(unused_braces, unused_parens, clippy::all)]
        #vis #sig {
            #(#items)*
            #witnesses
            #host
        }
    }
}

/// The call of the user's function for one element.
fn call(
    name: &Ident,
    signature: &Signature,
    element: impl Fn(&Argument) -> TokenStream,
    number: &TokenStream,
    at: &[TokenStream; 4],
) -> TokenStream {
    let arguments = signature.arguments.iter().map(|argument| match &argument.kind {
        Kind::Output | Kind::Input | Kind::Window => element(argument),
        Kind::Scalar | Kind::Table => argument.ident.to_token_stream(),
        Kind::Number => number.clone(),
        Kind::Coordinates(idents) => {
            let at = &at[4 - idents.len()..];
            quote!([#(#at),*])
        }
    });
    let turbofish = signature.generics.turbofish();
    quote!(#name #turbofish(#(#arguments),*))
}

/// The code of the simulator for arguments whose elements follow each other.
pub(super) fn host_linear(name: &Ident, signature: &Signature, reports: bool) -> TokenStream {
    let length = signature.arguments.iter().find(|argument| matches!(argument.kind, Kind::Output));
    let length = length.map(|first| &first.ident);
    // A slice is two parameters.
    let bindings = loaded(signature, 0, 2, |Argument { ident, ty, kind }, at| match kind {
        Kind::Output => {
            quote!(let #ident: &mut [#ty] = ::streamflow::__private::slice_mut(&__args, #at);)
        }
        _ => quote!(let #ident: &[#ty] = ::streamflow::__private::slice(&__args, #at);),
    });
    let zero = quote!(0);
    let number = quote!(__i);
    let at = [zero.clone(), zero.clone(), zero, number.clone()];
    let element = |Argument { ident, kind, .. }: &Argument| match kind {
        Kind::Output => quote!(&mut #ident[__i]),
        _ => quote!(&#ident[__i]),
    };
    let call = call(name, signature, element, &number, &at);
    let each = quote!(for __i in 0..#length.len() { #call; });
    let (declared, kernel) = (signature.generics.declared(), kernel(name, signature));
    let function = quote!(__streamflow_linear #declared);
    code(&function, signature, &quote!(#kernel::LINEAR), reports, bindings, &each)
}

/// The code of the simulator for arguments with any strides, as either of the two codes for them.
pub(super) fn host_places(name: &Ident, signature: &Signature, reports: bool) -> TokenStream {
    // The shape is first. The elements of an argument are an address and four strides.
    let border = signature.stencil.as_ref().map(|stencil| &stencil.border);
    let bindings = loaded(signature, 4, 5, |Argument { ident, ty, kind }, at| match kind {
        Kind::Window => quote! {
            let #ident = ::streamflow::__private::body::Window::<#ty>::of(
                &__args,
                #at,
                ::streamflow::__private::body::Border::#border,
            );
        },
        _ => quote!(let #ident = ::streamflow::__private::body::Elements::<#ty>::of(&__args, #at);),
    });
    let at: [TokenStream; 4] = std::array::from_fn(|dim| quote!(__at[#dim]));
    let element = |Argument { ident, kind, .. }: &Argument| match kind {
        Kind::Output => quote!(&mut *#ident.at(__at)),
        Kind::Window => quote!(#ident.around(__at)),
        _ => quote!(&*#ident.at(__at)),
    };
    let call = call(name, signature, element, &quote!(__number), &at);
    let each = quote! {
        for (__number, __at) in ::streamflow::__private::body::places(&__args, __FLAT).enumerate() {
            #call;
        }
    };
    let (declared, kernel) = (signature.generics.declared_list(), kernel(name, signature));
    let function = quote!(__streamflow_places<const __FLAT: ::core::primitive::bool, #declared>);
    let info = quote!(if __FLAT { #kernel::FLAT } else { #kernel::STRIDED });
    code(&function, signature, &info, reports, bindings, &each)
}

/// The arguments as variables, from the parameters of a launch: the first index, and how many parameters an argument in memory
/// is. Returns them with the index after the last one.
fn loaded(
    signature: &Signature,
    first: usize,
    width: usize,
    memory: impl Fn(&Argument, &TokenStream) -> TokenStream,
) -> (TokenStream, TokenStream) {
    let (mut bindings, mut index) = (TokenStream::new(), quote!(#first));
    for argument in &signature.arguments {
        let Argument { ident, ty, kind } = argument;
        match kind {
            Kind::Output | Kind::Input | Kind::Window => {
                bindings.extend(memory(argument, &index));
                index.extend(quote!(+ #width));
            }
            Kind::Table => {
                bindings.extend(
                    quote!(let #ident: &[#ty] = ::streamflow::__private::slice(&__args, #index);),
                );
                index.extend(quote!(+ 2));
            }
            Kind::Scalar => {
                let arg = quote!(<#ty as ::streamflow::__private::body::KernelArg>);
                bindings.extend(quote!(let #ident: #ty = #arg::get(&__args, #index);));
                index.extend(quote!(+ #arg::PARAMS));
            }
            Kind::Number | Kind::Coordinates(_) => {}
        }
    }
    (bindings, index)
}

/// The kernel as one of its trait.
fn kernel(name: &Ident, signature: &Signature) -> TokenStream {
    let names = signature.generics.names();
    quote!(<#name #names as ::streamflow::__private::MapKernel>)
}

/// The function that the simulator calls for a launch. The report's address is the parameter after those of the arguments.
fn code(
    function: &TokenStream,
    signature: &Signature,
    info: &TokenStream,
    reports: bool,
    (bindings, report): (TokenStream, TokenStream),
    each: &TokenStream,
) -> TokenStream {
    let bounds = signature.element_bounds();
    let faults = reports.then(|| {
        quote!(let __faults = ::streamflow::__private::body::Faults::of(&__args, #report, #info);)
    });
    quote! {
        #[allow(unused, clippy::all)]
        unsafe fn #function(__args: ::streamflow::__private::HostArgs<'_>) #bounds {
            // SAFETY: the parameters are those of this code, and the caller vouches for the memory.
            unsafe {
                #faults
                #bindings
                #each
            }
        }
    }
}
