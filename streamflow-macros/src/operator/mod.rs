//! Expands `#[operator]`.
//!
//! # The way of a token
//!
//! The steps of an expansion, by file, with the type that each step hands on:
//!
//! 1. `parse.rs`: `parse_options` reads the options of `#[operator(…)]` into `Options` (`model.rs`), and `parse_item`
//!    reads the struct into syn's `DeriveInput`.
//! 2. `check.rs`: `check_operator` makes an `Operator` (`model.rs`) from these two. `fields.rs` sorts the fields into ports
//!    and state, and reads each `Port`. `param_options.rs` reads the `#[param]` of a field into a `Param`,
//!    `input_options.rs` reads `#[input(…)]` into `InputOptions`, and `port_type.rs` reads the field's type into a
//!    `PortType`. `message_type.rs` rejects types that can't be messages.
//!    `map.rs` reads and checks the option `map = …`, and `branches.rs` checks the outputs with the option `branch`.
//! 3. `checked.rs`: `name_checked_types` replaces each type that only rustc can judge by an alias, so that rustc checks the type
//!    once. Where the generic parameters have a mistake, `refused.rs` writes the expansion instead of `expand.rs`.
//! 4. `expand.rs`: `expand_operator` writes the items, as a `TokenStream`. `constructor.rs` writes the user's struct
//!    without its ports, with the table of the ports (`docs.rs`), and `new`. `structs.rs` writes the structs
//!    `Blur_Ports`, `BlurIo` and `BlurStreams`, `branches.rs` the struct `BlurBranch`, `params.rs` the handle of the parameters, and `expand.rs` itself the
//!    ports' own types and all implementations. `map.rs` the `impl Compute` of an operator with `map = …`.
//!    `generics.rs` selects the parameters and bounds of each item.
//! 5. `mod.rs`: `operator` appends the mistakes that `parse` and `check` have added to `Errors`, as `compile_error!`s.
//!    `Expandable` says how much is defined in spite of them.
//!
//! # The expansion of a port
//!
//! The items that the ports of `struct Blur { #[input] image: &Tensor<f32>, #[output] out: Tensor<u8> }` expand to:
//!
//! | | the input `image` | the output `out` |
//! |---|---|---|
//! | the port's own type | `struct Blur_image` | `struct Blur_out` |
//! | its implementation | `impl InputPort for Blur_image`, with the message, its type in a tick, and `Reads` | `impl OutputPort for Blur_out`, with the message |
//! | a field of `Blur_Ports` | `image: Input<Blur_image>` | `out: Output<Blur_out>` |
//! | a field of `BlurIo<'t>` | `image: In<'t, &'t Tensor<f32>>` | `out: Out<'t, Tensor<u8>>` |
//! | in `impl Operator for Blur` | a `PortInfo` in `INPUTS` | a `PortInfo` in `OUTPUTS` |
//! | in `impl Ports for Blur_Ports` | a `visit` in `inputs` | a `visit` in `outputs` |
//! | in the documentation of `Blur` | a row of the table | a row of the table |
//!
//! In an operator without a device input, the field of `out` is an `Out<'t, Tensor<u8>, Unset>`: such an operator has no internal
//! stream, so the user sets the output's stream. An output with the option `branch` is no field of `BlurIo`: the field `branch`
//! has a method for each. `sending.rs` finds out whether an operator has a device input.

mod branches;
mod check;
mod checked;
mod constructor;
mod docs;
mod editor;
mod expand;
mod fields;
mod generics;
mod implements;
mod input_options;
mod map;
mod message_type;
mod model;
mod of_graph;
mod param_options;
mod params;
mod parse;
mod port_type;
mod refused;
mod sending;
mod structs;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use self::checked::Checks;
pub(crate) use self::editor::operator_in_an_editor;
pub(crate) use self::implements::{Promise, implement_interface, read_interfaces};
use self::model::{Expandable, Operator};
pub(crate) use self::of_graph::{
    DeclaredPort, PortDeclaration, PortItems, PortOptions, expand_graph_ports, read_graph_port,
};
use crate::diagnostic::Errors;

/// Expands one use of `#[operator]`.
pub(crate) fn operator(options: TokenStream, item: TokenStream) -> TokenStream {
    let (expanded, errors) = expand_item(options, item, checked::name_checked_types);
    [expanded, errors.into_tokens()].into_iter().collect()
}

/// Parses, checks and expands one use of `#[operator]`. `check` replaces the types that rustc must check, and returns the
/// constants that check them. The errors are returned beside the expansion.
fn expand_item(
    options: TokenStream,
    item: TokenStream,
    check: impl FnOnce(&mut Operator) -> Checks,
) -> (TokenStream, Errors) {
    let mut errors = Errors::default();
    let options = parse::parse_options(options, &mut errors);
    let Some(input) = parse::parse_item(item.clone(), &mut errors) else {
        // An item that is not a type stays in the program as it is. A struct that can't be read is dropped: rustc would report
        // the same mistake again, and the attributes of its ports as unknown.
        let item = if parse::is_struct(item.clone()) { TokenStream::new() } else { item };
        return (item, errors);
    };
    if docs::has_port_table(&input.attrs) {
        // A first `#[operator]`, perhaps under another name, has expanded this item, and has removed the ports.
        errors.at(&input.ident, "`#[operator]` is given twice; remove one");
        return (item, errors);
    }
    let mut operator = check::check_operator(options, input, &mut errors);
    let checks = check(&mut operator);
    let expanded = match operator.expandable {
        Expandable::Type => refused::expand_refused(&operator, errors.take_first()),
        Expandable::Operator => expand::expand_operator(&operator, &checks),
    };
    (expanded, errors)
}
