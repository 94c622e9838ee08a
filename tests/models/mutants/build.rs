//! Build script: writes the mutants. A mutant is a copy of the library's modules and of their models (loom tests) with
//! one edit of the library's code.
#![allow(clippy::unwrap_used, reason = "a build script fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "../replaced.rs"]
mod replaced;

include!("../mutants.rs");

/// A mutant without an edit: the library's unchanged modules, without their models. They are compiled once, and a mutant
/// uses them where it has no copy of its own.
const UNCHANGED: Mutant =
    Mutant { name: "unchanged", invariant: "", file: "", edits: &[], model: "", expected: "" };

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=..");
    println!("cargo::rerun-if-changed=../../../streamflow/src");
    println!("cargo::rerun-if-changed=../../../crates/streamflow-driver/src");
    if env::var_os("CARGO_CFG_LOOM").is_none() {
        return;
    }
    env::set_current_dir("..").unwrap();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    replaced::write_seam(&out);
    replaced::write_spin(&out);
    let mut modules = String::new();
    write_mutant(&UNCHANGED, &out, &mut modules);
    for mutant in MUTANTS {
        let Mutant { name, model, expected, .. } = mutant;
        write_mutant(mutant, &out, &mut modules);
        writeln!(modules, "#[test] fn the_mutant_{name}_is_found() {{").unwrap();
        writeln!(modules, "    unchanged::explore::must_fail({expected:?}, {name}::{model});\n}}")
            .unwrap();
    }
    fs::write(out.join("mutants.rs"), modules).unwrap();
}

/// A module of `lib.rs` within a mutant, with all modules inside of it.
#[derive(Default)]
struct Module {
    name: String,
    /// The `mod` line of the module, with the path of the file that is written for the mutant. Empty if the model does
    /// not need the module.
    declaration: String,
    /// The names that follow `crate::` in the module's code: the modules and items that the module uses.
    uses: BTreeSet<String>,
    /// Whether the module contains the file that the mutant edits.
    is_edited: bool,
}

impl Module {
    fn uses_one_of(&self, names: &BTreeSet<&str>) -> bool {
        self.uses.iter().any(|name| names.contains(name.as_str()))
    }
}

/// Writes the modules of a mutant, and adds its declaration to `modules`.
fn write_mutant(mutant: &Mutant, out: &Path, modules: &mut String) {
    let Mutant { name, model, .. } = mutant;
    let src = Path::new("src");
    let lib = fs::read_to_string("src/lib.rs").unwrap();
    // The module declarations of `lib.rs` reach from the first `#[path` attribute to the comment that `find` searches
    // for.
    let begin = lib.find("#[path").unwrap();
    let end = lib.find("// A program has one global allocator").unwrap();
    let mut own = Vec::new();
    for declaration in lib[begin..end].split_inclusive(";\n").filter(|it| it.contains("mod ")) {
        let declared = declaration.trim_end().trim_end_matches(';').rsplit("mod ").next();
        let mut module = Module { name: declared.unwrap().to_owned(), ..Module::default() };
        module.declaration = changed(mutant, (src, src), declaration, out, &mut module);
        own.push(module);
    }
    let is_edited = own.iter().any(|module| module.is_edited);
    assert!(is_edited, "no model compiles `{}`, which the mutant `{name}` edits", mutant.file);
    let path = out.join(name).join("mod.rs");
    fs::write(&path, declarations(model, &own)).unwrap();
    writeln!(modules, "#[allow(warnings)]\n#[path = {path:?}]\nmod {name};").unwrap();
}

/// Pairs of modules that are copied together or not at all. The second module of a pair adds methods to a type of the first, or
/// implements a trait of the first for types of other crates. Two copies of the second would conflict over one copy of the first.
const EXTENDED: &[(&str, &str)] = &[("stream", "memory"), ("driver", "element")];

