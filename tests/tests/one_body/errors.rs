//! The errors that a function may have, in steps of the last place.
//!
//! A function on a GPU and the same one on the host may each differ from the exact value, so the two differ by the sum at most.
//!
//! - CUDA: the tables of maximum errors in the chapter "Mathematical Functions" of the CUDA C++ programming guide, for
//!   compilation with `-prec-div=true -prec-sqrt=true -ftz=false`. Where versions of CUDA 12 and 13 disagree, the larger.
//! - Host: "Known Maximum Errors in Math Functions" of the manual of the GNU C library, for x86_64 and aarch64, the larger.

use super::values::Format;

/// The functions that are not exact: the errors of CUDA and of the host for `f32`, and those for `f64`.
const ERRORS: [(&str, [u64; 2], [u64; 2]); 17] = [
    ("acos", [2, 1], [2, 1]),
    ("asin", [2, 1], [2, 1]),
    ("atan", [2, 1], [2, 1]),
    ("atan2", [3, 2], [2, 1]),
    ("cos", [2, 1], [2, 1]),
    ("cosh", [2, 2], [1, 2]),
    ("exp", [2, 1], [1, 1]),
    ("exp2", [2, 1], [1, 1]),
    ("hypot", [3, 1], [2, 1]),
    ("ln", [1, 1], [1, 1]),
    ("log10", [2, 2], [1, 2]),
    ("log2", [1, 1], [1, 2]),
    ("powf", [4, 1], [2, 1]),
    ("sin", [2, 1], [2, 1]),
    ("sinh", [3, 2], [2, 2]),
    ("tan", [4, 1], [2, 1]),
    ("tanh", [2, 2], [1, 2]),
];

/// The largest distance of two results of the operation. 0 for one that is exact.
pub(super) fn allowed(operation: &str, format: Format) -> u64 {
    let found = ERRORS.iter().find(|(name, ..)| *name == operation);
    found.map_or(0, |(_, of_f32, of_f64)| match format {
        Format::Integer => 0,
        Format::F32 => of_f32.iter().sum(),
        Format::F64 => of_f64.iter().sum(),
    })
}
