//! Finds which files of the CUDA libraries this process has loaded.

use std::collections::BTreeSet;
use std::fs;

const LIBRARIES: [&str; 5] =
    ["libcufft.so", "libcublasLt.so", "libcublas.so", "libcusparse.so", "libcusolver.so"];

/// Prints the loaded files. Returns whether there is at most one file of each library.
pub(crate) fn print_and_compare() -> bool {
    // On a system without this list of mapped files, nothing is compared.
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut is_same = true;
    for library in LIBRARIES {
        let files = files(&maps, library);
        for file in &files {
            println!("{library:<18} {file}");
        }
        if files.len() > 1 {
            println!("error: the plan and the code by hand ran different files of {library}");
            is_same = false;
        }
    }
    is_same
}

/// Returns the files of a library that the process has mapped.
fn files<'a>(maps: &'a str, library: &str) -> BTreeSet<&'a str> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    paths.filter(|path| path.rsplit('/').next().is_some_and(|it| it.starts_with(library))).collect()
}
