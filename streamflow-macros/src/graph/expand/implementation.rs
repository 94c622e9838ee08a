//! Writes the methods of the graph's struct.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Type, Visibility};

use super::diagram::Diagram;
use super::idents::hygienic_platform;
use super::paths::{operator_call, operator_item, parenthesized};
use super::{constructor, handle, idents};
use crate::graph::model::{Graph, Node};
use crate::graph::parts::Header;
use crate::graph::spans::first_and_last;

/// Writes `new`, `diagram`, the methods that run the graph, and the accessors of the operators.
pub(super) fn expand_methods(graph: &Graph, diagram: &Diagram) -> TokenStream {
    let header = &graph.header;
    let (visibility, own) = (&header.visibility, header.own_type());
    let (generics, type_arguments, clauses) = header.generics.split_for_impl();
    let params = header.params.iter().map(|param| {
        let (name, ty) = (&param.name, &param.ty);
        quote!(#name: #ty)
    });
    // `fn new` has the span of the graph's `struct`: rustc shows it as the definition if a caller passes wrong arguments.
    let span = header.keyword.span;
    let new = quote_spanned!(span=> fn new);
    let arguments = quote!(platform: &::streamflow::__private::Platform, #(#params,)*);
    let arguments = parenthesized(span, arguments);
    let (body, platform) = (constructor::expand_new(graph), hygienic_platform());
    let (runs, diagram) = (expand_runs(graph), expand_diagram(graph, diagram));
    let nodes = graph.nodes.iter().filter(|node| node.has_accessors);
    let accessors = nodes.map(|node| {
        let shown = expand_accessor(header, node);
        let this = quote!(self);
        let changed = expand_accessor_mut(visibility, node, &quote!(&mut self), &this, &quote!('_));
        quote!(#shown #changed)
    });
    let params = quote!(::streamflow::__private::GraphParts::params(&self.__streamflow));
    let (handle, loading) = (handle::handle_name(graph), handle::expand_loading(graph, &params));
    // This documentation is not written with one span for all lines: clippy would then not find its section `# Errors`.
    quote! {
        #[allow(dead_code, clippy::missing_errors_doc)]
        impl #generics #own #clauses {
            /// Makes the operators, the stream pools and the edges between them. Nothing runs yet.
            ///
            /// # Errors
            /// Those of the operators' constructors; a `count` of 0, or another condition that can never
            /// hold; the platform's, when it has no such device or can't make a reserved stream.
            #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
            #visibility #new #arguments -> ::core::result::Result<Self, ::streamflow::__private::Error> {
                let #platform = platform;
                #body
            }

            #diagram

            #runs

            /// Sets the parameters of the operators, from any thread: a method for each node.
            #[must_use]
            #visibility fn params(&self) -> #handle #type_arguments {
                #handle(::core::clone::Clone::clone(::streamflow::__private::GraphParts::params(&self.__streamflow)), ::core::marker::PhantomData)
            }

            #loading

            #(#accessors)*
        }
    }
}

/// Writes `run`, `run_for`, `tick` and `end_run`. `spawn` is a method of a trait and not written here: in this expansion, rustc
/// would have to prove that the graph is `Send`, and would report each mistake of an operator's type once more, at the whole
/// macro.
fn expand_runs(graph: &Graph) -> TokenStream {
    let header = &graph.header;
    let (visibility, span) = (&header.visibility, header.keyword.span);
    let report = quote!(::core::result::Result<::streamflow::__private::Report, ::streamflow::__private::Error>);
    let run =
        quote_spanned!(span=> fn run(&mut self) -> #report { ::streamflow::__private::run(self) });
    quote! {
        /// Runs the graph on this thread, and on the graph's workers if any were set, until no node can run any more or an
        /// operator ends the run. The report says why the run ended, and what each node did. In a further run, the operators keep
        /// their state, but their ticks and counts begin at 0 again.
        ///
        /// # Errors
        /// The first error, or panic, of an operator or of the device, with node and tick, and
        /// what followed from it; `Error::Stalled` if a node is stuck. Everything is released.
        #visibility #run

        /// Runs the graph as `run` does, for a number of ticks of each node without inputs, or for a `Duration`.
        ///
        /// # Errors
        /// As for `run`; `Error::RunLimit` if the limit can't be kept.
        #visibility fn run_for(
            &mut self,
            limit: impl ::core::convert::Into<::streamflow::__private::RunFor>,
        ) -> #report {
            ::streamflow::__private::run_for(self, ::core::convert::Into::into(limit))
        }

        /// Runs each node that is ready once, and does not wait. The first call begins a run, and `end_run` ends it. A call of
        /// `run` or `run_for` goes on with that run to its end. Dropping the graph calls no `stop` hook.
        ///
        /// # Errors
        /// As for `run`; then the run has ended.
        #visibility fn tick(
            &mut self,
        ) -> ::core::result::Result<::streamflow::__private::Stepped, ::streamflow::__private::Error> {
            ::streamflow::__private::tick(self)
        }

        /// Ends a run that `tick` has begun.
        ///
        /// # Errors
        /// As for `run`; `Error::NotStepped` if there is no such run.
        #visibility fn end_run(&mut self) -> #report {
            ::streamflow::__private::end_run(self)
        }
    }
}

