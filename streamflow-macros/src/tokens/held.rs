//! Finds the types of the values that a type holds, by its tokens: `HostData<Arc<Tensor<f32>>>` holds a `Tensor<f32>`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericArgument, Generics, PathArguments, Type};

use super::{mentions, ungrouped};

/// Types of the standard library and of streamflow that hold values of their type arguments.
const CONTAINERS: &[&str] = &[
    "Arc",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Box",
    "Cell",
    "Cow",
    "HashMap",
    "HashSet",
    "HostData",
    "LazyLock",
    "LinkedList",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "Option",
    "Pin",
    "Rc",
    "RefCell",
    "Result",
    "RwLock",
    "Shared",
    "Vec",
    "VecDeque",
    "Weak",
];

/// Returns the types of the values that a value of this type holds. The list is empty if the type is not a container.
pub(crate) fn held_types(ty: &Type) -> Vec<&Type> {
    let parts: Vec<&Type> = match ungrouped(ty) {
        Type::Array(array) => vec![&array.elem],
        Type::Slice(slice) => vec![&slice.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Vec::new() };
            match &last.arguments {
                PathArguments::AngleBracketed(list)
                    if CONTAINERS.iter().any(|name| last.ident == name) =>
                {
                    let types = list.args.iter().filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    });
                    types.collect()
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    };
    let whole = |part| {
        let held = held_types(part);
        if held.is_empty() { vec![ungrouped(part)] } else { held }
    };
    parts.into_iter().flat_map(whole).collect()
}

/// Returns an expression for whether a type inside of this type is device data, which only rustc knows. Returns `None` for a type
/// that holds no other types.
pub(crate) fn names_device_data(ty: &Type) -> Option<TokenStream> {
    let held: Vec<_> = held_types(ty).into_iter().filter(|ty| can_be_argument(ty)).collect();
    (!held.is_empty()).then(|| {
        quote! {{
            use ::streamflow::__private::Otherwise as _;
            false #(|| ::streamflow::__private::PortOf::<#held>::IS_DEVICE_DATA)*
        }}
    })
}

/// Writes a constant for each `HostData` among these types, whose evaluation fails if the `HostData` hides device data. The bound
/// `Message` does not find that mistake, since such a `HostData` still is a message; rustc would also report a bound at each use.
/// A type that depends on a generic parameter gets no constant, since a constant can't depend on one.
pub(crate) fn check_host_data<'a>(
    types: impl Iterator<Item = &'a Type>,
    generics: &Generics,
) -> TokenStream {
    let is_host_data = |ty: &Type| {
        matches!(ty, Type::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "HostData"))
    };
    let types = types.filter(|ty| is_host_data(ty) && !depends_on(ty, generics));
    let constants = types.filter_map(|ty| {
        let names_device_data = names_device_data(ty)?;
        // The tokens of the constant have the span of the type, so rustc reports a failed evaluation there.
        let end = ty.to_token_stream().into_iter().last()?.span();
        let open = quote_spanned! {end=>
            <::streamflow::__private::HostDataOf as ::streamflow::__private::IsOpenMessage<
                #ty, #names_device_data
            >>::__STREAMFLOW_IS
        };
        Some(quote!(const _: ::core::primitive::bool = #open;))
    });
    constants.collect()
}

fn depends_on(ty: &Type, generics: &Generics) -> bool {
    let types = generics.type_params().map(|param| &param.ident);
    let names = types.chain(generics.const_params().map(|param| &param.ident));
    names.into_iter().any(|name| mentions(ty.to_token_stream(), name))
}

/// Whether a type can be named outside of a signature. A type with an elided lifetime can't be.
fn can_be_argument(ty: &Type) -> bool {
    matches!(ty, Type::Path(_)) && !ty.to_token_stream().to_string().contains(['&', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::spelled;
    use syn::parse_quote;

    fn held(ty: Type) -> Vec<String> {
        held_types(&ty).into_iter().map(spelled).collect()
    }

    #[test]
    fn a_container_holds_what_its_arguments_hold() {
        assert_eq!(held(parse_quote!(std::sync::Arc<T>)), ["T"]);
        assert_eq!(held(parse_quote!(HostData<(Vec<[A; 3]>, Option<B<C>>)>)), ["A", "B<C>"]);
        assert_eq!(held(parse_quote!(HashMap<String, Box<A>>)), ["String", "A"]);
    }

    #[test]
    fn other_types_hold_nothing_that_their_tokens_say() {
        assert!(held(parse_quote!(Tensor<f32>)).is_empty());
        assert!(held(parse_quote!(Sender<Tensor<f32>>)).is_empty());
        assert!(held(parse_quote!(fn(Arc<A>))).is_empty());
    }
}
