//! Prints a program as code: a file with the kernels and a `main`, for `tests/examples` or for a package that depends
//! on streamflow and streamflow-tests.

use super::shrink::Failing;
use super::{graphs, threads};

/// Returns the text of a file without its `//!` lines and its `use` lines.
fn text(file: &str) -> String {
    let mut lines = Vec::new();
    let mut is_use = false;
    for line in file.lines() {
        is_use |= line.starts_with("use ");
        if !is_use && !line.starts_with("//!") {
            lines.push(line);
        }
        is_use &= !line.ends_with(';');
    }
    lines.join("\n").trim().to_owned()
}

/// Returns the code of the program, and the run in which it failed.
pub(crate) fn print(failing: &Failing) -> String {
    let Failing { program, mode, .. } = failing;
    let program = program.in_mode(*mode);
    let mixing = text(include_str!("../../src/kernels/mixing.rs"));
    let pieces = text(include_str!("pieces.rs"));
    let mut out = format!(
        "// {mode}\n#![allow(unused, unused_parens, missing_docs, clippy::all)]\n\
         use std::collections::VecDeque;\nuse std::sync::{{Arc, Mutex, PoisonError}};\n\
         use streamflow::driver::host::HostDriver;\nuse streamflow::driver::replay::Replaying;\nuse streamflow::context::OnStream;\n\
         use streamflow_math::Plan;\nuse streamflow_math::fft::{{InverseRealFft, RealFft}};\n\
         use streamflow_math::matmul::{{Bias, Matmul}};\n\
         use streamflow::memory::dlpack::{{Abi, Consumer}};\n\
         use streamflow::memory::{{After, DeviceSlice, MemoryOptions, View, ViewMut}};\n\
         use streamflow::prelude::*;\nuse streamflow::stream::Point;\nuse streamflow::testing::{{Explorer, scope}};\n\
         use streamflow_tests::foreign;\nuse streamflow_tests::kernels;\nuse streamflow_tests::foreign::{{BYTE, Outside, fill_outside, from_outside}};\n\n\
         mod mixing {{\nuse streamflow::prelude::*;\n\n{mixing}\n}}\n\n{pieces}\n"
    );
    let mut calls = Vec::new();
    if let Some(plan) = &program.threads {
        out += "\n#[derive(Default)]\nstruct Own {\n    slot0: Option<Owned>,\n    slot1: Option<Owned>,\n    \
                slot2: Option<Owned>,\n    pending: VecDeque<Pending>,\n}\n\n\
                fn threads(platform: &Platform) -> Result<()> {\n";
        out += &threads::print(plan);
        out += "}\n";
        calls.push("threads(platform)");
    }
    if let Some(flow) = &program.flow {
        let (item, libraries) = (text(graphs::ITEM), text(graphs::LIBRARIES));
        out += &format!("\n{item}\n\n{libraries}\n{}", graphs::print(flow));
        let workers = match flow.workers {
            0 => String::new(),
            workers => format!("    graph.workers({workers})?;\n"),
        };
        out += &format!(
            "\nfn flow(platform: &Platform) -> Result<()> {{\n    let mut graph = Flow::new(platform)?;\n{workers}    \
             Ok(graph.run().map(drop)?)\n}}\n"
        );
        calls.push("flow(platform)");
    }
    let body = match *calls {
        [one] => one.to_owned(),
        [one, other] => format!(
            "scope(|scope| {{\n        let other = scope.spawn(|| {other});\n        let done = {one};\n        \
             other.join().expect(\"it does not panic\").and(done)\n    }})"
        ),
        _ => "Ok(())".to_owned(),
    };
    let options = program.memory.options();
    out += &format!(
        "\nfn once(platform: &Platform) -> Result<()> {{\n    let done = {body};\n    \
         let races = platform.take_races();\n    \
         if races.is_empty() {{ done }} else {{ Err(Error::Races(races).into()) }}\n}}\n\n\
         fn main() -> Result<()> {{\n    let memory = MemoryOptions::new().in_flight({}).small_in_flight({}) \
         .release_threshold({});\n    let builder = || Platform::builder().memory(memory).race_check({});\n",
        options.in_flight, options.small_in_flight, options.release_threshold, mode.checked
    );
    let (seed, checked) = (mode.seed, mode.checked);
    out += &if mode.turns {
        format!(
            "    let run = |platform: &Platform| once(&builder().driver(platform.driver().clone())?);\n    \
             Explorer::new().first_seed({seed}).seeds(200).race_check({checked}).run(run)?.check()\n}}\n"
        )
    } else {
        format!(
            "    for seed in {seed}..{seed} + 200 {{\n        \
             let driver = Arc::new(Replaying::new(HostDriver::builder().seed(seed).build()));\n        \
             once(&builder().driver(driver)?)?;\n    }}\n    Ok(())\n}}\n"
        )
    };
    out
}
