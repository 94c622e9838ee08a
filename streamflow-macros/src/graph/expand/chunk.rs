//! Divides the nodes and edges of a graph into chunks of a few. The code of each chunk runs in a closure, which has its own stack
//! frame.
//!
//! If all code were in one function, each of a thousand values would take bytes of its own in the stack frame. Each of a thousand
//! calls that may panic would also need code that drops all values made before it, so rustc's time would grow with the square of
//! the number of nodes.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, ExprClosure, Pat};

use super::again::again;
use super::checked::{element_value_type, value_type};
use super::conditions::{self, make_conditions};
use super::idents::{self, hygienic};
use crate::expression::evaluate;
use crate::graph::model::{Graph, Node};
use crate::graph::parts::{Header, OnFailure};
use crate::graph::spans::first_and_last;

/// The number of nodes, or of edges, that one closure makes.
pub(super) const SIZE: usize = 16;

/// Writes a closure and its call. The closure runs the statements, in which `?` takes any error, and returns the value.
fn run_in_own_frame(
    ty: &TokenStream,
    statements: &TokenStream,
    value: &TokenStream,
) -> TokenStream {
    quote! {
        ::streamflow::__private::in_own_frame(|| -> ::core::result::Result<#ty, ::streamflow::__private::Failure> {
            #statements
            ::core::result::Result::Ok(#value)
        })?
    }
}

/// Writes a closure, and its call, that runs statements and returns no value.
pub(super) fn run_in_closure(statements: &TokenStream) -> TokenStream {
    let framed = run_in_own_frame(&quote!(()), statements, &quote!(()));
    quote!(#framed;)
}

/// Writes one closure for each chunk of statements that return no value.
pub(super) fn run_in_chunks(statements: &[TokenStream]) -> TokenStream {
    let chunks = statements.chunks(SIZE);
    chunks.map(|statements| run_in_closure(&statements.iter().cloned().collect())).collect()
}

/// A chunk of the graph's nodes.
pub(super) struct Chunk<'a> {
    /// The index of this chunk among all chunks.
    pub(super) index: usize,
    /// The nodes of this chunk, each with its index in the graph.
    pub(super) nodes: Vec<(usize, &'a Node)>,
}

/// Divides the nodes of a graph into chunks.
pub(super) fn divide_nodes(graph: &Graph) -> Vec<Chunk<'_>> {
    let nodes: Vec<(usize, &Node)> = graph.nodes.iter().enumerate().collect();
    let chunks = nodes.chunks(SIZE).enumerate();
    chunks.map(|(index, nodes)| Chunk { index, nodes: nodes.to_vec() }).collect()
}