/// Returns the declarations of a mutant's modules. Of the modules that the model uses, a mutant has copies of those that use the
/// edited module, directly or through others. The other modules are compiled once for all mutants.
fn declarations(model: &str, modules: &[Module]) -> String {
    let used_by = |names: &BTreeSet<&str>, it: &Module| {
        modules
            .iter()
            .any(|user| names.contains(user.name.as_str()) && user.uses.contains(&it.name))
    };
    let is_first = |it: &Module| model.is_empty() || model.split("::").next() == Some(&it.name);
    let needed = closure(modules, is_first, used_by);
    let changed = closure(
        modules,
        |it| it.is_edited,
        |names, it| {
            let extends = |(of, by): &(&str, &str)| it.name == *of && names.contains(by);
            it.uses_one_of(names) || EXTENDED.iter().any(extends)
        },
    );
    let mut text = String::new();
    for module in modules.iter().filter(|it| needed.contains(it.name.as_str())) {
        if model.is_empty() || changed.contains(module.name.as_str()) {
            // The mutant's test lies outside of the mutant's module and calls a model inside of the module, so the module
            // must be `pub(crate)`.
            text.push_str(&module.declaration.replace("\nmod ", "\npub(crate) mod "));
        } else {
            writeln!(text, "pub(crate) use base::unchanged::{};", module.name).unwrap();
        }
    }
    text
}

/// Returns the names of the modules that `first` selects, and of every module that `follows` selects, given the names
/// found so far.
fn closure(
    modules: &[Module],
    first: impl Fn(&Module) -> bool,
    follows: impl Fn(&BTreeSet<&str>, &Module) -> bool,
) -> BTreeSet<&str> {
    let compiled = || modules.iter().filter(|it| !it.declaration.is_empty());
    let mut names: BTreeSet<_> = compiled().filter(|it| first(it)).map(|it| &*it.name).collect();
    while let Some(next) = compiled().find(|it| !names.contains(&*it.name) && follows(&names, it)) {
        names.insert(&next.name);
    }
    names
}

/// The modules of `src` that contain models. A model uses nothing from such a module other than its own.
const MODELS: &[&str] =
    &["exchanges", "models", "owners", "pools", "protocols", "sequences", "slices", "threads"];

/// Whether the model does not need a module of `src`. Unneeded modules are left out of the mutant, since compiling them
/// for each mutant takes long.
fn is_unneeded(model: &str, module: &str) -> bool {
    let is_of_other_models = MODELS.contains(&module) && !model.split("::").any(|it| it == module);
    let is_shared = module == "owners" && model.contains("exchanges::");
    let is_of_workers = module == "workers" && !model.starts_with("workers::");
    is_of_workers || is_of_other_models && !is_shared || unneeded_by(model).contains(&module)
}

fn unneeded_by(model: &str) -> &'static [&'static str] {
    if model.starts_with("spin_lock::") {
        &["caught", "driver", "error", "log", "memory", "spsc_ring", "stream", "task_list"]
    } else if model.starts_with("spsc_ring::") {
        &["caught", "driver", "error", "log", "memory", "spin_lock", "stream", "task_list"]
    } else if model.starts_with("task_list::") {
        &["caught", "driver", "error", "log", "memory", "spin_lock", "spsc_ring", "stream"]
    } else if model.starts_with("driver::checker::") {
        &["journal", "memory", "models", "spin_lock", "spsc_ring", "stream", "task_list"]
    } else if model.starts_with("driver::") || model.starts_with("workers::") {
        &["checker", "device", "memory", "race", "spin_lock", "spsc_ring", "stream", "task_list"]
    } else if model.starts_with("stream::") {
        &["checker", "device", "journal", "memory", "race", "spin_lock", "spsc_ring", "task_list"]
    } else {
        &["checker", "journal", "race", "spin_lock", "spsc_ring", "task_list"]
    }
}

