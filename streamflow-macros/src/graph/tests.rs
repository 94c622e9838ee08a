//! Tests the error texts, the order of the nodes and the diagrams of graphs, which are written as tokens.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod conditions;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::conditions::Condition;
use super::expand::diagram::Diagram;
use super::model::Graph;
use super::parts::{Carries, Streams};
use super::{check, parse};
use crate::diagnostic::Errors;

fn checked(tokens: TokenStream) -> (Option<Graph>, Vec<String>) {
    let mut errors = Errors::default();
    let graph = parse::parse_graph(tokens, &mut errors)
        .and_then(|parsed| check::check_graph(parsed, &mut errors));
    (graph, errors.texts())
}

fn sound(tokens: TokenStream) -> Graph {
    let (graph, errors) = checked(tokens);
    assert_eq!(errors, [] as [String; 0]);
    graph.unwrap()
}

/// Returns the error texts for a graph with this body.
fn mistakes(body: TokenStream) -> Vec<String> {
    checked(quote!(struct G(n: u64) { #body })).1
}

fn tour() -> TokenStream {
    quote! {
        /// Two sources, multiplied and summed by row.
        pub struct CudaStreamApp(rows: usize, cols: usize, count: u64) {
            const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);

            #[streams(STREAMS)] #[when(count(count))]
            let source1: Source = Source::new(rows, cols);
            #[streams(STREAMS)] #[when(count(count))]
            let source2: Source = Source::new(rows, cols);
            /// Sums.
            #[streams(STREAMS)]
            let combine_and_sum: CombineAndSum<f32, 3> = CombineAndSum::new();
            #[streams(none)] #[when(stream_done(tensor))]
            let rx: PrintTensor = PrintTensor::new();

            source1.image >> combine_and_sum.in1;
            source2.image >> (combine_and_sum.in2, rx.other);
            #[copy]
            combine_and_sum.out >> rx.tensor;
            rx.seen >> _;
        }
    }
}

fn names<'a>(graph: &'a Graph, order: &[usize]) -> Vec<&'a Ident> {
    order.iter().map(|&node| &graph.nodes[node].name).collect()
}

#[test]
fn a_graph_and_its_nodes_can_have_the_names_of_keywords() {
    let items = super::graph(quote! {
        struct r#type {
            let r#match: Deliver<f32> = Deliver::new();
            let r#loop: Source = Source::new();
            r#loop.r#in >> r#match.r#move;
        }
    });
    assert!(syn::parse2::<syn::File>(items.clone()).is_ok(), "{items}");
    assert!(items.to_string().contains("__type_match_written"), "{items}");
}

#[test]
fn statements_become_nodes_edges_and_an_order() {
    let graph = sound(tour());
    assert_eq!(graph.header.name, "CudaStreamApp");
    assert_eq!(graph.header.params.len(), 3);
    assert_eq!(graph.pools.len(), 1);
    let [source1, _, combine, rx] = &graph.nodes[..] else { panic!("four nodes") };
    assert!(matches!(&source1.attributes.streams, Streams::Pool(name) if name == "STREAMS"));
    assert!(matches!(rx.attributes.streams, Streams::Adopt));
    assert!(source1.attributes.count.is_some() && combine.attributes.count.is_none());
    let conditions: Vec<String> = rx.attributes.conditions.iter().map(Condition::text).collect();
    assert_eq!(conditions, ["stream_done(tensor)"]);
    assert_eq!(combine.attributes.docs.len(), 1);
    let edges: Vec<_> = graph
        .edges
        .iter()
        .map(|edge| {
            (
                edge.output.to_string(),
                edge.input.to_string(),
                edge.attributes.carries == Carries::Copy,
                edge.is_shared,
            )
        })
        .collect();
    let edge = |from: &str, to: &str, copy, shared| (from.to_owned(), to.to_owned(), copy, shared);
    assert_eq!(
        edges,
        [
            edge("source1.image", "combine_and_sum.in1", false, false),
            edge("source2.image", "combine_and_sum.in2", false, true),
            edge("source2.image", "rx.other", false, true),
            edge("combine_and_sum.out", "rx.tensor", true, false),
        ]
    );
    assert_eq!(graph.discards.len(), 1);
    let order = names(&graph, &graph.order);
    assert_eq!(order, ["source1", "source2", "combine_and_sum", "rx"]);
}

