//! A detector: finds bright discs in frames of video, and writes the frames with boxes as a GIF, and the boxes as lines of JSON.
//!
//! `cargo run --release -p streamflow-examples --features all --bin detector` writes `detector.gif` and
//! `detector.jsonl`. The program ends with code 1 at the first frame that lacks a disc, or has a false one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::channel;

use clap::Parser;
use gif::{Encoder, Frame, Repeat};
use streamflow::prelude::*;
use streamflow_examples::cli::{self, GraphArgs, PlatformArgs, Usage};
use streamflow_examples::detector::{self, Detector, HEIGHT, THRESHOLD, WIDTH};
use streamflow_examples::progress;

/// Finds bright discs in frames of video.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(flatten)]
    platform: PlatformArgs,

    /// Number of frames, of 160 x 120 pixels
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    frames: u64,

    /// Contrast that a disc has, from 0 to 1, which is full brightness
    #[arg(long, value_name = "T", default_value_t = THRESHOLD)]
    threshold: f32,

    /// The frames with boxes, a GIF of 25 frames a second; beside it, the boxes in pixels and their scores in a file `.jsonl`
    #[arg(long, value_name = "FILE.gif", default_value = "detector.gif")]
    output: PathBuf,

    #[command(flatten)]
    graph: GraphArgs,
}

fn main() -> ExitCode {
    cli::main(|| run(&Args::parse()))
}

fn run(args: &Args) -> Result<()> {
    if args.graph.mermaid {
        return Ok(write!(io::stdout(), "{}", Detector::diagram().mermaid())?);
    }
    if !(0.0..=1.0).contains(&args.threshold) {
        return Err(Usage(format!("--threshold is {}, and not in 0..=1", args.threshold)).into());
    }
    if args.output.extension().is_none_or(|extension| extension != "gif") {
        return Err(Usage(format!("{} does not end in `.gif`", args.output.display())).into());
    }
    let platform = args.platform.open_for(&args.graph)?;
    let bar = progress::bar(args.frames);
    let (steps, (seen, all)) = (bar.clone(), channel());
    let report = move |number, picture: &[u8], boxes: &[[f32; 4]], scores: &[f32]| {
        detector::check(number, boxes)?;
        let mut frame = Frame::from_rgb_speed(WIDTH as u16, HEIGHT as u16, picture, 10);
        frame.delay = 4;
        let line = format!("{{\"frame\":{number},\"boxes\":{boxes:?},\"scores\":{scores:?}}}\n");
        steps.inc(1);
        Ok(seen.send((frame, line))?)
    };
    let mut graph = Detector::new(&platform, args.frames, args.threshold, Box::new(report))?;
    let report = args.graph.schedule(&mut graph)?.run()?;
    bar.finish_and_clear();
    args.graph.print(&report)?;

    let mut pictures = Encoder::new(Vec::new(), WIDTH as u16, HEIGHT as u16, &[])?;
    pictures.set_repeat(Repeat::Infinite)?;
    let mut lines = String::new();
    for (frame, line) in all.try_iter() {
        pictures.write_frame(&frame)?;
        lines.push_str(&line);
    }
    write(&args.output, &pictures.into_inner()?)?;
    write(&args.output.with_extension("jsonl"), lines.as_bytes())?;
    let (name, output) = (platform.name(), args.output.display());
    writeln!(io::stdout(), "{output}: {} frames with all discs, found on {name}", args.frames)?;
    Ok(())
}

/// Writes a file completely or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = path.with_added_extension("part");
    fs::write(&part, bytes).and_then(|()| fs::rename(&part, path)).map_err(|error| {
        // The file may not be there.
        let _ = fs::remove_file(&part);
        Failure::msg(format!("cannot write {}: {error}", path.display()))
    })
}
