//! The generic parameters of a graph, `<S: Source, const N: usize>`, as the items of its expansion repeat them.
//!
//! An item in a function, and a constant beside the struct, can't name the parameters of the function or the struct. So each struct
//! and each function of the expansion declares all parameters again, with their bounds. A check is a constant beside the struct. The
//! checks that name a parameter are statements of one constant of the graph's type, `CHECKED`, evaluated for each use of the graph.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    GenericParam, Generics, Lifetime, LifetimeParam, PredicateType, Type, TypeParamBound,
    WherePredicate, parse_quote,
};

use super::index::Loop;
use super::model::Graph;
use super::parts::Header;
use crate::tokens::{STANDARD_TRAITS, mentions, ungrouped};

/// Adds `'static` to each type parameter that is not the type of a node: values and messages outlive a tick. An interface has that
/// bound.
pub(super) fn outlive_ticks(graph: &mut Graph) {
    let is_node = |name: &Ident| {
        let types = graph.nodes.iter().map(|node| node.element().unwrap_or(&node.ty));
        types
            .into_iter()
            .any(|ty| matches!(ungrouped(ty), Type::Path(path) if path.path.is_ident(name)))
    };
    let others = graph.header.generics.type_params().map(|param| !is_node(&param.ident));
    let others: Vec<bool> = others.collect();
    for (param, is_other) in graph.header.generics.type_params_mut().zip(others) {
        if is_other {
            param.bounds.push(parse_quote!('static));
        }
    }
}

impl Header {
    /// Whether the graph has generic parameters.
    pub(super) fn is_generic(&self) -> bool {
        !self.generics.params.is_empty()
    }

    /// Returns the type of the graph's struct, as `Fuse<S, N>`.
    pub(super) fn own_type(&self) -> TokenStream {
        let (name, (_, arguments, _)) = (&self.name, self.generics.split_for_impl());
        quote!(#name #arguments)
    }

    /// Returns the names of the generic parameters.
    pub(super) fn generic_names(&self) -> impl Iterator<Item = &Ident> {
        self.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
            GenericParam::Lifetime(_) => None,
        })
    }

    /// Whether a type, or another part of the graph, has a generic parameter of the graph in it.
    pub(super) fn depends(&self, part: impl ToTokens) -> bool {
        let tokens = part.to_token_stream();
        self.generic_names().any(|name| mentions(tokens.clone(), name))
    }

    /// Whether the range of a loop has a generic parameter of the graph.
    pub(super) fn depends_in_range(&self, Loop { start, end, .. }: &Loop) -> bool {
        self.depends(quote!(#start #end))
    }

    /// Whether a type is a type parameter of the graph. Its ports are those of its interface.
    pub(super) fn is_param(&self, ty: &Type) -> bool {
        let Type::Path(path) = ungrouped(ty) else { return false };
        self.generics.type_params().any(|param| path.path.is_ident(&param.ident))
    }

    /// Whether a type parameter may have an interface, in the list of parameters or in the where clause. A trait of the standard library
    /// is none.
    pub(super) fn may_have_interface(&self, param: &Type) -> bool {
        let Type::Path(path) = ungrouped(param) else { return false };
        let in_list = self.generics.type_params().filter(|known| path.path.is_ident(&known.ident));
        let clauses = self.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let in_clauses = clauses.filter_map(|clause| match clause {
            WherePredicate::Type(clause) => Some(clause),
            _ => None,
        });
        let is_of = |clause: &&PredicateType| matches!(&clause.bounded_ty, Type::Path(bounded) if bounded.path.get_ident() == path.path.get_ident());
        let bounds = in_list.flat_map(|param| &param.bounds);
        let mut bounds = bounds.chain(in_clauses.filter(is_of).flat_map(|clause| &clause.bounds));
        bounds.any(|bound| match bound {
            TypeParamBound::Trait(bound) => bound
                .path
                .segments
                .last()
                .is_some_and(|last| !STANDARD_TRAITS.iter().any(|known| last.ident == known)),
            _ => false,
        })
    }

    /// Returns the type of a field that mentions all type parameters, as each struct must, and has no data.
    pub(super) fn marker(&self) -> TokenStream {
        let names = self.generics.type_params().map(|param| &param.ident);
        quote!(::core::marker::PhantomData<fn() -> (#(#names,)*)>)
    }

    /// Returns the parameters with this lifetime before them.
    pub(super) fn with_lifetime(&self, lifetime: &Lifetime) -> Generics {
        let mut generics = self.generics.clone();
        let lifetime = GenericParam::Lifetime(LifetimeParam::new(lifetime.clone()));
        generics.params.insert(0, lifetime);
        generics
    }
}