/// Writes the function that returns the diagram. After a mistake that the macro reports, the declaration is a panic: rustc would report
/// the types of the nodes once more.
pub(super) fn expand_diagram(graph: &Graph, diagram: &Diagram) -> TokenStream {
    let visibility = &graph.header.visibility;
    let declaration = match graph.has_checks() {
        true => diagram.expand(graph),
        false => quote!(::core::panic!("the graph has a mistake")),
    };
    quote! {
        /// Returns the declaration of the graph as a diagram, with the graphs inside.
        #[must_use]
        #visibility fn diagram() -> ::streamflow::__private::Diagram {
            ::streamflow::__private::Diagram::__streamflow_new(Self::__streamflow_declaration())
        }

        fn __streamflow_declaration() -> ::streamflow::__private::Declaration {
            #declaration
        }
    }
}

/// Writes the accessor of a node's operator, as `source1()`. Its spans are those of the node's type, unchanged, since rustc's message
/// else mentions the macro.
pub(super) fn expand_accessor(header: &Header, node: &Node) -> TokenStream {
    let visibility = &header.visibility;
    let (docs, name, ty) = (&node.attributes.docs, &node.name, &node.ty);
    let text = match node.element() {
        Some(_) => format!("The operators of the array `{}`, in order.", node.unraw_name()),
        None => format!("The operator `{}`.", node.unraw_name()),
    };
    let (first, last) = first_and_last(ty);
    let (this, field) = (Ident::new("self", first), idents::field(node));
    let operator = quote_spanned!(last=> & #this.#field);
    let shown = operator_call(ty, "__streamflow_shown", operator);
    let lent = |ty: &Type| match header.is_param(ty) {
        true => {
            let shown = operator_item(ty, "Shown");
            quote!(#shown<'_>)
        }
        false => quote!(&#ty),
    };
    let (returned, shown) = match node.element() {
        Some(element) => {
            let lent = lent(element);
            (
                quote_spanned!(last=> ::std::vec::IntoIter<#lent>),
                quote!(::core::iter::IntoIterator::into_iter(#shown)),
            )
        }
        None => (lent(ty), shown),
    };
    let blank = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    quote! {
        #[doc = #text]
        #blank
        #(#docs)*
        #[must_use]
        #visibility fn #name(&#this) -> #returned {
            #shown
        }
    }
}

/// Writes the accessor that lends a node's operator to be changed, as `source1_mut()`. The method takes `receiver`, and finds the
/// node in `this`, which lives for `life`.
pub(super) fn expand_accessor_mut(
    visibility: &Visibility,
    node: &Node,
    receiver: &TokenStream,
    this: &TokenStream,
    life: &TokenStream,
) -> TokenStream {
    let (name, ty) = (&node.name, &node.ty);
    let text = match node.element() {
        Some(_) => format!(
            "The operators of the array `{}`, to change them between runs.",
            node.unraw_name()
        ),
        None => format!("The operator `{}`, to change it between runs.", node.unraw_name()),
    };
    let name = format_ident!("{}_mut", name);
    let (_, last) = first_and_last(ty);
    let respanned = |tokens: &TokenStream| {
        tokens.clone().into_iter().map(move |mut token| {
            token.set_span(last);
            token
        })
    };
    let (receiver, this): (TokenStream, TokenStream) =
        (respanned(receiver).collect(), respanned(this).collect());
    let lent = operator_item(node.element().unwrap_or(ty), "Mut");
    let field = idents::field(node);
    let operator = quote_spanned!(last=> &mut #this.#field);
    let shown = operator_call(ty, "__streamflow_shown_mut", operator);
    let lent = quote_spanned!(last=> #lent<#life>);
    let (lent, shown) = match node.element() {
        Some(_) => (
            quote_spanned!(last=> ::std::vec::IntoIter<#lent>),
            quote!(::core::iter::IntoIterator::into_iter(#shown)),
        ),
        None => (lent, shown),
    };
    quote! {
        #[doc = #text]
        #visibility fn #name(#receiver) -> #lent {
            #shown
        }
    }
}
