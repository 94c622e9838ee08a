//! Writes the words of attributes for an editor. Each list of words is a type with a function for each word, so an editor
//! completes the words and their arguments, and shows their documentation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use crate::editor::away_from_user;
use crate::graph::model::Graph;
use crate::graph::parse::CONDITIONS;

/// The kind of an argument of a word in an attribute.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// An expression of the user.
    Value,
    /// A port of the node that has the attribute.
    Port,
    /// A list of ports of the node that has the attribute: `[a, b]`.
    Ports,
    /// A pool of the graph, or `none`.
    Pool,
    /// A word of another list.
    Word(&'static List),
    /// The name of a worker. An editor can't offer these names, since workers have no declaration.
    Name,
}

/// A word of a list: its name, its parameters as Rust code, the kinds of its arguments, and its documentation. The last kind
/// applies to all further arguments.
pub(super) struct Word {
    pub(super) name: &'static str,
    parameters: &'static str,
    pub(super) arguments: &'static [Kind],
    text: &'static str,
}

/// A list of the words that may stand at one position of an attribute.
pub(in crate::graph) struct List {
    /// The name of the type that stands for the list.
    pub(super) name: &'static str,
    words: &'static [Word],
}

const fn word(
    name: &'static str,
    parameters: &'static str,
    arguments: &'static [Kind],
    text: &'static str,
) -> Word {
    Word { name, parameters, arguments, text }
}

use Kind::{Name, Pool, Port, Ports, Value};

/// The words for the name of an attribute of a node or an edge, in `#[…]`.
#[rustfmt::skip]
pub(super) static ATTRIBUTE: List = List { name: "attribute", words: &[
    word("when", "conditions: Conditions", &[Kind::Word(&WHEN)], "The node runs when these conditions hold, too."),
    word("streams", "pool: CudaStreamPool", &[Pool], "The stream pool of the node, or `none`."),
    word("worker", "name: Name", &[Name], "The worker thread on which the node runs."),
    word("on_failure", "policy: Policy", &[Kind::Word(&ON_FAILURE)], "What happens when a tick of the node fails."),
    word("copy", "", &[], "The input gets its own copy of the message."),
    word("transfer", "", &[], "The input is on another device, and gets a copy there."),
    word("capacity", "n: usize", &[Value], "How many messages wait on the edge at most."),
    word("policy", "policy: Policy", &[Kind::Word(&POLICY)], "What happens to a message for which there is no room."),
    word("feedback", "initial: Message", &[Value], "The edge closes a cycle: `feedback(initial = value)`."),
] };

/// The words for the conditions in `#[when(…)]`. Their documentation is from `CONDITIONS`.
#[rustfmt::skip]
pub(in crate::graph) static WHEN: List = List { name: "when", words: &[
    word("count", "n: u64", &[Value], ""),
    word("periodic", "interval: Duration", &[Value, Kind::Word(&PERIODIC)], ""),
    word("message_available", "input: Input, n: u64", &[Port, Value], ""),
    word("multi_message", "inputs: [Input; N], need: Need", &[Ports, Kind::Word(&NEED)], ""),
    word("same_sequence", "inputs: [Input; N]", &[Ports], ""),
    word("expiring", "input: Input, timeout: Duration", &[Port, Value], ""),
    word("room", "output: Output", &[Port], ""),
    word("memory_available", "allocator: &Allocator, amount: Amount", &[Value, Kind::Word(&AMOUNT)], ""),
    word("boolean", "handle: &BooleanHandle", &[Value], ""),
    word("asynchronous", "handle: &AsyncHandle", &[Value], ""),
    word("stream_done", "input: Input", &[Port], ""),
    word("host_done", "input: Input", &[Port], ""),
    word("condition", "value: impl Condition", &[Value], ""),
    word("any", "first: Condition, second: Condition", &[Kind::Word(&WHEN)], ""),
] };

