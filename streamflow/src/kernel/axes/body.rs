//! Reads the text of a CUDA body in a `const fn`, while rustc compiles the kernel.

use super::{Axes, INDICES};

/// The most bytes of a body that are read. The limit exists because rustc reports constants that take long to compute.
const MOST: usize = 64 << 10;

/// CUDA's own variables with a thread's position. Each has a member for each axis.
const VARIABLES: [&str; 2] = ["threadIdx", "blockIdx"];

/// Names that may hide a read of any position: inline assembly and headers, and below, the beginnings of intrinsics' names and of
/// atomic functions, since threads can draw their numbers from an atomic counter.
const OPAQUE: [&str; 4] = ["asm", "__asm", "__asm__", "include"];
const OPAQUE_BEGINNINGS: [&str; 4] = ["__nvvm", "__cluster", "atomic", "__nv_atomic"];

/// The words of a declaration of dynamic shared memory, and the function that returns its size.
const EXTERN: &str = "extern";
const SHARED: &str = "__shared__";
const SHARED_BYTES: &str = "shared_bytes";

/// Which words of a declaration of dynamic shared memory were read since the declaration began.
struct Declaration {
    is_extern: bool,
    is_shared: bool,
}

impl Declaration {
    const EMPTY: Self = Self { is_extern: false, is_shared: false };
}

/// Returns the axes that a body reads, by the names in its text. Comments and literals are skipped. Code that `#if` would remove
/// is read too.
pub(super) const fn axes(cuda: &str) -> Axes {
    let text = cuda.as_bytes();
    let end = if text.len() < MOST { text.len() } else { MOST };
    let mut axes = if end < text.len() { Axes::UNKNOWN } else { Axes::NONE };
    let mut declaration = Declaration::EMPTY;
    let mut at = 0;
    while at < end {
        let next = if at + 1 < end { text[at + 1] } else { 0 };
        at = match (text[at], next) {
            (b'/', b'/') => after(text, at + 2, end, b"\n"),
            (b'/', b'*') => after(text, at + 2, end, b"*/"),
            (b'"', _) => after_literal(text, at + 1, end, b'"'),
            (b'\'', _) => after_literal(text, at + 1, end, b'\''),
            // The preprocessor joins names by `##`, or by `%:%:`, its other spelling.
            (b'#', b'#') | (b'%', b':') => {
                axes = opaque(axes);
                at + 2
            }
            (byte, _) if is_in_name(byte) => {
                let begin = at;
                let mut at = at;
                // A `'` between digits, as in `1'000`, belongs to the number.
                while at < end && (is_in_name(text[at]) || is_separator(text, begin, at, end)) {
                    at += 1;
                }
                axes = with_name(axes, &mut declaration, text, (begin, at), end);
                at
            }
            (b';' | b'{' | b'}', _) => {
                declaration = Declaration::EMPTY;
                at + 1
            }
            _ => at + 1,
        };
    }
    axes
}

/// Adds to `axes` what the name between the positions `begin` and `at` shows, and returns the result.
const fn with_name(
    mut axes: Axes,
    declaration: &mut Declaration,
    text: &[u8],
    (begin, at): (usize, usize),
    end: usize,
) -> Axes {
    let next = if at < end { text[at] } else { 0 };
    // A backslash may continue the name in the next line, and `R` before a quote begins a raw literal. Either makes the text
    // opaque.
    let mut is_opaque = next == b'\\' || (next == b'"' && text[at - 1] == b'R');
    // Fast path: most names begin with a letter with which none of the searched names begins.
    match text[begin] {
        b't' | b'b' => {
            let mut axis = 0;
            while axis < 3 {
                if is_name(text, begin, at, INDICES[axis]) {
                    axes.indices[axis] = true;
                    axes.threads[axis] = true;
                    axes.blocks[axis] = true;
                }
                axis += 1;
            }
            let is_variable = is_name(text, begin, at, VARIABLES[0]);
            if is_variable || is_name(text, begin, at, VARIABLES[1]) {
                match member(text, at, end) {
                    Some(axis) if is_variable => axes.threads[axis] = true,
                    Some(axis) => axes.blocks[axis] = true,
                    None => is_opaque = true,
                }
            }
        }
        b'e' if is_name(text, begin, at, EXTERN) => declaration.is_extern = true,
        b's' if is_name(text, begin, at, SHARED_BYTES) => axes.may_ask_size = true,
        b'_' if is_name(text, begin, at, SHARED) => declaration.is_shared = true,
        b'a' | b'i' | b'_' => {
            let mut index = 0;
            while index < OPAQUE.len() {
                is_opaque = is_opaque || is_name(text, begin, at, OPAQUE[index]);
                index += 1;
            }
            let mut index = 0;
            while index < OPAQUE_BEGINNINGS.len() {
                is_opaque =
                    is_opaque || is_at(text, begin, at, OPAQUE_BEGINNINGS[index].as_bytes());
                index += 1;
            }
        }
        _ => {}
    }
    axes.has_extern = axes.has_extern || (declaration.is_extern && declaration.is_shared);
    if is_opaque { opaque(axes) } else { axes }
}

