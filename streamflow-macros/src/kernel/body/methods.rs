//! The methods that a kernel's values have. `streamflow::kernel::body` and `cuda/body.cuh` have a function for each.

use syn::ExprMethodCall;

use crate::diagnostic::{Errors, similar};

/// Each method, with the number of its arguments.
const METHODS: &[(&str, usize)] = &[
    ("abs", 0),
    ("acos", 0),
    ("asin", 0),
    ("atan", 0),
    ("atan2", 1),
    ("ceil", 0),
    ("clamp", 2),
    ("copysign", 1),
    ("cos", 0),
    ("cosh", 0),
    ("count_ones", 0),
    ("exp", 0),
    ("exp2", 0),
    ("floor", 0),
    ("fract", 0),
    ("hypot", 1),
    ("is_finite", 0),
    ("is_infinite", 0),
    ("is_nan", 0),
    ("leading_zeros", 0),
    ("ln", 0),
    ("log10", 0),
    ("log2", 0),
    ("max", 1),
    ("min", 1),
    ("mul_add", 2),
    ("pow", 1),
    ("powf", 1),
    ("powi", 1),
    ("recip", 0),
    ("rem_euclid", 1),
    ("round", 0),
    ("saturating_add", 1),
    ("saturating_sub", 1),
    ("signum", 0),
    ("sin", 0),
    ("sinh", 0),
    ("sqrt", 0),
    ("tan", 0),
    ("tanh", 0),
    ("to_bits", 0),
    ("to_degrees", 0),
    ("to_radians", 0),
    ("trailing_zeros", 0),
    ("trunc", 0),
    ("wrapping_add", 1),
    ("wrapping_mul", 1),
    ("wrapping_sub", 1),
];

/// Whether the method exists with these arguments. Reports it if not.
pub(super) fn check(call: &ExprMethodCall, errors: &mut Errors) -> bool {
    let name = call.method.to_string();
    if let Some(turbofish) = &call.turbofish {
        errors.at(turbofish, "a method of a kernel's value has no type arguments");
        return false;
    }
    match METHODS.iter().find(|(known, _)| *known == name) {
        Some((_, count)) if *count == call.args.len() => true,
        Some((_, count)) => {
            let (given, s) = (call.args.len(), if *count == 1 { "" } else { "s" });
            let text = format!("`{name}` takes {count} argument{s}, and this call gives {given}");
            errors.push(syn::Error::new(call.method.span(), text));
            false
        }
        None => {
            let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
            let hint = similar(&name, &names).map(|near| format!("; did you mean `{near}`?"));
            let text =
                format!("a kernel's values have no method `{name}`{}", hint.unwrap_or_default());
            errors.push(syn::Error::new(call.method.span(), text));
            false
        }
    }
}
