//! In how many dimensions a CUDA body reads the index of its thread.
//!
//! On a GPU `thread_index_y()` is 0 in every thread of a grid of one number, so most elements of an image stay unwritten.
//! The simulator runs the Rust body once, whatever the grid, and would give right data. So such a launch is refused on
//! both, of a kernel whose threads write one element each. A body that loops, or that writes a part, may be right.

use super::Grid;
use crate::driver::LoadedKernel;
use crate::error::{Error, Result};

/// The names of the indices in y and z.
const INDICES: [&str; 2] = ["thread_index_y", "thread_index_z"];

/// So many bytes of a body are looked at: the compiler reports constants that take long to compute.
const MOST: usize = 64 << 10;

/// 3 if the body contains the name `thread_index_z`, 2 for `thread_index_y`, else 1. Comments and literals don't count;
/// what the preprocessor leaves out does.
pub(super) const fn dimensions(cuda: &str) -> u8 {
    let text = cuda.as_bytes();
    let end = if text.len() < MOST { text.len() } else { MOST };
    let (mut at, mut found) = (0, 1);
    while at < end {
        let next = if at + 1 < end { text[at + 1] } else { 0 };
        at = match (text[at], next) {
            (b'/', b'/') => after(text, at + 2, end, b"\n"),
            (b'/', b'*') => after(text, at + 2, end, b"*/"),
            (b'"', _) => after_literal(text, at + 1, end, b'"'),
            (b'\'', _) => after_literal(text, at + 1, end, b'\''),
            (byte, _) if is_in_name(byte) => {
                let begin = at;
                let mut at = at;
                // The `'` in `1'000` belongs to the number.
                while at < end && (is_in_name(text[at]) || is_separator(text, begin, at, end)) {
                    at += 1;
                }
                if found < 2 && is_name(text, begin, at, INDICES[0]) {
                    found = 2;
                }
                if is_name(text, begin, at, INDICES[1]) {
                    found = 3;
                }
                at
            }
            _ => at + 1,
        };
    }
    found
}

const fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a `'` separates digits of the number that starts at `begin`.
const fn is_separator(text: &[u8], begin: usize, at: usize, end: usize) -> bool {
    text[at] == b'\'' && text[begin].is_ascii_digit() && at + 1 < end && is_in_name(text[at + 1])
}

/// Whether the text from `begin` to `end` is this name.
const fn is_name(text: &[u8], begin: usize, end: usize, name: &str) -> bool {
    end - begin == name.len() && is_at(text, begin, end, name.as_bytes())
}