/// Returns the source text of one file as the mutant has it. Also writes the files of the modules that the source
/// declares.
fn changed(
    mutant: &Mutant,
    (beside, folder): (&Path, &Path),
    text: &str,
    out: &Path,
    within: &mut Module,
) -> String {
    let (mut source, mut path) = (String::new(), None);
    for line in text.lines().filter(|line| !line.starts_with("#![doc")) {
        if let Some(quoted) = line.strip_prefix("#[path = \"") {
            path = quoted.strip_suffix("\"]").map(|path| beside.join(path));
            continue;
        }
        if let Some(quoted) =
            line.trim_start().strip_prefix("include!(concat!(env!(\"OUT_DIR\"), \"/")
        {
            let name = quoted.strip_suffix("\"));").unwrap();
            let included =
                edited(mutant, name, fs::read_to_string(out.join(name)).unwrap(), within);
            let path = out.join(mutant.name).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, included).unwrap();
            writeln!(source, "include!({path:?});").unwrap();
            continue;
        }
        let declared = line.strip_suffix(';').and_then(|line| line.split("mod ").nth(1));
        if let Some(module) = declared.filter(|_| !line.starts_with(' ')) {
            let is_own = !folder.to_string_lossy().contains("streamflow");
            if is_own && is_unneeded(mutant.model, module) {
                path = None;
                continue;
            }
            if module == "tests" {
                writeln!(source, "mod tests {{}}").unwrap();
                continue;
            }
            let file = path.take().unwrap_or_else(|| {
                let flat = folder.join(format!("{module}.rs"));
                if flat.exists() { flat } else { folder.join(module).join("mod.rs") }
            });
            let written = write_file(mutant, &file, out, within);
            writeln!(source, "#[path = {written:?}]\n{line}").unwrap();
        } else {
            // Within a mutant the models are plain functions, without `#[test]`: the mutant's one test calls the model
            // that it names.
            let line = match line {
                "#[test]" => "",
                // The library's own tests are left out of a mutant.
                "#[cfg(test)]" => "#[cfg(any())]",
                line => line,
            };
            within.uses.extend(names(line));
            writeln!(source, "{}", line.replace("crate::", &format!("crate::{}::", mutant.name)))
                .unwrap();
        }
    }
    source
}

/// The names that come after `crate::` in a line.
fn names(line: &str) -> Vec<String> {
    let is_of_names = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let listed = match rest.strip_prefix('{') {
            // The list ends on this line: rustfmt keeps `use` lists on one line when they are as short as those of the
            // library.
            Some(list) => list.split_once('}').unwrap().0.split(',').collect(),
            None => vec![rest],
        };
        for name in listed {
            let name = name.trim_start();
            let end = name.find(|c| !is_of_names(c)).unwrap_or(name.len());
            names.push(name[..end].to_owned());
        }
    }
    names
}

fn write_file(mutant: &Mutant, file: &Path, out: &Path, within: &mut Module) -> PathBuf {
    let text = fs::read_to_string(file).unwrap();
    let name = file.to_str().unwrap().rsplit_once("/src/").map_or("", |(_, name)| name);
    let text = edited(mutant, name, text, within);
    let beside = file.parent().unwrap();
    // The submodules of `order.rs` are in the folder `order`. A `#[path]` attribute in `order.rs` is relative to the
    // folder of `order.rs` itself.
    let inner = beside.join(file.file_stem().unwrap());
    let folder = if file.ends_with("mod.rs") { beside } else { &inner };
    let source = changed(mutant, (beside, folder), &text, out, within);
    let name = file.to_str().unwrap().replace("../", "").replace('/', "-");
    let written = out.join(mutant.name).join(name);
    fs::create_dir_all(written.parent().unwrap()).unwrap();
    fs::write(&written, source).unwrap();
    written
}

/// Returns the text of a file, changed by the mutant's edits if the mutant edits this file.
fn edited(mutant: &Mutant, name: &str, mut text: String, within: &mut Module) -> String {
    if name == mutant.file {
        within.is_edited = true;
        for (from, to) in mutant.edits {
            let count = text.matches(from).count();
            assert_eq!(count, 1, "`{}`: `{from}` is {count} times in {name}", mutant.name);
            text = text.replace(from, to);
        }
    }
    text
}
