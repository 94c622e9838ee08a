//! The functions of PTX text (PTX ISA, *Kernel function parameter declarations*).

use super::{Contents, Entry};

/// Reads PTX text. Returns `None` for other text: PTX begins with `.version`.
pub(super) fn read(text: &str) -> Option<Contents> {
    let text = without_comments(text.trim_end_matches('\0'));
    if !text.trim_start().starts_with(".version") {
        return None;
    }
    let target = text.split_once(".target").and_then(|(_, rest)| word(rest));
    let entries = text.split(".entry").skip(1).filter_map(entry).collect();
    Some(Contents { kind: "PTX", target: target.map(str::to_owned), entries })
}

/// Returns the text with a space in the place of each comment and string.
fn without_comments(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        left.push_str(&rest[..at]);
        rest = &rest[at..];
        let begun = [("//", "\n"), ("/*", "*/"), ("\"", "\"")]
            .into_iter()
            .find_map(|(begin, end)| Some((rest.strip_prefix(begin)?, end)));
        let Some((inside, end)) = begun else {
            left.push('/');
            rest = &rest[1..];
            continue;
        };
        left.push(' ');
        rest = inside.split_once(end).map_or("", |(_, after)| after);
    }
    left + rest
}

/// The first word of the text: letters, digits, and signs of PTX's names.
fn word(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let end =
        text.find(|c: char| !c.is_ascii_alphanumeric() && !"_$%".contains(c)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// Reads a function after the word `.entry`: its name, and its parameters in parentheses.
fn entry(text: &str) -> Option<Entry> {
    let name = word(text)?;
    let rest = text.trim_start()[name.len()..].trim_start();
    let list = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(list, _)| list);
    let list = list.unwrap_or_default();
    let params = list.split(',').filter(|param| !param.trim().is_empty()).map(size).collect();
    Some(Entry { name: name.to_owned(), params })
}

/// The bytes of a parameter, as `.param .u64 a` or `.param .align 8 .b8 a[16]`. Returns `None` for a type that is not known.
fn size(param: &str) -> Option<usize> {
    let of_type = param.split_ascii_whitespace().find_map(|word| match word {
        ".u8" | ".s8" | ".b8" => Some(1),
        ".u16" | ".s16" | ".b16" | ".f16" | ".bf16" => Some(2),
        ".u32" | ".s32" | ".b32" | ".f32" | ".f16x2" | ".bf16x2" => Some(4),
        ".u64" | ".s64" | ".b64" | ".f64" => Some(8),
        ".b128" => Some(16),
        _ => None,
    })?;
    match param.split_once('[') {
        None => Some(of_type),
        Some((_, rest)) => {
            let count: usize = rest.split_once(']')?.0.trim().parse().ok()?;
            count.checked_mul(of_type)
        }
    }
}
