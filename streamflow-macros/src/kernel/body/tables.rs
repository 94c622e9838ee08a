//! The names of operators and types in both languages.

use syn::BinOp;

/// The function of an operator, in both languages.
pub(super) fn operator(op: &BinOp) -> &'static str {
    match op {
        BinOp::Add(_) => "add",
        BinOp::Sub(_) => "sub",
        BinOp::Mul(_) => "mul",
        BinOp::Div(_) => "div",
        BinOp::Rem(_) => "rem",
        BinOp::BitAnd(_) => "bit_and",
        BinOp::BitOr(_) => "bit_or",
        BinOp::BitXor(_) => "bit_xor",
        BinOp::Shl(_) => "shl",
        BinOp::Shr(_) => "shr",
        BinOp::Eq(_) => "eq",
        BinOp::Ne(_) => "ne",
        BinOp::Lt(_) => "lt",
        BinOp::Le(_) => "le",
        BinOp::Gt(_) => "gt",
        _ => "ge",
    }
}

/// The function of an operator that assigns, as `+=`.
pub(super) fn assigned(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::AddAssign(_) => "add",
        BinOp::SubAssign(_) => "sub",
        BinOp::MulAssign(_) => "mul",
        BinOp::DivAssign(_) => "div",
        BinOp::RemAssign(_) => "rem",
        BinOp::BitAndAssign(_) => "bit_and",
        BinOp::BitOrAssign(_) => "bit_or",
        BinOp::BitXorAssign(_) => "bit_xor",
        BinOp::ShlAssign(_) => "shl",
        BinOp::ShrAssign(_) => "shr",
        _ => return None,
    })
}

/// The type of CUDA with the same values as a number of Rust.
pub(super) fn cuda_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "i8" => "signed char",
        "u8" => "unsigned char",
        "i16" => "short",
        "u16" => "unsigned short",
        "i32" => "int",
        "u32" => "unsigned int",
        "i64" => "long long",
        "u64" | "usize" => "unsigned long long",
        "f32" => "float",
        "f64" => "double",
        _ => return None,
    })
}

/// The problem of a name that the text in CUDA gives to its own types and constants.
pub(super) fn own_name(name: &str) -> Option<&'static str> {
    let is_own = name.starts_with(['A', 'C', 'F', 'L', 'W'])
        && name.len() > 1
        && name[1..].bytes().all(|digit| digit.is_ascii_digit());
    is_own.then_some("the kernel's code in CUDA has this name; choose another name")
}
