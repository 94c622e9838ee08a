//! The crates of the library are of one version, or Cargo says so before it builds anything; and so are the bindings of
//! CUDA, whichever features are chosen. Where Cargo lets two versions of the library through, rustc says so at each use of a macro.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of all crates in this workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the packages of a program that has a streamflow of `version` beside the workspace's mathematics crate,
/// or Cargo's error.
fn resolved(version: &str) -> Result<String, String> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let root = fs::read_to_string(ours.join("Cargo.toml")).unwrap();
    let (before, rest) = root.split_once("members = [").unwrap();
    let (_, after) = rest.split_once(']').unwrap();
    let members = "\"streamflow\", \"crates/streamflow-math\"";
    write("Cargo.toml", &format!("{before}members = [{members}]{after}"));
    let math = fs::read_to_string(ours.join("crates/streamflow-math/Cargo.toml")).unwrap();
    // Dependencies that only the crate's tests use are left out, since a program does not build them.
    let (math, _) = math.split_once("[dev-dependencies]").unwrap();
    write("crates/streamflow-math/Cargo.toml", math);
    write("crates/streamflow-math/src/lib.rs", "");
    let features = "cuda-12080 = []\ncuda-12090 = []\ncuda-13000 = []\nhalf = []";
    let library = format!(
        "[package]\nname = \"streamflow-gpu\"\nversion = \"{version}\"\nedition = \"2024\"\n\n[features]\n{features}\n"
    );
    write("streamflow/Cargo.toml", &library);
    write("streamflow/src/lib.rs", "");
    let arguments = ["metadata", "--offline", "--format-version", "1"];
    let output = cargo().args(arguments).current_dir(directory.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the features of cudarc that name a CUDA version, in a build of `package` with `features` alone.
fn cudarc_versions(package: &str, features: &str) -> BTreeSet<String> {
    let output = cargo()
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p} {f}"])
        .args(["--package", package, "--no-default-features", "--features", features])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let cudarc = text.lines().find(|line| line.starts_with("cudarc v"));
    assert!(cudarc.is_some(), "no cudarc for {features}:\n{text}{error}");
    let features = cudarc.unwrap().rsplit(' ').next().unwrap();
    features.split(',').filter(|name| name.starts_with("cuda-")).map(String::from).collect()
}

/// Checks that only the highest of several CUDA versions reaches cudarc, which does not compile with the bindings
/// of two.
#[test]
fn of_several_cuda_versions_the_highest_reaches_cudarc() {
    let highest = BTreeSet::from(["cuda-13000".into()]);
    let versions = ["cuda-12080", "cuda-12090", "cuda-13000"];
    for package in
        ["streamflow-gpu-driver", "streamflow-gpu", "streamflow-gpu-math", "streamflow-gpu-vision"]
    {
        for (at, one) in versions.iter().enumerate() {
            assert_eq!(cudarc_versions(package, one), highest, "{package}, {one}");
            for other in &versions[at + 1..] {
                let both = format!("{one},{other}");
                assert_eq!(cudarc_versions(package, &both), highest, "{package}, {both}");
            }
        }
        assert_eq!(cudarc_versions(package, &versions.join(",")), highest, "{package}, all");
    }
}

/// With the feature `cudarc`, the CUDA version is the one that the program's own dependency on cudarc chooses.
#[test]
fn the_feature_cudarc_chooses_no_version() {
    for package in ["streamflow-gpu-driver", "streamflow-gpu"] {
        assert_eq!(cudarc_versions(package, "cudarc"), BTreeSet::new(), "{package}");
    }
}

#[test]
fn mathematics_of_another_version_than_the_library_is_refused() {
    let wanted = format!("the requirement `streamflow-gpu = \"={VERSION}\"`");
    for other in ["0.2.99", "0.3.0"] {
        let error = resolved(other).unwrap_err();
        let found = format!("candidate versions found which didn't match: {other}");
        for text in [&wanted, &found, "required by package `streamflow-gpu-math v"] {
            assert!(error.contains(text), "{text} is not in:\n{error}");
        }
    }
    // Cargo accepts the library in the workspace's own version, and the program has both packages.
    let packages = resolved(VERSION).unwrap();
    for package in ["streamflow-gpu", "streamflow-gpu-math"] {
        assert!(packages.contains(&format!("\"name\":\"{package}\"")), "{package}: {packages}");
    }
}

/// A program that uses each macro once, without the other items that the code of the macros needs.
const PROGRAM: &str = r#"
use streamflow_macros::{Message, graph, kernel, operator};

#[kernel(unsafe cuda = "if (thread_index() == 0) out[0] = value;")]
pub fn set(out: &mut [f32], value: f32) {
    out[0] = value;
}

#[derive(Message)]
pub struct Level {
    pub value: f32,
}

#[operator]
pub struct Meter {
    #[output]
    level: Level,
}

graph! {
    struct Metered {
        let meter: Meter = Meter::new();
    }
}
"#;

/// Returns rustc's errors for the program with this workspace's macros, and with a library of `version` that has
/// only the version check.
fn compiled(version: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let rustc = |name: &str, text: &str, externs: &[&str]| {
        let file = directory.path().join(format!("{name}.rs"));
        fs::write(&file, text).unwrap();
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command.args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"]);
        command.args(externs.iter().flat_map(|name| ["--extern", name])).arg(file);
        command.current_dir(directory.path()).output().unwrap()
    };
    let check =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../streamflow/src/__private/version.rs");
    let check = fs::read_to_string(check).unwrap().replace(VERSION, version);
    let module = "pub mod __private { pub use crate::__streamflow_version as version; }";
    let library = rustc("streamflow", &format!("{check}{module}"), &[]);
    assert!(library.status.success(), "{library:?}");
    let macros = format!("streamflow_macros={}", built_macros().display());
    let program = rustc("program", PROGRAM, &["streamflow=libstreamflow.rmeta", &macros]);
    let text = String::from_utf8(program.stderr).unwrap();
    let errors = text.lines().filter_map(|line| line.strip_prefix("error"));
    errors.filter_map(|error| error.split_once(": ")).map(|(_, error)| error.to_owned()).collect()
}

/// Returns the newest file of the macros that Cargo has built for these tests.
fn built_macros() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let files = fs::read_dir(test.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let name = format!("{DLL_PREFIX}streamflow_macros-");
    let is_ours = |path: &PathBuf| {
        let file = path.file_name().unwrap().to_str().unwrap_or_default();
        file.starts_with(&name) && file.ends_with(DLL_SUFFIX)
    };
    let changed = |path: &PathBuf| path.metadata().unwrap().modified().unwrap();
    files.filter(is_ours).max_by_key(changed).unwrap()
}

/// Cargo accepts two versions if a program depends on both crates by itself, or renames one of two streamflows.
/// rustc must then report the versions first.
#[test]
fn macros_of_another_version_than_the_library_say_so_first() {
    let errors = compiled("0.1.99");
    let expected = format!(
        "this macro is of streamflow-gpu-macros {VERSION}, and `::streamflow` here is streamflow-gpu 0.1.99; both must be of one \
         version: "
    );
    let first = errors.iter().take_while(|error| error.starts_with(&expected)).count();
    assert_eq!(first, 4, "{errors:#?}");
    assert!(errors[0].contains("from Cargo.toml"), "{}", errors[0]);
    // The control: with the same version, rustc reports only that the library is empty.
    let errors = compiled(VERSION);
    assert!(!errors.is_empty());
    assert!(errors.iter().all(|error| !error.contains("of one version")), "{errors:#?}");
}
