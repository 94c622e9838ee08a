//! The diagrams of graphs with graphs inside.

use std::collections::HashSet;

use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, FrameSource, Fuse, Invert, Show, Step};
use streamflow_tests::{Failed, Suite, check, check_equal};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_diagram_has_the_graphs_inside_in_boxes", boxes)
        .plain("a_diagram_of_graphviz_has_the_same_boxes", graphviz)
        .plain("a_diagram_has_the_types_of_parameters", parameters)
        .plain("each_edge_of_a_diagram_joins_two_of_its_nodes", ends)
}

graph! {
    /// Converts two frames, and negates the first one.
    struct Part {
        input frames: [&Tensor<u8>; 2];
        output end: Tensor<f32>;
        const FAST: CudaStreamPool = CudaStreamPool::new();
        #[streams(FAST)]
        #[worker(disk)]
        let first: Cast = Cast::new();
        let second: Cast = Cast::new();
        let invert: Invert = Invert::new();
        frames[0] >> first.src;
        frames[1] >> second.src;
        first.dst >> invert.src;
        invert.dst >> end;
        second.dst >> _;
    }
}

graph! {
    struct App {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[when(count(1))]
        let cameras: [Camera; 2] = |_| Camera::new(1, 1);
        #[streams(GPU)]
        let graph: Part = Part::new();
        let parts: [Part; 1 + 1] = |_| Part::new();
        let show: Show = Show::new(Vec::new());
        for i in 0..2 {
            cameras[i].frame >> (graph.frames[i], parts[0].frames[i], parts[1].frames[i]);
        }
        graph.end >> show.image;
        parts[0].end >> _;
        parts[1].end >> _;
    }
}

const NESTED: &str = r#"flowchart LR
    subgraph n0["GPU"]
        subgraph n1["graph: Part"]
            n2(["frames[0..2]"])
            n3(["end"])
            subgraph n4["FAST"]
                n5["first: Cast (worker disk)"]
            end
            n6["second: Cast"]
            n7["invert: Invert"]
            n5 -- "dst → src" --> n7
            n2 -- "frames[0] → src" --> n5
            n2 -- "frames[1] → src" --> n6
            n7 -- "dst → end" --> n3
            n8((" "))
            n6 -- "dst" --> n8
        end
    end
    n9["cameras: [Camera; 2]"]
    subgraph n10["parts: [Part; 2]"]
        n11(["frames[0..2]"])
        n12(["end"])
        subgraph n13["FAST"]
            n14["first: Cast (worker disk)"]
        end
        n15["second: Cast"]
        n16["invert: Invert"]
        n14 -- "dst → src" --> n16
        n11 -- "frames[0] → src" --> n14
        n11 -- "frames[1] → src" --> n15
        n16 -- "dst → end" --> n12
        n17((" "))
        n15 -- "dst" --> n17
    end
    n18["show: Show"]
    n9 -- "[i].frame → frames[i] (i in 0..2)" --> n2
    n9 -- "[i].frame → [0].frames[i] (i in 0..2)" --> n11
    n9 -- "[i].frame → [1].frames[i] (i in 0..2)" --> n11
    n3 -- "end → image" --> n18
    n19((" "))
    n12 -- "[0].end" --> n19
    n20((" "))
    n12 -- "[1].end" --> n20
"#;

fn boxes() -> Result<(), Failed> {
    check_equal(&*App::diagram().mermaid(), NESTED)
}

const GRAPHVIZ: &str = r#"digraph "Part" {
    rankdir=LR;
    node [shape=box];
    "frames" [shape=ellipse, label="frames[0..2]"];
    "end" [shape=ellipse, label="end"];
    subgraph "cluster pool FAST" {
        label="FAST";
        "first" [label="first: Cast (worker disk)"];
    }
    "second" [label="second: Cast"];
    "invert" [label="invert: Invert"];
    "first" -> "invert" [label="dst → src"];
    "frames" -> "first" [label="frames[0] → src"];
    "frames" -> "second" [label="frames[1] → src"];
    "invert" -> "end" [label="dst → end"];
    "discard 4" [shape=point, label=""];
    "second" -> "discard 4" [label="dst"];
}
"#;

fn graphviz() -> Result<(), Failed> {
    check_equal(&*Part::diagram().dot(), GRAPHVIZ)
}

graph! {
    /// A source, and a chain of `N` steps.
    struct Chain<S: FrameSource, T, const N: usize>(source: fn() -> New<S>, step: fn(usize) -> New<T>)
    where
        T: Step,
    {
        output image: Tensor<f32>;
        let source: S = source();
        let cast: Cast = Cast::new();
        let steps: [T; N] = |i| step(i);
        source.frame >> cast.src;
        cast.dst >> steps[0].src;
        for i in 1..N {
            steps[i - 1].dst >> steps[i].src;
        }
        steps[N - 1].dst >> image;
    }
}

