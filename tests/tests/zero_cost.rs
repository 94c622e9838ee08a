//! Checks that the states of ports have no run-time cost: an optimised tick makes the same calls as code without
//! the states.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// How often a function calls each other function, by name.
type Calls = BTreeMap<String, usize>;

#[test]
fn a_tick_makes_no_more_calls_than_without_states() {
    let assembly = assembly();
    let [with, without, less] =
        ["with_states", "without_states", "without_metadata"].map(|name| calls(&assembly, name));
    assert!(with.len() > 3, "{with:#?}");
    assert_eq!(beyond(&with, &without), [] as [String; 0], "more calls than without states");
    // The control: the comparison finds an additional call.
    assert!(!beyond(&with, &less).is_empty(), "{with:#?} is not more than {less:#?}");
}

/// Returns the calls of `one` that `other` does not make, or makes less often.
fn beyond(one: &Calls, other: &Calls) -> Vec<String> {
    let more =
        |(name, count): &(&String, &usize)| other.get(*name).is_none_or(|other| other < count);
    one.iter().filter(more).map(|(name, count)| format!("{count} × {name}")).collect()
}

/// Returns the optimised assembly of the library with `port::zero_cost`. The library is built beside the tests,
/// where the crates that it uses are built already.
fn assembly() -> String {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let assembly = root.join("tmp/zero_cost.s");
    let output = Command::new(cargo)
        .args(["rustc", "--quiet", "--offline", "--package", "streamflow-gpu", "--lib"])
        .args(["--crate-type", "staticlib", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(root)
        .args(["--", "--cfg", "streamflow_zero_cost"])
        .arg(format!("--emit=asm={}", assembly.display()))
        .args(["-C", "opt-level=3", "-C", "codegen-units=1", "-C", "debuginfo=0"])
        // Checks that only debug builds make are switched off, since a release build does not have them.
        .args(["-C", "debug-assertions=off"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(assembly).unwrap()
}

/// Returns the calls between the label of a function of `zero_cost` and the function's end.
fn calls(assembly: &str, function: &str) -> Calls {
    let mangled = format!("9zero_cost{}{function}", function.len());
    let mut lines = assembly.lines().skip_while(|line| {
        !(line.starts_with("_") && line.contains(&mangled) && line.ends_with(':'))
    });
    assert!(lines.next().is_some(), "no function `{function}`");
    let mut calls = Calls::new();
    for line in lines.take_while(|line| !line.trim_start().starts_with(".cfi_endproc")) {
        let mut words = line.split_whitespace();
        // A `jmp` to another function is a tail call.
        let (Some("call" | "callq" | "bl" | "jmp" | "b"), Some(target)) =
            (words.next(), words.next())
        else {
            continue;
        };
        let target = target.trim_start_matches('*').split('@').next().unwrap();
        if target.starts_with('.') {
            continue;
        }
        // The register or the address that holds the pointer is left out of the name.
        let pointer = target.starts_with('%') || target.contains('(');
        let target = if pointer { "a function pointer" } else { target };
        *calls.entry(target.to_owned()).or_default() += 1;
    }
    calls
}