#[test]
fn a_graph_is_drawn_with_its_pools_ports_and_discards() {
    let graph = sound(tour());
    assert_eq!(
        Diagram::of(&graph).mermaid(),
        "flowchart LR
    subgraph p0[\"STREAMS\"]
        n0[\"source1: Source\"]
        n1[\"source2: Source\"]
        n2[\"combine_and_sum: CombineAndSum#lt;f32, 3#gt;\"]
    end
    n3[\"rx: PrintTensor\"]
    n0 -- \"image → in1\" --> n2
    n1 -- \"image → in2\" --> n2
    n1 -- \"image → other\" --> n3
    n2 -- \"out → tensor (copy)\" --> n3
    d4((\" \"))
    n3 -- \"seen\" --> d4
"
    );
}

#[test]
fn a_diagram_shows_the_worker_of_a_node() {
    let graph = sound(quote!(struct G {
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)] #[worker(disk)]
        let writer: Writer<u8> = Writer::new();
        #[worker(r#type)]
        let reader: Reader = Reader::new();
        let free: Reader = Reader::new();
    }));
    assert_eq!(
        Diagram::of(&graph).mermaid(),
        "flowchart LR
    subgraph p0[\"POOL\"]
        n0[\"writer: Writer#lt;u8#gt; (worker disk)\"]
    end
    n1[\"reader: Reader (worker type)\"]
    n2[\"free: Reader\"]
"
    );
}

#[test]
fn each_wrong_worker_is_one_mistake_and_the_first_right_one_counts() {
    let (graph, found) = checked(quote!(struct G {
        #[worker] let a: A = A::new();
        #[worker(disk, net)] let b: A = A::new();
        #[worker("disk")] let c: A = A::new();
        #[worker(none)] let d: A = A::new();
        #[worker(disk)] #[worker(disk)] let e: A = A::new();
        #[worker(disk)] a.out >> _;
    }));
    let begins = [
        "this attribute names one worker, `#[worker(disk)]`",
        "this attribute names one worker, `#[worker(disk)]`",
        "this attribute names one worker, `#[worker(disk)]`",
        "`none` is no name of a worker",
        "`#[worker]` is given twice",
        "`#[worker]` is for nodes",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(begin), "{found:?} is not {begin:?}");
    }
    let graph = graph.unwrap();
    let workers = graph.nodes.iter().map(|node| node.attributes.worker.as_ref());
    let workers: Vec<Option<String>> = workers.map(|name| name.map(ToString::to_string)).collect();
    assert_eq!(workers, [None, None, None, None, Some("disk".to_owned())]);
}

#[test]
fn each_bad_statement_is_one_mistake_and_the_others_are_checked() {
    let found = mistakes(quote! {
        const POOL = 3;
        let a: A = A::new();
        let b = B::new();
        let c: C;
        let a: A = A::again();
        a.x > b.y;
        a.x >> b.y;
        a.x >> c.y;
        a.x >> a;
        #[streams(PULL)]
        let d: D = D::new();
    });
    let begins = [
        "a stream pool is written",
        "node `b` has no type",
        "node `c` has no operator",
        "write `>>` for this arrow",
        "expected a port, written `a.input`",
        "node `a` is declared twice",
        "there is no stream pool `PULL`",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    for (found, begin) in found.iter().zip(begins) {
        assert!(found.starts_with(begin), "{found:?} is not {begin:?}");
    }
}

#[test]
fn a_value_without_a_type_is_a_mistake_whatever_it_calls() {
    for value in [quote!(new()), quote!(::new()), quote!((b)()), quote!(b.c()), quote!(A::new())] {
        let found = mistakes(quote!(let a = #value;));
        assert!(found.len() == 1 && found[0].starts_with("node `a` has no type"), "{found:#?}");
    }
}

#[test]
fn a_cycle_is_reported_with_its_path_at_the_edge_that_closes_it() {
    let found = mistakes(quote! {
        let a: A = A::new();
        let b: A = A::new();
        let c: A = A::new();
        c.out >> a.one;
        a.out >> b.one;
        b.out >> c.one;
        b.out >> a.two;
    });
    let firsts: Vec<_> = found.iter().filter_map(|text| text.lines().next()).collect();
    assert_eq!(
        firsts,
        ["this edge closes a cycle: c -> a -> b -> c", "this edge closes a cycle: a -> b -> a"]
    );
}

#[test]
fn an_output_is_shared_by_consumers_of_all_statements_but_not_by_copies() {
    let graph = sound(quote!(struct G {
        let a: A = A::new();
        let b: A = A::new();
        a.x >> b.one;
        a.y >> b.two;
        a.x >> b.three;
        #[copy] a.y >> b.four;
    }));
    let shared: Vec<bool> = graph.edges.iter().map(|edge| edge.is_shared).collect();
    assert_eq!(shared, [true, false, true, false]);
}

#[test]
fn similar_names_are_suggested() {
    let texts = mistakes(quote! {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREMS)]
        #[wehn(count(1))]
        #[when(cuont(1), stream_ready(x))]
        let a: A = A::new();
    });
    for hint in ["`when`?", "`count`?", "`stream_done`?", "`STREAMS`?"] {
        assert!(texts.iter().any(|text| text.contains(&format!("did you mean {hint}"))), "{hint}");
    }
}

#[test]
fn attributes_of_a_node_that_is_declared_twice_are_read() {
    let found = mistakes(quote! {
        let a: A = A::new();
        #[when(cuont(1))]
        let a: A = A::new();
    });
    let [attribute, name] = &found[..] else { panic!("{found:#?}") };
    assert!(attribute.starts_with("unknown condition `cuont`"), "{attribute}");
    assert!(name.starts_with("node `a` is declared twice"), "{name}");
}
