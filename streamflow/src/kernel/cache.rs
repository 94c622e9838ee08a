//! The cache of compiled code on disk.
//!
//! Each kernel has a file for each compiler setting. The file's name is the hash of everything that the code depends on. A
//! checksum shows whether a file is complete and belongs to its name; any other file is ignored and replaced. A failure of the
//! cache is never an error: the kernel is then compiled again.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::log;
use sha2::{Digest, Sha256};

/// The first bytes of every file, with the version of the format.
const MAGIC: &[u8; 16] = b"streamflow code1";
/// The largest file that is read. The code of each kernel is smaller.
const MAX_BYTES: u64 = 256 << 20;

/// The hash of everything that compiled code depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    /// Returns the hash of these parts. The parts `ab`, `c` and the parts `a`, `bc` have different keys.
    pub(super) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        hash.update(MAGIC);
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    fn file_name(&self) -> String {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex}.bin")
    }

    /// The checksum of a payload together with this key, so that a file under the name of another key is refused.
    fn checksum(&self, payload: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(payload);
        hash.finalize().into()
    }
}

/// A directory of compiled code. Without a directory nothing is cached on disk.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    dir: Option<PathBuf>,
}

impl Cache {
    /// The cache in the directory that the environment names.
    pub(super) fn from_env() -> Self {
        Self { dir: directory(|name| std::env::var_os(name)) }
    }

    /// Returns the code that is stored under a key; `None` if no intact file has it.
    pub(super) fn load(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.dir.as_deref()?.join(key.file_name());
        match read(&path, key) {
            Ok(payload) => Some(payload),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                log::write(move || {
                    tracing::debug!(path = %path.display(), %error, "compiled code is not usable");
                });
                None
            }
        }
    }

    /// Stores code under a key. Other processes see either no file or the complete one.
    pub(super) fn store(&self, key: &Key, payload: &[u8]) {
        let Some(dir) = &self.dir else { return };
        if let Err(error) = write(dir, key, payload) {
            let dir = dir.clone();
            log::write(move || {
                tracing::debug!(dir = %dir.display(), %error, "compiled code is not kept on disk");
            });
        }
    }
}

/// The directory in `STREAMFLOW_CACHE_DIR`, or else one in the user's cache directory. `None` if the variable is `off` or
/// empty, or if there is no home directory.
fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(dir) = variable("STREAMFLOW_CACHE_DIR") {
        return (!dir.is_empty() && dir != "off").then(|| dir.into());
    }
    // A relative path in `XDG_CACHE_HOME` is ignored, as the XDG base directory specification says.
    let xdg = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let home = || variable("HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    Some(xdg.or_else(|| Some(home()?.join(".cache")))?.join("streamflow/kernels"))
}

fn read(path: &Path, key: &Key) -> io::Result<Vec<u8>> {
    let damaged = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    if fs::metadata(path)?.len() > MAX_BYTES {
        return Err(damaged("too large"));
    }
    let bytes = fs::read(path)?;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| damaged("not a file of this format"))?;
    let (checksum, payload) = rest.split_first_chunk::<32>().ok_or_else(|| damaged("cut off"))?;
    if *checksum != key.checksum(payload) {
        return Err(damaged("its checksum does not match"));
    }
    Ok(payload.to_vec())
}

fn write(dir: &Path, key: &Key, payload: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);

    fs::create_dir_all(dir)?;
    // Each call writes a temporary file whose name no other call or process uses, and renames it when it is complete.
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = dir.join(format!(".{}.{}.{count}", key.file_name(), std::process::id()));
    let written = (|| {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(MAGIC)?;
        file.write_all(&key.checksum(payload))?;
        file.write_all(payload)?;
        drop(file);
        fs::rename(&temporary, dir.join(key.file_name()))
    })();
    if written.is_err() {
        // The temporary file may not exist, so an error is ignored.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache, Key) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache { dir: Some(dir.path().join("a/b")) };
        (dir, cache, Key::of([b"source".as_slice(), b"sm_90"]))
    }

    #[test]
    fn stored_code_is_loaded_again() {
        let (_dir, cache, key) = cache();
        assert_eq!(cache.load(&key), None);
        cache.store(&key, b"code");
        assert_eq!(cache.load(&key).as_deref(), Some(b"code".as_slice()));
        cache.store(&key, b"");
        assert_eq!(cache.load(&key).as_deref(), Some(b"".as_slice()));
        // No temporary file is left.
        assert_eq!(fs::read_dir(cache.dir.as_ref().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_file_is_ignored_and_replaced() {
        let (_dir, cache, key) = cache();
        let path = cache.dir.as_ref().unwrap().join(key.file_name());
        cache.store(&key, b"some code");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, flipped).unwrap();
            assert_eq!(cache.load(&key), None, "byte {at} changed");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.load(&key), None, "cut off at {at}");
        }
        cache.store(&key, b"some code");
        assert_eq!(cache.load(&key).as_deref(), Some(b"some code".as_slice()));
    }

    #[test]
    fn a_renamed_file_is_ignored() {
        let (_dir, cache, key) = cache();
        let other = Key::of([b"source".as_slice(), b"sm_80"]);
        cache.store(&key, b"code");
        let dir = cache.dir.as_ref().unwrap();
        fs::rename(dir.join(key.file_name()), dir.join(other.file_name())).unwrap();
        assert_eq!(cache.load(&other), None);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_not_an_error() {
        let (dir, _, key) = cache();
        fs::write(dir.path().join("file"), "").unwrap();
        let cache = Cache { dir: Some(dir.path().join("file")) };
        cache.store(&key, b"code");
        assert_eq!(cache.load(&key), None);
    }

    #[test]
    fn keys_depend_on_the_boundaries_of_parts() {
        assert_ne!(Key::of([b"ab".as_slice(), b"c"]), Key::of([b"a".as_slice(), b"bc"]));
        assert_ne!(Key::of([b"ab".as_slice()]), Key::of([b"ab".as_slice(), b""]));
    }

    #[test]
    fn the_environment_chooses_the_directory() {
        let choose = |set: &[(&str, &str)]| {
            directory(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
        };
        let home = ("HOME", "/h");
        assert_eq!(choose(&[home]), Some("/h/.cache/streamflow/kernels".into()));
        assert_eq!(choose(&[home, ("XDG_CACHE_HOME", "/x")]), Some("/x/streamflow/kernels".into()));
        assert_eq!(choose(&[home, ("XDG_CACHE_HOME", "x")]), choose(&[home]));
        assert_eq!(choose(&[home, ("STREAMFLOW_CACHE_DIR", "/c")]), Some("/c".into()));
        assert_eq!(choose(&[home, ("STREAMFLOW_CACHE_DIR", "off")]), None);
        assert_eq!(choose(&[home, ("STREAMFLOW_CACHE_DIR", "")]), None);
        assert_eq!(choose(&[]), None);
    }
}