const fn is_at(text: &[u8], at: usize, end: usize, part: &[u8]) -> bool {
    let mut index = 0;
    while index < part.len() {
        if at + index >= end || text[at + index] != part[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// The place after the next `mark`, or the end.
const fn after(text: &[u8], mut at: usize, end: usize, mark: &[u8]) -> usize {
    while at < end && !is_at(text, at, end, mark) {
        at += 1;
    }
    at + mark.len()
}

/// The place after the end of a literal.
const fn after_literal(text: &[u8], mut at: usize, end: usize, quote: u8) -> usize {
    while at < end && text[at] != quote {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Refuses a launch whose threads differ in fewer dimensions than the kernel's body reads. `threads` is the block size that
/// the kernel is written for.
pub(super) fn check(
    (name, loaded, threads): (&str, &LoadedKernel, Option<[u32; 3]>),
    dimensions: u8,
    grid: &Grid,
) -> Result<()> {
    let read = [None, Some((1, "y", INDICES[0])), Some((2, "z", INDICES[1]))];
    let mut read = read.into_iter().take(dimensions.into()).flatten();
    match read.rfind(|(axis, ..)| !grid.extends_in(*axis, loaded, threads)) {
        None => Ok(()),
        Some((_, axis, index)) => {
            let size = if dimensions == 2 { "[cols, rows]" } else { "[cols, rows, planes]" };
            let problem = format!(
                "the grid has no size in {axis}, where `{index}()` of the kernel's body is 0 in every thread, so a \
                 GPU would leave elements unwritten; launch it with `{size}`, each of which may be 1"
            );
            Err(Error::Grid { kernel: name.into(), problem })
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::driver::{DeviceId, RawFunction};

    #[test]
    fn names_of_indices_are_found() {
        assert_eq!(dimensions(""), 1);
        assert_eq!(dimensions("out[thread_index()] = 1;"), 1);
        assert_eq!(dimensions("auto y=thread_index_y();"), 2);
        assert_eq!(dimensions("thread_index_y"), 2);
        assert_eq!(dimensions("f(thread_index_z(), thread_index_y())"), 3);
        assert_eq!(dimensions("f(thread_index_y(), thread_index_z())"), 3);
        assert_eq!(dimensions("x = 1'000'000; y = thread_index_y();"), 2);
        assert_eq!(dimensions("x = 'a' + '\\'' + '\\\\'; y = thread_index_y();"), 2);
        assert_eq!(dimensions("a / b; y = thread_index_y(); // in rows"), 2);
        assert_eq!(dimensions("/**/thread_index_y()/***/"), 2);
    }

    #[test]
    fn other_names_comments_and_literals_do_not_count() {
        for other in [
            "my_thread_index_y()",
            "thread_index_yy()",
            "thread_index_y2",
            "2thread_index_y",
            "// thread_index_y()",
            "// thread_index_y()\n x;",
            "a; /* thread_index_y()\n thread_index_z() */ b;",
            "/* thread_index_y()",
            "/*/ thread_index_y() */",
            "assert(x && \"thread_index_y \\\" thread_index_z\")",
            "c = '\"'; d = \"thread_index_y\"",
            "\"thread_index_y",
            "'\\",
            "/",
        ] {
            assert_eq!(dimensions(other), 1, "{other}");
        }
    }

    /// No text of few characters that matter makes it panic.
    #[test]
    fn each_short_text_is_read() {
        let letters = ['/', '*', '"', '\'', '\\', '\n', '1', 'y', '_', 'ä'];
        for number in 0..100_000_usize {
            let digits = (0..5).map(|place| number / 10_usize.pow(place) % 10);
            let text: String = digits.map(|digit| letters[digit]).collect();
            assert_eq!(dimensions(&text), 1, "{text:?}");
            let separate = format!("\n*/\"\n;{text}");
            assert!((1..=2).contains(&dimensions(&format!("{separate};thread_index_y"))));
        }
    }

    fn launch(dimensions: u8, threads: Option<[u32; 3]>, grid: impl Into<Grid>) -> String {
        let function = RawFunction::new(DeviceId::default(), 0);
        let loaded = LoadedKernel { function, block_size: 256, max_block_size: 1024 };
        let checked = check(("blur", &loaded, threads), dimensions, &grid.into());
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_grid_extends_in_each_dimension_that_the_body_reads() {
        for right in [
            launch(1, None, 64),
            launch(1, None, [8, 8]),
            launch(2, None, [8, 8]),
            // One row is a size, too.
            launch(2, None, [8, 1]),
            launch(2, None, [8, 8, 8]),
            launch(3, None, [8, 8, 8]),
            launch(2, None, Grid::blocks([2, 3])),
            // The threads of a block differ in y.
            launch(2, None, Grid::blocks(2).threads([32, 8])),
            launch(2, Some([16, 16, 1]), Grid::blocks(2)),
            launch(3, None, Grid::blocks([2, 3]).threads([8, 8, 4])),
        ] {
            assert_eq!(right, "");
        }
        for (wrong, missing, size) in [
            (launch(2, None, 64), "size in y, where `thread_index_y()`", "`[cols, rows]`"),
            (launch(2, Some([256, 1, 1]), Grid::blocks(2)), "size in y,", "`[cols, rows]`"),
            (launch(3, None, 64), "size in z,", "`[cols, rows, planes]`"),
            (launch(3, None, [8, 8]), "size in z, where `thread_index_z()`", "planes]`"),
            (launch(3, None, Grid::blocks(2).threads([8, 1, 8])), "size in y,", "planes]`"),
        ] {
            let holds = ["`blur`", missing, size].iter().all(|part| wrong.contains(part));
            assert!(holds, "{wrong}");
        }
    }
}