impl Chunk<'_> {
    /// Writes code that evaluates the conditions of the chunk's nodes, and puts them into a box. Returns `None` if there are
    /// none.
    pub(super) fn make_conditions(&self) -> Option<TokenStream> {
        let mut made = Vec::new();
        for (_, node) in &self.nodes {
            made.extend(make_conditions(node.conditions()));
        }
        let value = quote!(::std::boxed::Box::new((#(#made,)*)));
        let framed = run_in_own_frame(&quote!(_), &TokenStream::new(), &value);
        let conditions = hygienic("all_conditions", self.index);
        (!made.is_empty()).then(|| quote!(let #conditions = #framed;))
    }

    /// Returns the names of the variables for the conditions of the chunk's nodes, one for each node that has conditions.
    fn condition_names(&self) -> Vec<Ident> {
        let has_conditions = |node: &Node| !node.conditions().is_empty();
        let nodes = self.nodes.iter().filter(|(_, node)| has_conditions(node));
        nodes.map(|&(index, _)| hygienic("conditions", index)).collect()
    }

    /// Returns the type of the box with the conditions. Returns `None` if there are none.
    pub(super) fn conditions_type(&self) -> Option<TokenStream> {
        let types = self.condition_names().into_iter();
        let types: Vec<_> = types.map(|_| quote!(::streamflow::__private::Conditions)).collect();
        (!types.is_empty()).then(|| quote!(::std::boxed::Box<(#(#types,)*)>))
    }

    /// Writes code that takes the conditions out of their box. Returns `None` if there are none.
    pub(super) fn take_conditions_out(&self) -> Option<TokenStream> {
        let (names, conditions) = (self.condition_names(), hygienic("all_conditions", self.index));
        (!names.is_empty()).then(|| quote!(let (#(#names,)*) = *#conditions;))
    }

    /// Writes code that evaluates the user's expressions for the operators and counts of the chunk's nodes. It puts the values
    /// into a box, so that the stack frame of `new` has only their address.
    pub(super) fn evaluate_values(&self, graph: &Graph) -> TokenStream {
        let values = self.nodes.iter().map(|&(index, node)| {
            let (operator, value) = (hygienic("operator", index), &node.value);
            let count = node.count().map(|number| {
                let count = hygienic("count", index);
                let (first, _) = first_and_last(number);
                let number = evaluate(number, quote_spanned!(first=> ::core::primitive::u64));
                quote!(let #count = #number;)
            });
            let ty = &value_type(&graph.header, node);
            let value = match (again(index, node), value) {
                (Some(again), _) => quote!(#again()?),
                (None, Expr::Closure(each)) if node.element().is_some() => {
                    evaluate_array(&graph.header, node, each)
                }
                (None, _) => evaluate(value, ty),
            };
            let restart = evaluate_restart(index, node);
            let ty = node.element().map(|_| quote!(: #ty));
            quote! {
                let #operator #ty = #value;
                #count
                #restart
            }
        });
        let (made, names) = (hygienic("values", self.index), self.value_names());
        let framed = run_in_own_frame(
            &quote!(_),
            &values.collect(),
            &quote!(::std::boxed::Box::new(#names)),
        );
        quote!(let #made = #framed;)
    }

    /// Returns a tuple of the names of the variables for the operators and counts.
    fn value_names(&self) -> TokenStream {
        let names = self.nodes.iter().map(|&(index, node)| {
            let (operator, count) = (hygienic("operator", index), hygienic("count", index));
            let count = node.count().map(|_| quote!(#count,));
            let restart = again(index, node).map(|_| {
                let (most, back_off) = restart_names(index);
                quote!(#most, #back_off,)
            });
            quote!(#operator, #count #restart)
        });
        quote!((#(#names)*))
    }

    /// Returns the type of the tuple of operators and counts in the box.
    pub(super) fn values_type(&self, graph: &Graph) -> TokenStream {
        let types = self.nodes.iter().map(|&(index, node)| {
            let ty = value_type(&graph.header, node);
            let count = node.count().map(|_| quote!(::core::primitive::u64,));
            let restart =
                again(index, node).map(|_| quote!(::core::primitive::u32, ::core::time::Duration,));
            quote!(#ty, #count #restart)
        });
        quote!(::std::boxed::Box<(#(#types)*)>)
    }

    /// Writes code that takes the operators and counts out of their box.
    pub(super) fn take_values_out(&self) -> TokenStream {
        let (names, values) = (self.value_names(), hygienic("values", self.index));
        // The first `let` reads the box once. In a debug build, each read of a box is checked.
        quote!(let #values = *#values; let #names = #values;)
    }

    /// Writes code that takes the nodes out of their struct, into variables with the names of its fields.
    pub(super) fn take_nodes_out(&self) -> TokenStream {
        let (holder, made) = (hygienic("Nodes", self.index), hygienic("made", self.index));
        let fields = self.fields();
        quote!(let #holder { #(#fields,)* .. } = #made;)
    }

    /// Returns the names of the fields for the chunk's nodes.
    pub(super) fn fields(&self) -> Vec<Ident> {
        self.nodes.iter().map(|(_, node)| idents::field(node)).collect()
    }
}

/// Writes code that calls the user's closure for each node of an array. The conditions of a node are evaluated with its value, so they
/// can use the index.
fn evaluate_array(header: &Header, node: &Node, each: &ExprClosure) -> TokenStream {
    let ExprClosure { inputs, body, .. } = each;
    let index = match inputs.first() {
        Some(Pat::Type(typed)) => &*typed.pat,
        Some(index) => index,
        None => return quote!(loop {}),
    };
    let (value, element) =
        (Ident::new("__value", Span::mixed_site()), element_value_type(header, node));
    let made = evaluate(body, element);
    let count = match &node.attributes.count {
        Some(number) => {
            let (first, _) = first_and_last(number);
            let number = evaluate(number, quote_spanned!(first=> ::core::primitive::u64));
            quote!(::core::option::Option::Some(#number))
        }
        None => quote!(::core::option::Option::None),
    };
    let conditions = match make_conditions(&node.attributes.conditions) {
        Some(conditions) => quote!(::core::option::Option::Some(#conditions)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        ::streamflow::__private::array_values(|#index: ::core::primitive::usize|
            -> ::core::result::Result<_, ::streamflow::__private::Failure>
        {
            let #value = #made;
            ::core::result::Result::Ok(::streamflow::__private::ArrayValue {
                value: #value,
                count: #count,
                conditions: #conditions,
            })
        })?
    }
}

/// Returns the names of the variables for the two values in `#[on_failure(restart(most, back_off))]`.
pub(super) fn restart_names(index: usize) -> (Ident, Ident) {
    (hygienic("most", index), hygienic("back_off", index))
}

/// Writes code that evaluates the two values in `#[on_failure(restart(most, back_off))]`.
fn evaluate_restart(index: usize, node: &Node) -> Option<TokenStream> {
    let Some(OnFailure::Restart { most, back_off }) = &node.attributes.on_failure else {
        return None;
    };
    let (most_name, back_off_name) = restart_names(index);
    let most = evaluate(most, quote_spanned!(first_and_last(most).0=> ::core::primitive::u32));
    let back_off = conditions::duration(back_off);
    Some(quote! {
        let #most_name = #most;
        let #back_off_name = #back_off;
    })
}
