//! What is made of a message, by its tokens.

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
    assert!(text.contains("<MineasMessage>::memory(&self.b,visit);"), "{text}");
}

#[test]
fn only_what_may_be_no_message_is_a_clause() {
    let text = text(quote!(
        struct A<T: Element>(Tensor<T>, T, u8);
    ));
    assert!(text.contains("whereT:Message"), "{text}");
    assert!(!text.contains("u8:Message"), "{text}");
}

#[test]
fn what_is_no_struct_is_told_and_is_a_message_nevertheless() {
    for item in [
        quote!(
            enum E {
                A,
            }
        ),
        quote!(union U { a: u8 }),
    ] {
        let text = text(item);
        assert_eq!(text.matches("compile_error").count(), 1, "{text}");
        assert!(text.contains("typePlace=Host;"), "{text}");
    }
}

#[test]
fn what_borrows_is_none() {
    let text = text(quote!(
        struct A<'a> {
            a: &'a u8,
        }
    ));
    assert_eq!(text.matches("compile_error").count(), 1, "{text}");
    assert!(!text.contains("impl"), "{text}");
}
