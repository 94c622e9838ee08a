//! Writes copies of source files of the library and of the crate `spin`, changed so that models (loom tests) can use
//! them. Two build scripts call these functions, with the models' folder as the current folder.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Writes the part of the library's file that contains the trait `Driver`. The rest of the file declares the real
/// drivers, which no model executes.
pub(crate) fn write_seam(out: &Path) {
    let file = fs::read_to_string("../../crates/streamflow-driver/src/driver/mod.rs").unwrap();
    let (_, seam) = file.split_once("\nuse std::fmt;\n").unwrap();
    fs::write(out.join("seam.rs"), seam).unwrap();
}

/// Writes the source of the mutex of the crate `spin`, with loom's atomics in place of the standard library's. The crate
/// has no loom form itself.
pub(crate) fn write_spin(out: &Path) {
    let mut metadata = Command::new(env::var_os("CARGO").unwrap());
    metadata.args(["metadata", "--format-version", "1", "--locked", "--filter-platform"]);
    metadata.arg(env::var_os("TARGET").unwrap());
    // The build script's own `cargo metadata` process must not get the compiler flags of this build.
    metadata.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = metadata.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let manifests = text.split("\"manifest_path\":\"").skip(1);
    let mut manifests = manifests.filter_map(|rest| rest.split('"').next());
    let is_spin = |path: &&str| {
        Path::new(path).parent().is_some_and(|folder| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spin-"))
        })
    };
    let manifest = manifests.find(is_spin).unwrap();
    let file = Path::new(manifest).with_file_name("src/mutex/spin.rs");
    let source = fs::read_to_string(&file).unwrap();
    let (code, _tests) = source.split_once("#[cfg(test)]").unwrap();
    let (_docs, code) = code.split_once("\nuse crate::{").unwrap();
    let (_imports, code) = code.split_once("};\n").unwrap();
    fs::write(out.join("spin.rs"), code.replace("pub const fn new", "pub fn new")).unwrap();
}
