//! Writes the mutants: for each, all modules of the models with one edit of the library's code.
#![allow(clippy::unwrap_used, reason = "a build script fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

include!("mutants.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=mutants.rs");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=../../streamflow/src");
    if env::var_os("CARGO_CFG_LOOM").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let mut modules = String::new();
    for mutant in MUTANTS {
        write_mutant(mutant, &out, &mut modules);
    }
    fs::write(out.join("mutants.rs"), modules).unwrap();
}

/// Writes the modules of a mutant, and adds its declaration and its test to `modules`.
fn write_mutant(mutant: &Mutant, out: &Path, modules: &mut String) {
    let Mutant { name, model, expected, .. } = mutant;
    let mut is_edited = false;
    let lib = fs::read_to_string("src/lib.rs").unwrap();
    // The declarations of the modules.
    let begin = lib.find("#[path").unwrap();
    let end = lib.find("// For each mutant").unwrap();
    let text = changed(mutant, Path::new("src"), &lib[begin..end], out, &mut is_edited);
    assert!(is_edited, "no model compiles `{}`, which the mutant `{name}` edits", mutant.file);
    let folder = out.join(name);
    // Its test is outside.
    let text = text.replace("\nmod ", "\npub(crate) mod ");
    fs::write(folder.join("mod.rs"), text).unwrap();
    let path = folder.join("mod.rs");
    writeln!(modules, "#[allow(warnings)]\n#[path = {path:?}]\nmod {name};").unwrap();
    writeln!(modules, "#[test] fn the_mutant_{name}_is_found() {{").unwrap();
    writeln!(modules, "    explore::must_fail({expected:?}, {name}::{model});\n}}").unwrap();
}

/// The source of a file within the mutant. Writes the modules that it declares.
fn changed(mutant: &Mutant, folder: &Path, text: &str, out: &Path, is_edited: &mut bool) -> String {
    let (mut source, mut path) = (String::new(), None);
    for line in text.lines() {
        if let Some(quoted) = line.strip_prefix("#[path = \"") {
            path = quoted.strip_suffix("\"]").map(|path| folder.join(path));
            continue;
        }
        let declared = line.strip_suffix(';').and_then(|line| line.split("mod ").nth(1));
        if let Some(module) = declared.filter(|_| !line.starts_with(' ')) {
            let file = path.take().unwrap_or_else(|| {
                let flat = folder.join(format!("{module}.rs"));
                if flat.exists() { flat } else { folder.join(module).join("mod.rs") }
            });
            let written = write_file(mutant, &file, out, is_edited);
            writeln!(source, "#[path = {written:?}]\n{line}").unwrap();
        } else {
            // No model of a mutant is a test by itself.
            let line = if line == "#[test]" { "" } else { line };
            writeln!(source, "{}", line.replace("crate::", &format!("crate::{}::", mutant.name)))
                .unwrap();
        }
    }
    source
}

fn write_file(mutant: &Mutant, file: &Path, out: &Path, is_edited: &mut bool) -> PathBuf {
    let mut text = fs::read_to_string(file).unwrap();
    if file.ends_with(Path::new("streamflow/src").join(mutant.file)) {
        *is_edited = true;
        for (from, to) in mutant.edits {
            let count = text.matches(from).count();
            assert_eq!(count, 1, "`{}`: `{from}` is {count} times in {}", mutant.name, mutant.file);
            text = text.replace(from, to);
        }
    }
    let folder = file.parent().unwrap();
    let source = changed(mutant, folder, &text, out, is_edited);
    let name = file.to_str().unwrap().replace("../", "").replace('/', "-");
    let written = out.join(mutant.name).join(name);
    fs::create_dir_all(written.parent().unwrap()).unwrap();
    fs::write(&written, source).unwrap();
    written
}