/// Returns `axes` after text that may hide any read: the body may then read every position and the size of shared memory.
const fn opaque(axes: Axes) -> Axes {
    let Axes { threads, blocks, may_ask_size, .. } = Axes::UNKNOWN;
    Axes { threads, blocks, may_ask_size, ..axes }
}

/// The axis of the member `.x`, `.y` or `.z` at this position of the text; `None` if there is no such member.
const fn member(text: &[u8], at: usize, end: usize) -> Option<usize> {
    let dot = after_space(text, at, end);
    if dot >= end || text[dot] != b'.' {
        return None;
    }
    let name = after_space(text, dot + 1, end);
    if name >= end || (name + 1 < end && is_in_name(text[name + 1])) {
        return None;
    }
    match text[name] {
        b'x' => Some(0),
        b'y' => Some(1),
        b'z' => Some(2),
        _ => None,
    }
}

const fn after_space(text: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && text[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

const fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a `'` separates digits of the number that starts at `begin`.
const fn is_separator(text: &[u8], begin: usize, at: usize, end: usize) -> bool {
    text[at] == b'\'' && text[begin].is_ascii_digit() && at + 1 < end && is_in_name(text[at + 1])
}

/// Whether the text from `begin` to `end` equals `name`.
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

/// The position in the text after the next occurrence of `mark`, or the text's end.
const fn after(text: &[u8], mut at: usize, end: usize, mark: &[u8]) -> usize {
    while at < end && !is_at(text, at, end, mark) {
        at += 1;
    }
    at + mark.len()
}

/// The position in the text after the quote that ends a literal.
const fn after_literal(text: &[u8], mut at: usize, end: usize, quote: u8) -> usize {
    while at < end && text[at] != quote {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the axes of the indices that a body reads, and the axes along which it may read a position.
    fn found(cuda: &str) -> (String, String) {
        let axes = axes(cuda);
        (text(axes.indices), text([0, 1, 2].map(|axis| axes.may_read(axis))))
    }

    fn text(axes: [bool; 3]) -> String {
        ["x", "y", "z"].iter().zip(axes).filter_map(|(axis, is)| is.then_some(*axis)).collect()
    }

    fn expect(cuda: &str, indices: &str, possible: &str) {
        assert_eq!(found(cuda), (indices.to_owned(), possible.to_owned()), "{cuda:?}");
    }

    #[test]
    fn names_of_indices_are_found() {
        for (cuda, indices) in [
            ("", ""),
            ("out[thread_index()] = 1;", "x"),
            ("auto y=thread_index_y();", "y"),
            ("thread_index_y", "y"),
            ("f(thread_index_z(), thread_index_y())", "yz"),
            ("f(thread_index_y(), thread_index_z())", "yz"),
            ("f(thread_index(), thread_index_z())", "xz"),
            ("x = 1'000'000; y = thread_index_y();", "y"),
            ("x = 'a' + '\\'' + '\\\\'; y = thread_index_y();", "y"),
            ("a / b; y = thread_index_y(); // in rows", "y"),
            ("/**/thread_index_y()/***/", "y"),
        ] {
            expect(cuda, indices, indices);
        }
    }

    #[test]
    fn members_of_cudas_variables_are_possible() {
        for (cuda, possible) in [
            ("if (threadIdx.x == 0) out[blockIdx.x] = 1;", "x"),
            ("threadIdx.x", "x"),
            ("blockIdx . y + threadIdx.\n\tz", "yz"),
            ("blockDim.y * gridDim.z", ""),
            ("threadIdx.xy", "xyz"),
            ("threadIdx.", "xyz"),
            ("dim3 place = blockIdx;", "xyz"),
            ("threadIdx", "xyz"),
            ("#define HERE(axis) threadIdx.axis\n", "xyz"),
            ("my_threadIdx.y + threadIdxs.y", ""),
        ] {
            expect(cuda, "", possible);
        }
    }

    #[test]
    fn threads_and_blocks_are_apart() {
        for (cuda, threads, blocks) in [
            ("out[threadIdx.x] = 1;", "x", ""),
            ("out[blockIdx.y * 3 + threadIdx.x] = 1;", "x", "y"),
            ("out[thread_index_z() + threadIdx.x]", "xz", "z"),
            ("out[atomicAdd(next, 1)] = threadIdx.x;", "xyz", "xyz"),
        ] {
            let found = axes(cuda);
            let found = (text(found.threads), text(found.blocks));
            assert_eq!(found, (threads.to_owned(), blocks.to_owned()), "{cuda}");
        }
    }

    #[test]
    fn dynamic_shared_memory_is_found() {
        for (cuda, needs) in [
            ("extern __shared__ float tile[]; tile[0] = 1;", true),
            ("extern __shared__ float tile[]; if (shared_bytes() < 4) return;", false),
            ("__shared__ float tile[4]; // extern", false),
            ("#include \"/size.cuh\"\nextern __shared__ float tile[];", false),
            ("extern \"C\" __shared__ float tile[];", true),
            ("extern __align__(16) /* of a float4 */ __shared__ float4 tile[];", true),
            ("__shared__ extern float tile[];", true),
            ("external = 1;", false),
            ("extern __device__ float table[4]; __shared__ float tile[4];", false),
            ("__shared__ float tile[4]; extern __constant__ float scale;", false),
            ("{ extern \"C\" { } __shared__ float tile[4]; }", false),
            ("", false),
        ] {
            assert_eq!(axes(cuda).needs_shared_bytes(), needs, "{cuda}");
        }
    }

    #[test]
    fn all_is_possible_where_the_text_does_not_tell() {
        let long = format!("{} thread_index_y()", " ".repeat(MOST));
        for cuda in [
            "asm(\"mov.u32 %0, %%tid.y;\" : \"=r\"(y));",
            "__asm__ volatile (\"\");",
            "#define AT(axis) thread_index_##axis()\n",
            "%:define AT(axis) thread_index_%:%:axis()\n",
            "#include \"/rows.cuh\"\n",
            "thread\\\n_index_y()",
            "f(R\"(\")\", blockIdx.y)",
            "__nvvm_read_ptx_sreg_tid_y()",
            "__clusterIdx().y",
            &long,
        ] {
            expect(cuda, "", "xyz");
        }
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
            "asmx + include_all + _asm + nvvm",
            "// threadIdx, asm",
        ] {
            expect(other, "", "");
        }
    }

    /// Tests that no short text of characters with a meaning for this parser causes a panic.
    #[test]
    fn each_short_text_is_read() {
        let letters = ['/', '*', '"', '\'', '\\', '\n', '1', 'R', '#', 'ä'];
        for number in 0..100_000_usize {
            let digits = (0..5).map(|place| number / 10_usize.pow(place) % 10);
            let text: String = digits.map(|digit| letters[digit]).collect();
            assert_eq!(found(&text).0, "", "{text:?}");
            let separate = format!("\n*/\"\n;{text}");
            let with_index = found(&format!("{separate};thread_index_y"));
            assert!(["", "y"].contains(&with_index.0.as_str()), "{text:?}");
            found(&format!("threadIdx{text}"));
        }
    }
}
