//! Element types by name.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;

/// Runs `$body` with `$T` as the element type that has this name.
macro_rules! for_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            "bool" => {
                type $T = streamflow::memory::Bool8;
                Ok($body)
            }
            "bfloat16" => {
                type $T = streamflow::memory::bf16;
                Ok($body)
            }
            "complex64" => {
                type $T = streamflow::memory::Complex<f32>;
                Ok($body)
            }
            "complex128" => {
                type $T = streamflow::memory::Complex<f64>;
                Ok($body)
            }
            "float16" => {
                type $T = half::f16;
                Ok($body)
            }
            "float32" => {
                type $T = f32;
                Ok($body)
            }
            "float64" => {
                type $T = f64;
                Ok($body)
            }
            "int8" => {
                type $T = i8;
                Ok($body)
            }
            "int16" => {
                type $T = i16;
                Ok($body)
            }
            "int32" => {
                type $T = i32;
                Ok($body)
            }
            "int64" => {
                type $T = i64;
                Ok($body)
            }
            "uint8" => {
                type $T = u8;
                Ok($body)
            }
            "uint16" => {
                type $T = u16;
                Ok($body)
            }
            "uint32" => {
                type $T = u32;
                Ok($body)
            }
            "uint64" => {
                type $T = u64;
                Ok($body)
            }
            other => Err($crate::dtype::unknown(other)),
        }
    };
}
pub(crate) use for_dtype;

/// Returns the exception for an element type that streamflow does not have.
pub(crate) fn unknown(dtype: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "streamflow has no elements of type {dtype}; convert them to one of bool, bfloat16, float16, float32, \
         float64, complex64, complex128, int8, int16, int32, int64, uint8, uint16, uint32 and uint64"
    ))
}

/// Returns the name of an element type. Python passes the type as a string, a NumPy dtype, or a scalar type as `numpy.float32`.
pub(crate) fn name_of(dtype: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(name) = dtype.extract::<String>() {
        return Ok(name);
    }
    for attribute in ["name", "__name__"] {
        if let Ok(name) = dtype.getattr(attribute).and_then(|name| name.extract::<String>()) {
            return Ok(name);
        }
    }
    Err(PyTypeError::new_err("`dtype` is the name of a type, as \"float32\", or a NumPy dtype"))
}

/// Returns the name of an element type from the `typestr` of an array interface, as `<f4`.
pub(crate) fn of_typestr(typestr: &str) -> PyResult<String> {
    let mut letters = typestr.chars();
    let (order, kind) = (letters.next(), letters.next());
    let bytes: Option<u32> = letters.as_str().parse().ok();
    let little = if cfg!(target_endian = "little") { '<' } else { '>' };
    let name = match kind {
        Some('f') => "float",
        Some('i') => "int",
        Some('u') => "uint",
        Some('c') => "complex",
        Some('b') if bytes == Some(1) => return Ok("bool".to_owned()),
        _ => return Err(unknown(typestr)),
    };
    match (order, bytes) {
        (Some('|'), Some(1)) | (Some(_), Some(1)) => Ok(format!("{name}8")),
        (Some(order), Some(bytes @ 2..=16)) if order == little || order == '=' => {
            Ok(format!("{name}{}", bytes * 8))
        }
        (Some(_), Some(_)) => Err(PyTypeError::new_err(format!(
            "the elements {typestr} have the other byte order; convert them first, as by `.astype(\"{}\")`",
            &typestr[1..]
        ))),
        _ => Err(unknown(typestr)),
    }
}

/// Returns the `typestr` of an element type.
///
/// # Errors
/// `AttributeError` for `bfloat16`, which array interfaces have no name for.
pub(crate) fn typestr(dtype: &str) -> PyResult<String> {
    if dtype == "bfloat16" {
        return Err(PyAttributeError::new_err(
            "array interfaces have no elements of type bfloat16; hand the tensor over by `from_dlpack`",
        ));
    }
    let digits = dtype.find(|c: char| c.is_ascii_digit()).unwrap_or(dtype.len());
    let bytes = dtype[digits..].parse::<u32>().map_or(1, |bits| bits / 8);
    let kind = &dtype[..1];
    let order = match (bytes, cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    Ok(format!("{order}{kind}{bytes}"))
}
