//! The types of the values that a type holds, as far as its tokens say: `Tensor<f32>` of `HostData<Arc<Tensor<f32>>>`.

use syn::{GenericArgument, PathArguments, Type};

use super::ungrouped;

/// Types of the standard library and of this one that hold values of their arguments.
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

/// The types of the values that this one holds. Empty if it is no container.
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
