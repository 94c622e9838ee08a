//! The search for NVRTC on disk.

use std::path::{Path, PathBuf};

/// The library's file name, before a version such as `.13`.
const LIBRARY: &str = "libnvrtc.so";
/// A second library that NVRTC loads while it compiles. NVRTC searches for this library by name only, so streamflow must first
/// load a copy that is not on the loader's path.
const BUILTINS: &str = "libnvrtc-builtins.so";

/// Names of NVRTC for the system's loader: the one without a version, then the newest version first.
pub(super) const PLAIN_NAMES: [&str; 4] =
    ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"];

/// An NVRTC on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) library: PathBuf,
    pub(super) builtins: Option<PathBuf>,
}

/// Finds the NVRTC with the highest version number in a directory.
pub(super) fn in_directory(dir: &Path) -> Option<Found> {
    let library = newest(dir, LIBRARY)?;
    Some(Found { library, builtins: newest(dir, BUILTINS) })
}

/// Returns the directories to search, in order: those of CUDA_HOME, CUDA_PATH, /usr/local, and Python environments. The first
/// Python environment is the one in which the file with this code is installed: a Python module can be imported from an
/// environment that is not active.
pub(crate) fn directories() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut dirs = Vec::new();
    for name in ["CUDA_HOME", "CUDA_PATH"] {
        if let Some(root) = variable(name) {
            toolkit(Path::new(&root), &mut dirs);
        }
    }
    // Of the sorted entries, `cuda` is the first: a link to the toolkit that the administrator chose.
    for root in matching(Path::new("/usr/local"), "cuda") {
        toolkit(&root, &mut dirs);
    }
    let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
    let here = directories as fn() -> Vec<PathBuf> as usize;
    if let Some(packages) = packages_around(&String::from_utf8_lossy(&maps), here) {
        wheels_of(&packages, &mut dirs);
    }
    if let Some(environment) = variable("VIRTUAL_ENV") {
        wheels(&Path::new(&environment).join("lib"), &mut dirs);
    }
    if let Some(environment) = variable("CONDA_PREFIX") {
        let lib = Path::new(&environment).join("lib");
        wheels(&lib, &mut dirs);
        dirs.push(lib);
    }
    dirs
}

/// Adds the directories of a CUDA toolkit that contain libraries.
fn toolkit(root: &Path, dirs: &mut Vec<PathBuf>) {
    dirs.push(root.join("lib64"));
    for target in ["x86_64-linux", "sbsa-linux", "aarch64-linux"] {
        dirs.push(root.join("targets").join(target).join("lib"));
    }
}

/// Adds the directories of NVIDIA's Python wheels below an environment's `lib`.
fn wheels(lib: &Path, dirs: &mut Vec<PathBuf>) {
    for python in matching(lib, "python") {
        wheels_of(&python.join("site-packages"), dirs);
    }
}

/// Adds the directories of NVIDIA's wheels among a Python's packages, unless `dirs` has them already.
fn wheels_of(packages: &Path, dirs: &mut Vec<PathBuf>) {
    for package in matching(&packages.join("nvidia"), "") {
        let dir = package.join("lib");
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
}

/// Returns the folder of Python packages that contains the file mapped at an address of this process, by the lines of
/// `/proc/self/maps`. Debian's name of such a folder is `dist-packages`.
fn packages_around(maps: &str, address: usize) -> Option<PathBuf> {
    let path = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        // The path is the line's last field, and the only one with a slash.
        (number(start)?..number(end)?)
            .contains(&address)
            .then(|| rest.find('/').map(|at| &rest[at..]))
    })??;
    let is_packages = |dir: &&Path| {
        dir.file_name().is_some_and(|name| name == "site-packages" || name == "dist-packages")
    };
    Path::new(path).ancestors().find(is_packages).map(Path::to_path_buf)
}

/// Returns the entries of a directory with names that start with `prefix`, sorted; none if the directory cannot be
/// read.
fn matching(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// Returns the file `name`, or the file `name.<numbers>` with the highest numbers.
pub(crate) fn newest(dir: &Path, name: &str) -> Option<PathBuf> {
    let numbers = |path: &PathBuf| -> Option<Vec<u32>> {
        let rest = path.file_name()?.to_str()?.strip_prefix(name)?;
        match rest.strip_prefix('.') {
            Some(numbers) => numbers.split('.').map(|number| number.parse().ok()).collect(),
            None => rest.is_empty().then(Vec::new),
        }
    };
    matching(dir, name)
        .into_iter()
        .filter_map(|path| Some((numbers(&path)?, path)))
        .max()
        .map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn the_newest_version_is_found_and_no_variant() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(in_directory(dir.path()), None);
        for name in [
            "libnvrtc.so.12",
            "libnvrtc.so.9.1",
            "libnvrtc.alt.so.13",
            "libnvrtc.so.bak",
            "libnvrtc-builtins.so.12.9",
            "libnvrtc-builtins.so.12.10",
            "libnvrtc-builtins.alt.so.13.0",
        ] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = in_directory(dir.path()).unwrap();
        assert_eq!(found.library, dir.path().join("libnvrtc.so.12"));
        assert_eq!(found.builtins, Some(dir.path().join("libnvrtc-builtins.so.12.10")));
    }

    #[test]
    fn the_wheels_of_each_python_version_are_found() {
        let lib = tempfile::tempdir().unwrap();
        let wheel = lib.path().join("python3.12/site-packages/nvidia/cu13/lib");
        std::fs::create_dir_all(&wheel).unwrap();
        let mut dirs = Vec::new();
        wheels(lib.path(), &mut dirs);
        assert_eq!(dirs, [wheel]);
    }

    #[test]
    fn the_packages_around_this_code_are_those_of_its_file() {
        let maps = "\
00400000-00401000 r-xp 00000000 fe:01 11                                 /usr/bin/python3.11
00501000-00502000 rw-p 00000000 00:00 0                                  [heap]
7f0000000000-7f0000001000 r--p 00000000 fe:01 12                         /of a user/venv/lib/python3.11/site-packages/streamflow/_streamflow.abi3.so
7f0000001000-7f0000002000 r-xp 00001000 fe:01 12                         /of a user/venv/lib/python3.11/site-packages/streamflow/_streamflow.abi3.so
7f0000003000-7f0000004000 r-xp 00001000 fe:01 13                         /usr/local/lib/python3.11/dist-packages/mine.abi3.so (deleted)
7f0000005000-7f0000006000 rw-p 00000000 00:00 0
";
        let packages = "/of a user/venv/lib/python3.11/site-packages";
        for (address, expected) in [
            (0x0040_0000, None),
            (0x0050_1000, None),
            (0x7f00_0000_0fff, Some(packages)),
            (0x7f00_0000_1000, Some(packages)),
            (0x7f00_0000_2000, None),
            (0x7f00_0000_3000, Some("/usr/local/lib/python3.11/dist-packages")),
            (0x7f00_0000_5000, None),
        ] {
            assert_eq!(packages_around(maps, address), expected.map(PathBuf::from), "{address:x}");
        }
    }

    #[test]
    fn a_directory_that_two_environments_share_is_searched_once() {
        let environment = tempfile::tempdir().unwrap();
        let packages = environment.path().join("lib/python3.12/site-packages");
        std::fs::create_dir_all(packages.join("nvidia/cu13/lib")).unwrap();
        let mut dirs = Vec::new();
        wheels_of(&packages, &mut dirs);
        wheels(&environment.path().join("lib"), &mut dirs);
        assert_eq!(dirs, [packages.join("nvidia/cu13/lib")]);
    }
}
