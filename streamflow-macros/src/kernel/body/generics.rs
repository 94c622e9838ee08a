//! The type parameters and const parameters of kernels with one body, and of the functions that they call.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{GenericParam, Type, TypeParam, TypeParamBound};

use super::tables::own_name;
use crate::diagnostic::Errors;
use crate::kernel::check::name_problem;
use crate::tokens::STANDARD_TRAITS;

/// The parameters, in the forms that the generated items need.
#[derive(Default)]
pub(super) struct Generics {
    /// The function's name.
    place: Option<Span>,
    /// The names of the type parameters.
    pub(super) types: Vec<Ident>,
    /// The names of all parameters.
    pub(super) all: Vec<Ident>,
    /// `T: Float, const N: usize,`
    declared: TokenStream,
    /// `T, const N: usize,`
    unbounded: TokenStream,
    /// `T: KernelArg, const N: usize,`
    arguments: TokenStream,
    /// `(), 0,`
    nothing: TokenStream,
    /// `T, N,`
    names: TokenStream,
}

impl Generics {
    /// Reads the parameters, and reports those that a kernel can't have.
    pub(super) fn of(signature: &syn::Signature, errors: &mut Errors) -> Self {
        let mut all = Self { place: Some(signature.ident.span()), ..Self::default() };
        for param in &signature.generics.params {
            match param {
                GenericParam::Lifetime(param) => {
                    let name = &param.lifetime;
                    let text = format!("a kernel's arguments live for its launch: remove `{name}`");
                    errors.at(param, text);
                }
                GenericParam::Type(param) => {
                    check_type(param, signature.generics.where_clause.is_some(), errors);
                    let TypeParam { ident, bounds, .. } = param;
                    all.declared.extend(quote!(#ident: #bounds,));
                    all.unbounded.extend(quote!(#ident,));
                    all.arguments.extend(quote!(#ident: ::streamflow::__private::body::KernelArg,));
                    all.nothing.extend(quote!((),));
                    all.names.extend(quote!(#ident,));
                    all.types.push(ident.clone());
                    all.all.push(ident.clone());
                }
                GenericParam::Const(param) => {
                    if let Some((_, default)) = &param.default {
                        errors.at(default, "a parameter of a kernel has no default: remove it");
                    }
                    check_name(&param.ident, errors);
                    let (ident, ty) = (&param.ident, &param.ty);
                    let default = match ty.to_token_stream().to_string().as_str() {
                        "bool" => quote!(false),
                        "char" => {
                            errors.at(ty, "a kernel has no `char`: make it a `u32`");
                            quote!('a')
                        }
                        _ => quote!(0),
                    };
                    all.declared.extend(quote!(const #ident: #ty,));
                    all.unbounded.extend(quote!(const #ident: #ty,));
                    all.arguments.extend(quote!(const #ident: #ty,));
                    all.nothing.extend(quote!(#default,));
                    all.names.extend(quote!(#ident,));
                    all.all.push(ident.clone());
                }
            }
        }
        if let Some(clause) = &signature.generics.where_clause {
            let text =
                "a kernel has no `where`: write the bound at the type parameter, as `<T: Float>`";
            errors.at(clause, text);
        }
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// `<T: Float, const N: usize>`, after `impl` or the name of a function.
    pub(super) fn declared(&self) -> TokenStream {
        self.in_brackets(&self.declared)
    }

    /// `<T, const N: usize>`, after the name of a kernel's type.
    pub(super) fn unbounded(&self) -> TokenStream {
        self.in_brackets(&self.unbounded)
    }

    /// `<(), 0>`: an instance that does not exist, with what is the same for all instances.
    pub(super) fn nothing(&self) -> TokenStream {
        self.in_brackets(&self.nothing)
    }

    /// `<T, N>`, after the name of a type.
    pub(super) fn names(&self) -> TokenStream {
        self.in_brackets(&self.names)
    }

    /// `::<T, N>`, after the name of a function.
    pub(super) fn turbofish(&self) -> TokenStream {
        let names = self.names();
        match self.place {
            Some(span) if !self.is_empty() => quote_spanned!(span=> ::#names),
            _ => names,
        }
    }

    /// `T: KernelArg, const N: usize,` for the arguments of a launch: with the user's bounds, rustc would report an instance that is
    /// no kernel twice.
    pub(super) fn arguments(&self) -> &TokenStream {
        &self.arguments
    }

    /// `T: Float, const N: usize,`
    pub(super) fn declared_list(&self) -> &TokenStream {
        &self.declared
    }

    /// `T, N,`
    pub(super) fn name_list(&self) -> &TokenStream {
        &self.names
    }

    /// `T, const N: usize,`
    pub(super) fn unbounded_list(&self) -> &TokenStream {
        &self.unbounded
    }

    /// The list of an item, at the user's token: rustc names the macro as the origin of an error otherwise.
    fn in_brackets(&self, list: &TokenStream) -> TokenStream {
        match self.place {
            Some(span) if !list.is_empty() => quote_spanned!(span=> <#list>),
            _ => TokenStream::new(),
        }
    }

    /// The fields that tie a type to its parameters.
    pub(super) fn marker(&self) -> TokenStream {
        let types = &self.types;
        quote!(::core::marker::PhantomData<fn() -> (#(#types,)*)>)
    }

    /// Whether a type has a type parameter in it.
    pub(super) fn are_in(&self, ty: &Type) -> bool {
        mentions(ty.to_token_stream(), &self.types)
    }
}

pub(super) fn mentions(tokens: TokenStream, names: &[Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}

fn check_name(ident: &Ident, errors: &mut Errors) {
    let name = ident.unraw().to_string();
    if let Some(problem) = name_problem(ident).or(own_name(&name)) {
        errors.at(ident, format!("a parameter cannot be named `{ident}`: {problem}"));
    }
}

fn check_type(param: &TypeParam, has_clause: bool, errors: &mut Errors) {
    let name = &param.ident;
    check_name(name, errors);
    if let Some((_, default)) = &param.default {
        errors.at(default, "a parameter of a kernel has no default: remove it");
    }
    let says_what_it_is = param.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| {
            let last = last.ident.to_string();
            last != "Element" && !STANDARD_TRAITS.contains(&&*last)
        }),
        _ => false,
    });
    if !says_what_it_is && !has_clause {
        let text = format!(
            "a type parameter of a kernel is a number: write `{name}: Number`, or `Signed`, `Integer` or `Float`, of \
             `streamflow::kernel`"
        );
        errors.at(param, text);
    }
}