graph! {
    /// Changes the sign twice.
    #[implements(Step)]
    struct Twice {
        input src: Tensor<f32>;
        output dst: Tensor<f32>;
        let first: Invert = Invert::new();
        let second: Invert = Invert::new();
        src >> first.src;
        first.dst >> second.src;
        second.dst >> dst;
    }
}

graph! {
    struct Stereo {
        #[when(count(1))]
        let left: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        let chain: Chain<Camera, Twice, 3> = Chain::new(|| Camera::new(1, 1), |_| Twice::new());
        let fuse: Fuse = Fuse::new();
        let show: Show = Show::new(Vec::new());
        left.frame >> cast.src;
        cast.dst >> fuse.left;
        chain.image >> fuse.right;
        fuse.depth >> show.image;
    }
}

graph! {
    /// A type of its node, and the length of an array, have the parameters in them.
    struct Nested<T: Step, const N: usize>(step: fn(usize) -> New<T>) {
        let chain: Chain<Camera, T, N> = Chain::new(|| Camera::new(1, 1), step);
        let show: Show = Show::new(Vec::new());
        chain.image >> show.image;
    }
}

fn parameters() -> Result<(), Failed> {
    let text = Chain::<Camera, Invert, 3>::diagram().mermaid();
    for line in ["[\"source: Camera\"]\n", "[\"steps: [Invert; 3]\"]\n"] {
        check(text.contains(line), || format!("no {line} in {text}"))?;
    }
    let nested = Nested::<Twice, 3>::diagram().dot();
    let line = "label=\"chain: Chain<Camera, Twice, 3>\";\n";
    check(nested.contains(line), || format!("no {line} in {nested}"))?;
    let text = Stereo::diagram().dot();
    for line in [
        "label=\"chain: Chain<Camera, Twice, 3>\";\n",
        "subgraph \"cluster chain.steps\" {\n",
        "label=\"steps: [Twice; 3]\";\n",
        "\"chain.steps.dst\" -> \"chain.steps.src\" [label=\"[i - 1].dst → [i].src (i in 1..N)\"];\n",
        "\"chain.steps.first\" -> \"chain.steps.second\" [label=\"dst → src\"];\n",
        "\"chain.cast\" -> \"chain.steps.src\" [label=\"dst → [0].src\"];\n",
        "\"chain.image\" -> \"fuse\" [label=\"image → right\"];\n",
    ] {
        check(text.contains(line), || format!("no {line} in {text}"))?;
    }
    Ok(())
}

graph! {
    /// Names that Mermaid would not accept, and the name of a pool for a node.
    struct Names {
        let gpu = CudaStreamPool::new();
        #[when(count(1))]
        #[streams(gpu)]
        let end: Camera = Camera::new(1, 1);
        let graph: Cast = Cast::new();
        let pool_gpu: Twice = Twice::new();
        let _top: Show = Show::new(Vec::new());
        end.frame >> graph.src;
        graph.dst >> pool_gpu.src;
        pool_gpu.dst >> _top.image;
    }
}

/// Checks that all nodes and boxes of a Mermaid chart have names of their own, and that each end of an edge is the name of a node.
fn check_ends(text: &str) -> Result<(), Failed> {
    let is_name = |c: char| c.is_ascii_alphanumeric();
    let lines = || text.lines().map(str::trim).skip(1).filter(|line| *line != "end");
    let name = |line: &str| line.chars().take_while(|&c| is_name(c)).collect::<String>();
    let is_edge = |line: &&str| line.contains(" -- ");
    let boxes = lines().filter_map(|line| line.strip_prefix("subgraph ")).map(name);
    let boxes: Vec<String> = boxes.collect();
    let nodes = lines().filter(|line| !is_edge(line) && !line.starts_with("subgraph ")).map(name);
    let nodes: Vec<String> = nodes.collect();
    let all: HashSet<&String> = boxes.iter().chain(&nodes).collect();
    check_equal(all.len(), boxes.len() + nodes.len())?;
    for edge in lines().filter(is_edge) {
        let to = edge.rsplit(' ').next().unwrap_or_default().to_owned();
        for end in [name(edge), to] {
            check(nodes.contains(&end), || format!("no node {end} of {edge}"))?;
        }
    }
    Ok(())
}

fn ends() -> Result<(), Failed> {
    let chain = Chain::<Camera, Twice, 1>::diagram();
    for diagram in [App::diagram(), Stereo::diagram(), Part::diagram(), Names::diagram(), chain] {
        check_ends(&diagram.mermaid())?;
    }
    let broken = Part::diagram().mermaid().replace("n3[", "n2[");
    check(check_ends(&broken).is_err(), || "the control is found to be right".to_owned())
}