/// The words for the second argument of `periodic`.
#[rustfmt::skip]
static PERIODIC: List = List { name: "periodic", words: &[
    word("skip", "", &[], "Missed ticks are skipped."),
    word("catch_up", "at_most: u64", &[Value], "Missed ticks follow at once, at most so many."),
    word("spaced", "", &[], "The next tick is a whole interval after this one."),
] };

/// The words for the second argument of `multi_message`.
#[rustfmt::skip]
static NEED: List = List { name: "need", words: &[
    word("sum", "n: u64", &[Value], "So many messages on all these inputs together."),
    word("each", "n: u64, m: u64", &[Value], "So many messages on each of these inputs."),
] };

/// The words for the second argument of `memory_available`.
#[rustfmt::skip]
static AMOUNT: List = List { name: "amount", words: &[
    word("bytes", "n: u64", &[Value], "So many bytes are free."),
    word("blocks", "n: u64", &[Value], "So many blocks are free."),
] };

/// The words for the policy in `#[on_failure(…)]`.
#[rustfmt::skip]
static ON_FAILURE: List = List { name: "on_failure", words: &[
    word("stop", "", &[], "The run ends with the error. This is the default."),
    word("skip", "", &[], "The messages of the failed tick are dropped, and the node goes on."),
    word("restart", "n: u32, back_off: Duration", &[Value], "The operator is made again, at most so often in a row."),
] };

/// The words for the policy in `#[policy(…)]`.
#[rustfmt::skip]
static POLICY: List = List { name: "policy", words: &[
    word("pop", "", &[], "The oldest message is dropped."),
    word("reject", "", &[], "The new message is dropped."),
    word("fault", "", &[], "The tick of the producer fails."),
] };

const LISTS: &[&List] = &[&ATTRIBUTE, &WHEN, &PERIODIC, &NEED, &AMOUNT, &ON_FAILURE, &POLICY];

impl List {
    /// Returns the names of the words in this list.
    #[cfg(test)]
    pub(in crate::graph) fn names(&self) -> Vec<&'static str> {
        self.words.iter().map(|word| word.name).collect()
    }

    /// Returns the name of the list's type, as an identifier.
    pub(super) fn ident(&self) -> Ident {
        Ident::new(self.name, Span::call_site())
    }

    pub(super) fn find(&self, name: &Ident) -> Option<&'static Word> {
        self.words.iter().find(|word| name == word.name)
    }

    /// Returns the first word of this list. It is written where the user has not written any word.
    pub(super) fn any_word(&self) -> Ident {
        Ident::new(self.words[0].name, Span::call_site())
    }

    fn define(&self) -> TokenStream {
        let name = self.ident();
        let is_when = self.name == WHEN.name;
        let words: TokenStream = self
            .words
            .iter()
            .map(|word| {
                let form = CONDITIONS.iter().find(|(name, _)| is_when && *name == word.name);
                let text =
                    form.map_or(word.text.to_owned(), |(name, form)| format!("`{name}` {form}"));
                define_word(word.name, word.parameters, &text)
            })
            .collect();
        quote!(struct #name; impl #name { #words })
    }
}

impl Word {
    /// Writes an argument for each parameter of the word.
    pub(super) fn some_arguments(&self) -> TokenStream {
        (0..self.parameters.matches(": ").count()).map(|_| quote!(loop {},)).collect()
    }
}

fn define_word(name: &str, parameters: &str, text: &str) -> TokenStream {
    let name = format_ident!("{name}");
    let parameters: TokenStream = parameters.parse().unwrap_or_default();
    quote!(#[doc = #text] fn #name(#parameters) {})
}

/// Defines the types of all lists, and the type `streams` with a constant for each pool.
pub(super) fn define_all(graph: &Graph) -> TokenStream {
    let lists = LISTS.iter().map(|list| list.define());
    let pools = graph.pools.iter().map(|pool| {
        let (docs, name) = (&pool.docs, away_from_user(&pool.name));
        quote!(#(#docs)* const #name: () = ();)
    });
    quote! {
        #(#lists)*
        struct streams;
        impl streams {
            #(#pools)*
            /// The node allocates no streams: it adopts the stream of its message.
            const none: () = ();
        }
    }
}
