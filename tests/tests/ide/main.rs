//! Editor support inside `graph!`, `#[operator]` and `compute`: completion of nodes, ports and types, hover and
//! go-to-definition, also in incomplete statements.
//!
//! The test queries rust-analyzer over LSP. It is reported as skipped where there is none, neither at
//! `STREAMFLOW_RUST_ANALYZER` nor in the path. `STREAMFLOW_REQUIRE_RUST_ANALYZER=1` makes that a failure.
#![allow(missing_docs, clippy::print_stdout, reason = "a test binary")]

mod server;

use std::process::ExitCode;

use server::{Answer, Server};
use streamflow_tests::{Failed, Suite, check};

/// The program. `/*here*/` is replaced by the typed text, or `/*field*/`, or `/*compute*/`.
const PROGRAM: &str = r#"use streamflow::prelude::*;

/// Makes frames.
#[operator]
pub struct Camera {
    /// The frame of this tick.
    #[output]
    frame: Tensor<u8>,
}

/// Bytes to floats.
#[operator]
pub struct Cast {
    /// Bytes.
    #[input]
    src: &Tensor<u8>,
    #[output]
    dst: Tensor<f32>,
    /*field*/
}

impl Compute for Cast {
    fn compute(&mut self, io: CastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        /*compute*/
        Ok(())
    }
}

#[operator]
pub struct Fuse {
    #[input]
    left_image: &Tensor<f32>,
    #[input]
    right_image: &Tensor<f32>,
    #[output]
    depth: Tensor<f32>,
}

graph! {
    pub struct Stereo {
        let left: Camera = Camera::new();
        let right: Camera = Camera::new();
        let cast: Cast = Cast::new();
        let fuse: Fuse = Fuse::new();

        /*here*/
        cast.dst >> fuse.left_image;
    }
}
"#;

