//! Tests the expansion of `#[operator]` by its tokens.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{File, Item};

use super::operator;

/// Returns the texts of all `compile_error!`s in an expansion, and its other items.
fn expanded(options: TokenStream, item: TokenStream) -> (Vec<String>, Vec<Item>) {
    let tokens = operator(options, item);
    let file: File = syn::parse2(tokens).unwrap_or_else(|error| unreachable!("{error}"));
    let (errors, items): (Vec<Item>, Vec<Item>) =
        file.items.into_iter().partition(|item| matches!(item, Item::Macro(_)));
    let texts = errors.into_iter().filter_map(|item| match item {
        Item::Macro(call) => syn::parse2::<syn::LitStr>(call.mac.tokens).ok(),
        _ => None,
    });
    (texts.map(|text| text.value()).collect(), items)
}

/// Finds the struct of this name among the items, also inside of the `const _` block that has the implementations.
fn struct_of<'a>(items: &'a [Item], name: &str) -> &'a syn::ItemStruct {
    fn find<'a>(item: &'a Item, name: &str) -> Option<&'a syn::ItemStruct> {
        match item {
            Item::Struct(item) if item.ident == name => Some(item),
            Item::Const(item) => match &*item.expr {
                syn::Expr::Block(block) => block.block.stmts.iter().find_map(|stmt| match stmt {
                    syn::Stmt::Item(item) => find(item, name),
                    _ => None,
                }),
                _ => None,
            },
            _ => None,
        }
    }
    let found = items.iter().find_map(|item| find(item, name));
    found.unwrap_or_else(|| unreachable!("no struct {name}"))
}

fn fields(items: &[Item], name: &str) -> Vec<String> {
    let item = struct_of(items, name);
    let one = |field: &syn::Field| {
        let ty = &field.ty;
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{name}: {}", crate::tokens::spelled(ty).replace("::streamflow::__private::", ""))
    };
    item.fields.iter().map(one).collect()
}

fn names(items: &[Item]) -> Vec<String> {
    let of = |item: &Item| match item {
        Item::Struct(item) => Some(item.ident.to_string()),
        _ => None,
    };
    items.iter().filter_map(of).collect()
}

#[test]
fn the_tick_has_a_field_per_port_and_stream() {
    let (errors, items) = expanded(
        quote!(streams(fill)),
        quote! {
            pub struct Blur {
                #[input] image: &Tensor<f32>,
                #[input(optional)] kept: a::Shared<Mask>,
                #[input] taken: (Mask),
                #[output] out: Tensor<f32>,
                radius: usize,
            }
        },
    );
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(fields(&items, "Blur"), ["radius: usize"]);
    assert_eq!(
        fields(&items, "BlurIo"),
        [
            "image: In<'t, &'t Tensor<f32>>",
            "kept: In<'t, ::core::option::Option<a::Shared<Mask>>>",
            "kept: In<'t, <Blur_kept asInputPort>::Arg<'t>>",
            // The documentation shows the first line. rustc compiles the second one, since it must check whether the type is a
            // message.
            "taken: In<'t, Mask>",
            "taken: In<'t, <Blur_taken asInputPort>::Arg<'t>>",
            "out: Out<'t, Tensor<f32>>",
            "fill: StreamName<'t>",
        ]
    );
    assert_eq!(
        fields(&items, "Blur_Ports"),
        [
            "image: Input<Blur_image>",
            "kept: Input<Blur_kept>",
            "taken: Input<Blur_taken>",
            "out: Output<Blur_out>",
        ]
    );
    assert_eq!(fields(&items, "BlurStreams"), ["fill: StreamName<'t>"]);
}

