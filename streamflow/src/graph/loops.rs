//! Checks of indices and of loops of edges: that each index is that of an element. The code of `graph!` calls them in constants.

use super::check::takes_one;
use crate::error::const_text::Text;
use crate::port::PortInfo;

pub(super) const fn add_index(text: Text, index: i128) -> Text {
    match index {
        0.. => text.add_number(index as usize),
        _ => text.add("-").add_number(index.unsigned_abs() as usize),
    }
}

/// Adds `` `cameras` has 3 nodes, 0 to 2 ``. The noun is "node" or "element".
const fn add_elements(text: Text, (array, noun): (&str, &str), count: usize) -> Text {
    let text = text.add("`").add(array).add("` has ").add_number(count).add(" ").add(noun);
    match count {
        1 => text.add(", 0"),
        _ => text.add("s, 0 to ").add_number(count - 1),
    }
}

/// Checks that an index that is a number is that of an element. `array` has the name of the array, and the noun of its elements.
#[track_caller]
pub const fn check_index(array: (&str, &str), count: usize, index: i128) {
    if count > 0 && index >= count as i128 {
        let text = add_index(Text::new().add("`").add(array.0).add("["), index);
        let text = add_elements(text.add("]` is not there: "), array, count);
        text.add("; write one of these, or give the array a greater length").fail()
    }
}

/// The elements of an array that an index names in the turns of a loop.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// The name of the array, and the noun of its elements: "node" or "element".
    pub array: (&'static str, &'static str),
    /// The number of its elements.
    pub count: usize,
    /// The index as the user wrote it.
    pub written: &'static str,
    /// The index in the first turn.
    pub first: i128,
    /// The index in the last turn.
    pub last: i128,
}

/// Checks that a loop has a turn, and that each index in it is that of an element in each turn. A loop may have no turn
/// if its range has a parameter of the graph, `depends`.
#[track_caller]
pub const fn check_loop(start: usize, end: usize, depends: bool, indices: &[Turns]) {
    if start >= end && depends {
        return;
    }
    if start >= end {
        let text = Text::new().add("this loop has no turn: its range is ").add_number(start);
        text.add("..").add_number(end).add("; remove it, or give it a longer range").fail()
    }
    let mut i = 0;
    while i < indices.len() {
        let Turns { array, count, written, first, last } = indices[i];
        let text = Text::new().add("`").add(array.0).add("[").add(written).add("]`");
        if count > 0 && last >= count as i128 {
            let text = text.add(" reaches `").add(array.0).add("[");
            let text = add_elements(add_index(text, last).add("]`, and "), array, count);
            let past = last - count as i128 + 1;
            add_index(text.add("; end the range "), past)
                .add(" earlier, or write a smaller index")
                .fail()
        }
        if first < 0 {
            let text = text.add(" begins before `").add(array.0);
            add_index(text.add("[0]`; begin the range "), -first).add(" later").fail()
        }
        i += 1;
    }
}

/// Checks that a loop whose variable is at neither end of an edge has one turn.
#[track_caller]
pub const fn check_one_turn(edge: &str, start: usize, end: usize) {
    if end > start + 1 {
        Text::new()
            .add("each turn of this loop makes the same edge, `")
            .add(edge)
            .add("`; write it once, outside of the loop")
            .fail()
    }
}

/// Checks that an input of a single node takes as many edges as the turns of a loop lead to it.
#[track_caller]
pub const fn check_edges_of_loop(
    input: &str,
    inputs: &[PortInfo],
    port: &str,
    start: usize,
    end: usize,
) {
    if end > start + 1 && takes_one(inputs, port) {
        let text = Text::new().add("each turn of this loop leads to input `").add(input);
        text.add("`, which takes exactly one edge, because it is not `#[input(many)]`; make its node an array with the variable of \
                  the loop as index, or join the messages before it").fail()
    }
}