/// A typed text, with the cursor at `|`, and the expected answer.
enum Case {
    /// The completion offers these, and no port of another node.
    Completes(&'static str, &'static [&'static str]),
    /// The hover text at the cursor contains these.
    Hovers(&'static str, &'static [&'static str]),
    /// The item at the cursor is declared in the line with this text.
    Leads(&'static str, &'static str),
    /// As `Completes`, for a field of an operator.
    Field(&'static str, &'static [&'static str]),
    /// As `Completes`, for a statement of `compute`.
    Compute(&'static str, &'static [&'static str]),
}

const CASES: &[Case] = &[
    // Ports: in an incomplete statement, in one that ends in a semicolon, and in a complete one.
    Case::Completes("left.|", &["frame"]),
    Case::Completes("left.|;", &["frame"]),
    Case::Completes("left.fr| >> cast.src;", &["frame"]),
    Case::Completes("left.frame >> cast.|", &["src", "dst"]),
    Case::Completes("left.frame >> cast.|;", &["src", "dst"]),
    Case::Completes("cast.dst >> (fuse.|);", &["left_image", "right_image", "depth"]),
    Case::Completes("fuse.|", &["left_image", "right_image", "depth"]),
    // Nodes.
    Case::Completes("le|", &["left"]),
    Case::Completes("left.frame >> ca|", &["cast"]),
    // Types, hovers and definitions.
    Case::Completes("let more: Cam| = Camera::new();", &["Camera"]),
    Case::Hovers("left.fr|ame >> cast.src;", &["frame", "The frame of this tick"]),
    Case::Hovers("left.frame >> cast.s|rc;", &["src", "Bytes"]),
    Case::Hovers("le|ft.frame >> cast.src;", &["left", "Camera_Ports"]),
    Case::Leads("left.fr|ame >> cast.src;", "    frame: Tensor<u8>,"),
    Case::Leads("left.frame >> cast.s|rc;", "    src: &Tensor<u8>,"),
    Case::Leads("right.frame >> ca|st.src;", "        let cast: Cast"),
    Case::Leads("ri|ght.frame >> cast.src;", "        let right: Camera"),
    Case::Leads("fuse.de|pth", "    depth: Tensor<f32>,"),
    // Fields of an operator: types.
    Case::Field("more: Host|,", &["HostData"]),
    // `compute`: ports, and what can be done with them.
    Case::Compute("io.|", &["src", "dst"]),
    Case::Compute("io.|;", &["src", "dst"]),
    Case::Compute("io.src.|", &["receive"]),
    Case::Compute("io.src.receive().|", &["receive_cuda_stream"]),
    Case::Compute(
        "let (src, stream) = io.src.receive().receive_cuda_stream(cx)?; io.dst.|",
        &["emit"],
    ),
    Case::Compute("cx.|", &["tensor", "download", "tick"]),
    Case::Compute("self.|", &["compute"]),
];

fn main() -> ExitCode {
    Suite::new()
        .optional(
            "an_editor_completes_and_finds_nodes_and_ports",
            "STREAMFLOW_REQUIRE_RUST_ANALYZER",
            all,
        )
        .run()
}

fn all() -> Result<Option<String>, Failed> {
    let program = match server::find() {
        Ok(program) => program,
        Err(missing) => return Ok(Some(missing)),
    };
    let mut server = Server::start(&program, PROGRAM)?;
    let mut wrong = Vec::new();
    for case in CASES {
        match run_case(&mut server, case)? {
            Ok(line) => println!("ok    {line}"),
            Err(line) => wrong.push(line),
        }
    }
    check(wrong.is_empty(), || {
        format!("{} of {} cases are wrong:\n{}", wrong.len(), CASES.len(), wrong.join("\n"))
    })?;
    Ok(None)
}

/// Runs one case. Returns a line with the typed text and the answer, as an error if the answer is wrong.
fn run_case(server: &mut Server, case: &Case) -> Result<Result<String, String>, Failed> {
    let (Case::Completes(typed, _)
    | Case::Hovers(typed, _)
    | Case::Leads(typed, _)
    | Case::Field(typed, _)
    | Case::Compute(typed, _)) = case;
    let place = match case {
        Case::Field(..) => "/*field*/",
        Case::Compute(..) => "/*compute*/",
        _ => "/*here*/",
    };
    let (before, after) =
        typed.split_once('|').ok_or_else(|| Failed::msg("a case without a cursor"))?;
    let (head, tail) =
        PROGRAM.split_once(place).ok_or_else(|| Failed::msg("a program without a place"))?;
    let text = format!("{head}{before}{after}{tail}");
    let line = head.matches('\n').count();
    let column = head.len() - head.rfind('\n').map_or(0, |at| at + 1) + before.len();
    server.change(&text)?;
    Ok(match case {
        Case::Completes(_, wanted) | Case::Field(_, wanted) | Case::Compute(_, wanted) => {
            let Answer(offered) = server.completions(line, column)?;
            let missing = wanted.iter().any(|name| !offered.iter().any(|other| other == name));
            // Offering a port of another node is a failure.
            let ports = ["frame", "src", "dst", "left_image", "right_image", "depth"];
            let of_ports = wanted.iter().all(|name| ports.contains(name));
            let foreign = of_ports
                && offered
                    .iter()
                    .any(|name| ports.contains(&name.as_str()) && !wanted.contains(&name.as_str()));
            let shown = offered.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
            let line = format!("{typed:<40} offers {shown}");
            if missing || foreign { Err(line) } else { Ok(line) }
        }
        Case::Hovers(_, wanted) => {
            let Answer(found) = server.hover(line, column)?;
            let found = found.join("\n");
            let line = format!("{typed:<40} shows {:?}", found.replace('\n', " "));
            if wanted.iter().all(|word| found.contains(word)) { Ok(line) } else { Err(line) }
        }
        Case::Leads(_, wanted) => {
            let Answer(lines) = server.definitions(line, column)?;
            let line = format!("{typed:<40} leads to {lines:?}");
            if lines.iter().any(|line| line.starts_with(wanted)) { Ok(line) } else { Err(line) }
        }
    })
}