/// Returns the types of the outputs of an operator with these ports.
fn outputs(ports: proc_macro2::TokenStream) -> Vec<String> {
    let (errors, items) = expanded(quote!(), quote!(struct A { #ports }));
    assert_eq!(errors, Vec::<String>::new());
    fields(&items, "AIo").into_iter().filter(|field| field.starts_with("out")).collect()
}

#[test]
fn outputs_of_an_operator_with_host_inputs_have_no_stream_yet() {
    let unset = ["out: Out<'t, Tensor<f32>, Unset>"];
    let usual = ["out: Out<'t, Tensor<f32>>"];
    for (ports, expected) in [
        (quote!(#[input] a: &u64, #[output] out: Tensor<f32>), &unset),
        (quote!(#[input(optional)] a: HostData<Vec<f32>>, #[output] out: Tensor<f32>), &unset),
        (quote!(#[input(many)] a: Shared<Download<u8>>, #[output] out: Tensor<f32>), &unset),
        (quote!(#[input] a: &u64, #[input] b: &Tensor<u8>, #[output] out: Tensor<f32>), &usual),
        (quote!(#[input(optional)] a: Shared<Pinned<u8>>, #[output] out: Tensor<f32>), &usual),
        (quote!(#[input] a: &Mask, #[input] b: Buffer<u8>, #[output] out: Tensor<f32>), &usual),
    ] {
        assert_eq!(&outputs(ports), expected);
    }
    assert_eq!(outputs(quote!(#[input] a: &u64, #[output] out: u64)), ["out: Out<'t, u64>"]);
}

#[test]
fn rustc_finds_the_places_of_messages_that_the_macro_does_not_know() {
    let found = outputs(
        quote!(#[input] a: &Mask, #[input] b: Vec<u8>, #[input] c: &u8, #[output] out: Mask),
    );
    let place = |port| format!("<<A_{port} asInputPort>::Message asMessage>::Place");
    let both = format!("<{} asPlace>::And<{}>", place("a"), place("b"));
    // The field has this type in the documentation, and the type below for rustc.
    assert_eq!(found[0], "out: Out<'t, Mask>");
    let sent = "<<A_out asOutputPort>::Item asMessage>::Place";
    let state = |inputs: &str| format!("Unset<<{sent} asPlace>::Behind<{inputs}>>");
    let out = |state: &str| format!("out: Out<'t, <A_out asOutputPort>::Item, {state}>");
    assert_eq!(found[1], out(&state(&both)));
    assert_eq!(found.len(), 2);
    // With host inputs only, an output whose message turns out to be host data has the same type as any other output of host
    // data.
    let found = outputs(quote!(#[input] a: &u64, #[output] out: Mask));
    assert_eq!(found, ["out: Out<'t, Mask>".to_owned(), out(&state("Host"))]);
    let found = outputs(quote!(#[input] a: &Mask, #[output] out: Tensor<f32>));
    assert_eq!(found[1], format!("out: Out<'t, Tensor<f32>, Unset<{}>>", place("a")));
}

#[test]
fn outputs_of_a_source_have_no_stream_yet() {
    let (_, items) = expanded(
        quote!(),
        quote!(
            struct Source {
                #[output]
                x: u64,
            }
        ),
    );
    assert_eq!(fields(&items, "SourceIo"), ["x: Out<'t, u64, Unset>"]);
    assert_eq!(fields(&items, "SourceStreams"), ["__tick: ::core::marker::PhantomData<&'t()>"]);
}

#[test]
fn each_type_has_the_parameters_that_it_needs() {
    let (errors, items) = expanded(
        quote!(),
        quote! {
            struct Map<A: Into<B> + Element, B: Element, F: Fn(A) -> B + Send + 'static, const N: usize>
            where
                C: Element,
            {
                #[input] x: &Tensor<A>,
                f: F,
            }
        },
    );
    assert_eq!(errors, Vec::<String>::new());
    let params = |name: &str| {
        let generics = &struct_of(&items, name).generics;
        generics
            .params
            .iter()
            .map(|param| match param {
                syn::GenericParam::Type(param) => param.ident.to_string(),
                syn::GenericParam::Const(param) => param.ident.to_string(),
                syn::GenericParam::Lifetime(param) => param.lifetime.to_string(),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(params("Map_Ports"), ["A", "B", "F", "N"]);
    // A bound of `A` mentions `B`, so `MapIo` needs `B` too.
    assert_eq!(params("MapIo"), ["'t", "A", "B"]);
    assert_eq!(params("MapStreams"), ["'t"]);
    assert_eq!(
        fields(&items, "Map"),
        ["f: F", "__streamflow_ports: ::core::marker::PhantomData<fn() -> (A, B,)>"]
    );
}

#[test]
fn names_of_ports_do_not_collide_with_generated_names() {
    let (errors, items) = expanded(
        quote!(),
        quote!(
            struct A {
                #[input]
                io: &u8,
                #[input]
                in_1: &u8,
                #[input]
                in1: &u8,
                #[output]
                r#type: u8,
            }
        ),
    );
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(
        names(&items),
        ["A", "A_Ports", "AIo", "AStreams", "A_io", "A_in_1", "A_in1", "A_type"]
    );
}

#[test]
fn the_documentation_lists_the_ports() {
    let (_, items) = expanded(
        quote!(),
        quote! {
            /// Blurs.
            struct Blur {
                /// Sharp, `a | b`,
                /// on two lines.
                ///
                /// More.
                #[input(optional)] image: &Tensor<f32>,
            }
        },
    );
    let docs = super::docs::read_doc_text(&struct_of(&items, "Blur").attrs);
    assert!(docs.starts_with("Blurs."), "{docs}");
    let row = "| `image` | optional input | `&Tensor<f32>` | Sharp, `a \\| b`, on two lines. |";
    assert!(docs.contains(row), "{docs}");
}

#[test]
fn the_tick_lifetime_is_renamed_if_the_user_has_one_of_its_name() {
    let (_, items) = expanded(
        quote!(),
        quote!(
            struct A<M: Message + for<'t> Receive<'t>> {
                #[input]
                x: M,
            }
        ),
    );
    assert_eq!(fields(&items, "AIo"), ["x: In<'streamflow, M>"]);
}

#[test]
fn ports_with_mistakes_are_still_defined() {
    let (errors, items) = expanded(
        quote!(sterams(x)),
        quote! {
            pub struct Blur {
                #[inptu] image: &'a mut Option<Tensor<f32>>,
                #[input] #[output] maybe: Option<&Tensor<f32>>,
                lent: &Tensor<f32>,
                #[output] out: &Tensor<f32>,
                radius: usize,
            }
        },
    );
    assert_eq!(errors.len(), 8, "{errors:#?}");
    assert_eq!(
        fields(&items, "BlurIo"),
        [
            "image: In<'t, ::core::option::Option<Tensor<f32>>>",
            "maybe: In<'t, ::core::option::Option<&'t Tensor<f32>>>",
            "lent: In<'t, &'t Tensor<f32>>",
            "out: Out<'t, Tensor<f32>>",
            // The misspelt option `sterams` counts as `streams`, so the stream `x` is declared.
            "x: StreamName<'t>",
        ]
    );
    assert_eq!(fields(&items, "Blur"), ["radius: usize"]);
}

#[test]
fn a_parameter_without_bounds_is_reported_once() {
    let state = quote!(
        struct A<F: Fn()> {
            #[input]
            x: &u8,
            f: F,
        }
    );
    let port = quote!(
        struct A<T> {
            #[input]
            x: &Tensor<T>,
        }
    );
    for item in [state, port] {
        let tokens = operator(quote!(), item.clone()).to_string();
        assert_eq!(tokens.matches("compile_error").count(), 1, "{tokens}");
        let (_, items) = expanded(quote!(), item);
        assert_eq!(names(&items), ["A"]);
    }
    let clause = quote!(
        struct A<T>
        where
            T: Element,
        {
            #[input]
            x: &Tensor<T>,
        }
    );
    assert_eq!(expanded(quote!(), clause).0, Vec::<String>::new());
}

#[test]
fn an_item_that_is_not_a_struct_is_kept() {
    for item in [
        quote!(
            fn f() {}
        ),
        quote!(
            trait T {}
        ),
        quote!(
            mod m {}
        ),
    ] {
        let (errors, items) = expanded(quote!(), item);
        assert_eq!((errors.len(), items.len()), (1, 1));
    }
    for item in [
        quote!(
            enum E {
                A,
            }
        ),
        quote!(union U { a: u8 }),
        quote!(
            struct S(u8);
        ),
    ] {
        let (errors, items) = expanded(quote!(), item);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(
            items.len(),
            7,
            "the type, its ports, Io of both hooks, streams, and what they implement"
        );
    }
}

#[test]
fn a_field_without_a_name_is_reported() {
    for port in [quote!(#[output] _: u64), quote!(#[input] _: u64), quote!(_: u64)] {
        let (errors, items) =
            expanded(quote!(), quote!(pub struct A { #port, #[output] out: u64, b: u8 }));
        assert_eq!(errors, ["a field needs a name; `_` is none"]);
        assert_eq!(fields(&items, "A"), ["b: u8"]);
    }
}

#[test]
fn a_type_parameter_that_is_a_message_needs_more_than_the_bounds_of_an_element() {
    for (generics, port) in [
        (quote!(<T: Element>), quote!(&T)),
        (quote!(<T: Clone + Send + Sync + 'static>), quote!(T)),
        (quote!(<T: Clone + Send + Sync + 'static>), quote!(&Tensor<T>)),
    ] {
        let item = quote!(struct A #generics { #[input] x: #port });
        let tokens = operator(quote!(), item).to_string();
        assert_eq!(tokens.matches("compile_error").count(), 1, "{tokens}");
    }
    for (generics, port) in [
        (quote!(<T: Message>), quote!(&T)),
        (quote!(<T: Mine>), quote!(&T)),
        (quote!(<T: Element + Message>), quote!(&T)),
        (quote!(<T: Real>), quote!(&Tensor<T>)),
        (quote!(<T: Clone + Send + Sync + 'static>), quote!(HostData<T>)),
    ] {
        let item = quote!(struct A #generics { #[input] x: #port });
        assert_eq!(expanded(quote!(), item).0, Vec::<String>::new());
    }
}

#[test]
fn a_type_that_only_rustc_can_judge_is_checked_once_in_an_operator() {
    let item = quote!(
        struct A {
            #[input]
            x: &Boxes,
            #[input]
            y: Boxes,
            #[output]
            z: HostData<Boxes>,
        }
    );
    let text = operator(quote!(), item).to_string();
    assert_eq!(text.matches(":: __STREAMFLOW_IS").count(), 2, "{text}");
}

#[test]
fn a_field_that_new_makes_is_no_argument() {
    let item = quote!(
        struct A {
            #[input]
            x: u64,
            a: u8,
            #[state]
            b: Mine,
            c: u16,
        }
    );
    let text = operator(quote!(), item).to_string();
    assert!(text.contains("fn new (a : u8 , c : u16 ,) -> Self"), "{text}");
    assert!(text.contains("b : < Mine as :: core :: default :: Default > :: default ()"), "{text}");
}

#[test]
fn an_operator_that_is_expanded_already_is_reported_once_and_kept() {
    let (_, items) = expanded(
        quote!(),
        quote!(
            struct A {
                #[output]
                x: u64,
                n: u8,
            }
        ),
    );
    let expanded_struct = items.iter().find(|item| matches!(item, Item::Struct(_)));
    let text = operator(quote!(), quote!(#expanded_struct)).to_string();
    assert_eq!(text.matches("compile_error").count(), 1, "{text}");
    assert!(text.contains("given twice") && !text.contains("impl"), "{text}");
}
