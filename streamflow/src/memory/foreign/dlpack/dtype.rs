//! DLPack's element types.

use std::fmt;

use super::abi::DataType;

/// The type of an element, in DLPack's terms. Displayed as NumPy's name, for example `float32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DlType {
    /// `DLDataTypeCode`: 0 signed, 1 unsigned, 2 floating-point, 4 `bfloat16`, 5 complex, 6 Boolean.
    pub code: u8,
    /// The size of one lane, in bits.
    pub bits: u8,
    /// The number of lanes of an element; 1 for all types of streamflow.
    pub lanes: u16,
}

/// The codes of kinds of types, each with the name that NumPy has for the kind.
const NAMES: [(u8, &str); 5] =
    [(0, "int"), (1, "uint"), (2, "float"), (4, "bfloat"), (5, "complex")];

impl DlType {
    /// The type with this name in NumPy; `None` for a name without a type in DLPack.
    pub fn of_name(name: &str) -> Option<Self> {
        if name == "bool" {
            return Some(Self { code: 6, bits: 8, lanes: 1 });
        }
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let (kind, bits) = name.split_at(digits);
        let (code, _) = NAMES.iter().find(|(_, known)| *known == kind)?;
        Some(Self { code: *code, bits: bits.parse().ok()?, lanes: 1 })
    }
}

impl fmt::Display for DlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, bits, lanes } = *self;
        match NAMES.iter().find(|(known, _)| *known == code) {
            Some((_, name)) => write!(f, "{name}{bits}")?,
            None if code == 6 => f.write_str("bool")?,
            None => write!(f, "type {code} of {bits} bits")?,
        }
        if lanes == 1 { Ok(()) } else { write!(f, " with {lanes} lanes") }
    }
}

impl From<DataType> for DlType {
    fn from(DataType { code, bits, lanes }: DataType) -> Self {
        Self { code, bits, lanes }
    }
}

impl From<DlType> for DataType {
    fn from(DlType { code, bits, lanes }: DlType) -> Self {
        Self { code, bits, lanes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numpys() {
        let types = [
            ("float32", (2, 32)),
            ("float16", (2, 16)),
            ("int64", (0, 64)),
            ("uint8", (1, 8)),
            ("bool", (6, 8)),
            ("bfloat16", (4, 16)),
            ("complex64", (5, 64)),
            ("complex128", (5, 128)),
        ];
        for (name, (code, bits)) in types {
            let ty = DlType { code, bits, lanes: 1 };
            assert_eq!((DlType::of_name(name), ty.to_string().as_str()), (Some(ty), name));
        }
        for unknown in ["", "float", "str", "float999", "8"] {
            assert_eq!(DlType::of_name(unknown), None, "{unknown}");
        }
        assert_eq!(
            DlType { code: 9, bits: 4, lanes: 2 }.to_string(),
            "type 9 of 4 bits with 2 lanes"
        );
    }
}
