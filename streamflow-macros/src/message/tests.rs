//! Tests the expansion of `#[derive(Message)]` by its tokens.

use quote::quote;

use super::message;

fn text(item: proc_macro2::TokenStream) -> String {
    message(item).to_string().replace(' ', "").replace("::streamflow::__private::", "")
}

#[test]
fn the_place_is_that_of_all_fields_together() {
    let text = text(quote!(
        struct A {
            a: Tensor<f32>,
            b: Mine,
        }
    ));
    let place = "typePlace=<<Tensor<f32>asMessage>::PlaceasPlace>::And<\
                 <<MineasMessage>::PlaceasPlace>::And<Host>>;";
    assert!(text.contains(place), "{text}");
    assert!(text.contains("<MineasMessage>::memory(&self.b,__visit);"), "{text}");
}

#[test]
fn only_fields_of_unknown_types_get_a_where_clause() {
    let text = text(quote!(
        struct A<T: Element>(Tensor<T>, T, u8);
    ));
    assert!(text.contains("whereT:Message"), "{text}");
    assert!(!text.contains("u8:Message"), "{text}");
}

#[test]
fn the_place_of_an_enum_is_that_of_all_its_variants() {
    let text = text(quote!(
        enum Image {
            Tensor(Tensor<f32>),
            Video { buffer: Mine },
            End,
        }
    ));
    let place = "typePlace=<<Tensor<f32>asMessage>::PlaceasPlace>::And<\
                 <<MineasMessage>::PlaceasPlace>::And<Host>>;";
    assert!(text.contains(place), "{text}");
    let list = "typeList=Either<(Tensor<f32>,()),Either<(Mine,()),Either<(),Neither>>>;";
    assert!(text.contains(list), "{text}");
    assert!(text.contains("<MineasMessage>::memory(__field_0,__visit);"), "{text}");
}

#[test]
fn unions_and_empty_enums_are_reported_once_and_still_implement_message() {
    for item in [
        quote!(
            enum E {}
        ),
        quote!(union U { a: u8 }),
    ] {
        let text = text(item);
        assert_eq!(text.matches("compile_error").count(), 1, "{text}");
        assert!(text.contains("typePlace=Host;"), "{text}");
    }
}

#[test]
fn borrowed_types_are_rejected() {
    let text = text(quote!(
        struct A<'a> {
            a: &'a u8,
        }
    ));
    assert_eq!(text.matches("compile_error").count(), 1, "{text}");
    assert!(!text.contains("impl"), "{text}");
}

#[test]
fn a_field_without_a_name_is_reported() {
    let text = text(quote!(struct A { _: u8, b: u8 }));
    assert!(text.contains("afieldneedsaname;`_`isnone"), "{text}");
    assert!(!text.contains("self._") && text.contains("self.b"), "{text}");
}

#[test]
fn an_attribute_without_effect_is_reported_once_at_each_place() {
    let text = text(quote!(
        enum A {
            #[message(default)]
            B(#[message(skip)] u8),
            C {
                #[message(nonsense = 3)]
                c: u8,
            },
        }
    ));
    assert_eq!(text.matches("compile_error").count(), 3, "{text}");
}
