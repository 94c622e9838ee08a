//! The functions of a CUBIN: an ELF file with a section `.text.NAME` for each function, and beside it `.nv.info.NAME`, a list
//! of attributes. The attribute of a parameter has its number and its size, as the output of `cuobjdump -elf` shows.

use super::{Contents, Entry};

/// The fields of ELF's header and of a section's header (ELF-64 Object File Format).
const HEADER: usize = 64;
const SECTION: usize = 64;

/// The format of an attribute with a size and so many bytes after it; others have no bytes.
const SIZED: u8 = 4;
/// The attribute of a parameter.
const PARAM: u8 = 0x17;
/// A parameter in a later form, whose layout NVIDIA documents nowhere.
const PARAM_V2: u8 = 0x45;

pub(super) fn is_elf(code: &[u8]) -> bool {
    code.starts_with(b"\x7fELF")
}

/// Reads a CUBIN. Returns `None` if a part of it is missing.
pub(super) fn read(code: &[u8]) -> Option<Contents> {
    code.get(..HEADER)?;
    let (start, count) = (long(code, 40)?, short(code, 60)?);
    let sections: Vec<Section<'_>> = (0..count as usize)
        .map(|number| Section::read(code, start.checked_add(number * SECTION)?))
        .collect::<Option<_>>()?;
    let names = sections.get(short(code, 62)? as usize)?;
    let named: Vec<(&str, &[u8])> = sections
        .iter()
        .map(|section| Some((names.text(section.name)?, section.bytes)))
        .collect::<Option<_>>()?;
    let entries = named.iter().filter_map(|(name, _)| {
        let name = name.strip_prefix(".text.")?;
        let info = named.iter().find(|(other, _)| other.strip_prefix(".nv.info.") == Some(name));
        Some(Entry { name: name.to_owned(), params: info.and_then(|(_, info)| params(info)) })
    });
    Some(Contents { kind: "a CUBIN", target: target(code), entries: entries.collect() })
}

/// The architecture, whose place in the flags depends on the version of the format.
fn target(code: &[u8]) -> Option<String> {
    let flags = int(code, 48)?;
    let number = if *code.get(8)? >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
    Some(format!("sm_{number}"))
}

struct Section<'a> {
    /// The place of its name in the section of names.
    name: usize,
    bytes: &'a [u8],
}

impl<'a> Section<'a> {
    fn read(code: &'a [u8], at: usize) -> Option<Self> {
        /// A section that has a size, and no bytes in the file.
        const NO_BITS: u32 = 8;
        let header = code.get(at..at.checked_add(SECTION)?)?;
        let (from, size) = (long(header, 24)?, long(header, 32)?);
        let bytes = match int(header, 4)? {
            NO_BITS => &[],
            _ => code.get(from..from.checked_add(size)?)?,
        };
        Some(Self { name: int(header, 0)? as usize, bytes })
    }

    /// The name that begins at this place of a section of names.
    fn text(&self, at: usize) -> Option<&'a str> {
        let text = self.bytes.get(at..)?.split(|byte| *byte == 0).next()?;
        std::str::from_utf8(text).ok()
    }
}

/// The sizes of a function's parameters. Returns `None` for a list that is not known.
fn params(info: &[u8]) -> Option<Vec<usize>> {
    let (mut rest, mut sizes) = (info, Vec::new());
    while !rest.is_empty() {
        let (format, attribute, size) = (*rest.first()?, *rest.get(1)?, short(rest, 2)? as usize);
        let bytes = if format == SIZED { size } else { 0 };
        let data = rest.get(4..4 + bytes)?;
        if (format, attribute) == (SIZED, PARAM_V2) {
            return None;
        }
        if (format, attribute) == (SIZED, PARAM) {
            let (number, size) = (short(data, 4)? as usize, int(data, 8)? >> 18);
            sizes.push((number, size as usize));
        }
        rest = &rest[4 + bytes..];
    }
    sizes.sort_unstable();
    let is_whole = sizes.iter().enumerate().all(|(at, (number, _))| at == *number);
    is_whole.then(|| sizes.into_iter().map(|(_, size)| size).collect())
}

fn bytes<const N: usize>(code: &[u8], at: usize) -> Option<[u8; N]> {
    code.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn short(code: &[u8], at: usize) -> Option<u16> {
    bytes(code, at).map(u16::from_le_bytes)
}

fn int(code: &[u8], at: usize) -> Option<u32> {
    bytes(code, at).map(u32::from_le_bytes)
}

fn long(code: &[u8], at: usize) -> Option<usize> {
    bytes(code, at).map(u64::from_le_bytes).and_then(|number| number.try_into().ok())
}
