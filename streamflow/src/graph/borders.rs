//! Checks of the edges between the ports of a graph and its nodes, where a port of the graph or a node is an array. Like those of
//! [`check`](super::check), they run in constants.

use super::loops::add_index;
use super::reach::{Place, Reach, edges_at, first_common, is_each_in_order, next_element};
use crate::error::const_text::Text;

/// Checks that an array of ports of the graph is not empty, and that each element has an edge inside. Loops may have no turn in a
/// graph with parameters, `depends`.
#[track_caller]
pub const fn check_elements(
    port: &str,
    is_input: bool,
    length: usize,
    depends: bool,
    reached: &[Reach],
) {
    if length == 0 {
        let text = Text::new().add("`").add(port).add("` is empty: an array of ports has at least");
        text.add(" one element; give it a length, or remove it").fail()
    }
    let mut i = 0;
    while i < reached.len() {
        let is_empty = reached[i].turns == 0;
        if is_empty && !depends || !reached[i].is_within(1, length) {
            // `check_loop` and `check_index` report an index that is not there.
            return;
        }
        i += 1;
    }
    let has_one = is_each_in_order(reached, 1, length);
    let mut element = if has_one { length as i128 } else { 0 };
    while element < length as i128 {
        if edges_at(reached, Place { node: 0, element }) == 0 {
            let text = Text::new().add(if is_input { "input `" } else { "output `" });
            let text = add_element(text, port, element).add("` of this graph ");
            let text = match is_input {
                true => add_element(text.add("leads nowhere; write `"), port, element)
                    .add(" >> node.input;"),
                false => {
                    add_element(text.add("has no producer; write `node.output >> "), port, element)
                        .add(";")
                }
            };
            text.add("`, or make the array shorter").fail()
        }
        element = next_element(reached, 0, element);
    }
}

const fn add_element(text: Text, port: &str, element: i128) -> Text {
    add_index(text.add(port).add("["), element).add("]")
}

/// Checks that an element of an output of the graph has no second producer, `inner`, where `first` is the producer already.
#[track_caller]
pub const fn check_second_output(port: &str, this: Reach, before: Reach, first: &str, inner: &str) {
    if let Some(place) = first_common(&this, &before) {
        let text = add_element(Text::new().add("output `"), port, place.element);
        let text = text.add("` of this graph is `").add(first).add("` already, and can't be `");
        text.add(inner).add("` too; declare another output").fail()
    }
}

/// Checks that a port inside is one port of the graph, and not that of `first` already. `inner` is the text of the port inside.
#[track_caller]
pub const fn check_second_border(
    inner: &str,
    is_input: bool,
    this: Reach,
    before: Reach,
    first: &str,
) {
    if first_common(&this, &before).is_none() || !this.is_like(&before) {
        return;
    }
    let text = Text::new();
    if is_input {
        let text = text.add("input `").add(first).add("` of this graph leads to `").add(inner);
        let text = text.add("` already, and one input of a graph leads to an input inside; put an operator before `");
        text.add(inner).add("` that joins them").fail()
    }
    let text = text.add("`").add(inner).add("` is output `").add(first);
    let text = text.add("` of this graph already, and is exported once; read `").add(first);
    text.add("` outside as often as needed").fail()
}
