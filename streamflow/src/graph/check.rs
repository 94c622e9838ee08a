//! What `graph!` checks in constants: it knows names, the types know ports and streams.
//!
//! Each check is a `#[track_caller] const fn` that `graph!` calls at the user's token, so rustc
//! shows the text there.

use crate::port::PortInfo;
use crate::stream::CudaStreamPool;

/// Text that is put together while compiling.
struct Text {
    bytes: [u8; 1024],
    len: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }

    const fn add(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() && self.len < self.bytes.len() {
            self.bytes[self.len] = text[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    const fn add_number(self, number: usize) -> Self {
        let text = if number >= 10 { self.add_number(number / 10) } else { self };
        let digit = [b'0' + (number % 10) as u8];
        match std::str::from_utf8(&digit) {
            Ok(digit) => text.add(digit),
            Err(_) => text,
        }
    }

    #[track_caller]
    const fn fail(&self) -> ! {
        let (text, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(text) {
            Ok(text) => panic!("{}", text),
            // Only text that is longer than the space, cut within a character.
            Err(_) => panic!("this graph is wrong, and the reason is too long to tell"),
        }
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut i = 0;
    while i < names.len() {
        if same(names[i], name) {
            return true;
        }
        i += 1;
    }
    false
}

/// `` `node.a`, `node.b` `` of the ports that are not in `used`, and how many.
const fn list_missing(
    mut text: Text,
    node: &str,
    ports: &[PortInfo],
    used: &[&str],
) -> (Text, usize) {
    let (mut i, mut missing) = (0, 0);
    while i < ports.len() {
        if !ports[i].optional && !contains(used, ports[i].name) {
            let separator = if missing > 0 { ", " } else { "" };
            text = text.add(separator).add("`").add(node).add(".").add(ports[i].name).add("`");
            missing += 1;
        }
        i += 1;
    }
    (text, missing)
}

/// Every required input of a node is connected.
#[track_caller]
pub const fn check_inputs(node: &str, operator: &str, inputs: &[PortInfo], connected: &[&str]) {
    let (names, missing) = list_missing(Text::new(), node, inputs, connected);
    if missing > 0 {
        let noun = if missing > 1 { "inputs " } else { "input " };
        let verb = if missing > 1 { " are" } else { " is" };
        Text::new()
            .add(noun)
            .add_text(&names)
            .add(verb)
            .add(" not connected; operator `")
            .add(operator)
            .add("` needs every input")
            .fail()
    }
}

/// Every output of a node is consumed or discarded.
#[track_caller]
pub const fn check_outputs(node: &str, operator: &str, outputs: &[PortInfo], consumed: &[&str]) {
    let (names, missing) = list_missing(Text::new(), node, outputs, consumed);
    if missing > 0 {
        let noun = if missing > 1 { "outputs " } else { "output " };
        let verb = if missing > 1 { " are" } else { " is" };
        Text::new()
            .add(noun)
            .add_text(&names)
            .add(verb)
            .add(" of operator `")
            .add(operator)
            .add("` never consumed; connect it, or discard it with `>> _`")
            .fail()
    }
}

/// A pool has as many streams as the operators on it declare.
#[track_caller]
pub const fn check_pool(pool: &str, description: &CudaStreamPool, needed: usize) {
    if let Some(max) = description.get_max_size()
        && (max as usize) < needed
    {
        Text::new()
            .add("stream pool `")
            .add(pool)
            .add("` is too small: it holds ")
            .add_number(max as usize)
            .add(" streams, but its operators declare ")
            .add_number(needed)
            .fail()
    }
}

impl Text {
    const fn add_text(mut self, other: &Self) -> Self {
        let mut i = 0;
        while i < other.len && self.len < self.bytes.len() {
            self.bytes[self.len] = other.bytes[i];
            self.len += 1;
            i += 1;
        }
        self
    }
}
