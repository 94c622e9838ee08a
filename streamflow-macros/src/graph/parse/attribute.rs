//! Handles what the attributes of graphs, pools, nodes and edges have in common: their names, and the errors for misplaced ones.

use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Attribute, Token};

use super::conditions::is_condition;
use crate::diagnostic::{Errors, similar};

/// The part of a graph that an attribute stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeTarget {
    Graph,
    Pool,
    Node,
    Edge,
    Port,
}

impl AttributeTarget {
    const ALL: [Self; 5] = [Self::Graph, Self::Pool, Self::Node, Self::Edge, Self::Port];

    /// Returns the names of streamflow's attributes for this part. A pool and a graph may have attributes of rustc too.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Graph => &["green_contexts", "replay"],
            Self::Pool | Self::Port => &[],
            Self::Node => &["streams", "worker", "when", "on_failure"],
            Self::Edge => &["copy", "transfer", "capacity", "policy", "feedback"],
        }
    }

    /// Returns a text about the attributes that this part takes, for errors.
    fn forms(self) -> &'static str {
        match self {
            Self::Graph => {
                "a graph takes `#[replay]`, `#[green_contexts(POOL)]` and rustc's attributes of a struct; an attribute \
                 of another crate is written with its path"
            }
            Self::Pool => {
                "a stream pool takes no attributes but `allow`, `expect` and `deprecated`; its methods describe it"
            }
            Self::Node => {
                "a node takes `#[streams(POOL)]`, `#[streams(none)]`, `#[worker(name)]`, `#[on_failure(…)]` and \
                 conditions, as `#[when(count(n))]`"
            }
            Self::Edge => {
                "an edge takes `#[copy]`, `#[transfer]`, `#[capacity(n)]`, `#[policy(pop)]`, `#[policy(reject)]`, \
                 `#[policy(fault)]` and `#[feedback(initial = …)]`"
            }
            Self::Port => "a port of a graph takes no attributes but comments",
        }
    }

    /// Returns a text about the part that an attribute of this target belongs on, for an error about a misplaced attribute.
    fn instead(self) -> &'static str {
        match self {
            Self::Graph => "is for the whole graph: put it before the struct",
            Self::Pool => "is for stream pools",
            Self::Port => "is for ports of a graph",
            Self::Node => "is for nodes: put it on the node that it is about",
            Self::Edge => "is for edges: put it on the edge that it is about",
        }
    }
}

/// The attributes that streamflow's other macros read, with the place that each belongs to.
const OF_ITEMS: &[(&str, &str)] = &[
    ("operator", "is for the struct of an operator; `graph!` writes that of a graph"),
    ("kernel", "is for a function"),
    ("input", "is for a field of an operator"),
    ("output", "is for a field of an operator"),
    ("param", "is for a field of an operator"),
];

/// Whether an attribute is a doc comment.
pub(super) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc") && attribute.meta.to_token_stream().to_string().contains('=')
}

/// Reports and skips comments that begin with `//!`, and attributes that begin with `#!`.
pub(super) fn reject_inner_attributes(
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> syn::Result<()> {
    while input.peek(Token![#]) && input.peek2(Token![!]) {
        for attribute in input.call(Attribute::parse_inner)? {
            let text = if is_doc(&attribute) {
                "a comment about what follows begins with `///`; one for the reader of the code, \
                 with `//`"
            } else {
                "an attribute stands before what it is for, as `#[…]`"
            };
            errors.at(attribute, text);
        }
    }
    Ok(())
}

/// Reports an attribute that has no meaning on this part: one that belongs on another part, or an unknown one.
pub(super) fn reject_attribute(attribute: &Attribute, place: AttributeTarget, errors: &mut Errors) {
    let path = attribute.path();
    let written = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let is_of = |other: &AttributeTarget| other.names().contains(&&*written);
    let text = if written == "cfg" || written == "cfg_attr" {
        "a statement of a graph cannot depend on `cfg`: what is connected is checked before it is known; put it on the \
         whole `graph!`"
            .to_owned()
    } else if let Some(other) =
        AttributeTarget::ALL.into_iter().find(|other| *other != place && is_of(other))
    {
        format!("`#[{written}]` {}", other.instead())
    } else if let Some((name, text)) = OF_ITEMS.iter().find(|(name, _)| *name == written) {
        format!("`#[{name}]` {text}; remove it here")
    } else if is_condition(&written) {
        format!("`{written}` is a condition of a node: write `#[when({written}(…))]` on the node")
    } else {
        let here = similar(&written, place.names());
        let anywhere = AttributeTarget::ALL.map(AttributeTarget::names).concat();
        let hint = match (here, similar(&written, &anywhere)) {
            (Some(name), _) => format!("did you mean `{name}`? "),
            (None, Some(name)) => {
                let of =
                    AttributeTarget::ALL.into_iter().find(|other| other.names().contains(&name));
                let text = of.map(AttributeTarget::instead).unwrap_or_default();
                format!("did you mean `{name}`? That {text}. Here, ")
            }
            (None, None) => String::new(),
        };
        format!("unknown attribute `{written}`; {hint}{}", place.forms())
    };
    errors.at(attribute, text);
}
