//! The names of types in texts for users.

use std::any::type_name;

/// Returns the type's name without the paths of its parts, as `Vec<String>`.
#[must_use]
pub fn short_type_name<T: ?Sized>() -> String {
    let mut short = String::new();
    for part in
        type_name::<T>().split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_')
    {
        if part.ends_with(':') {
            // This piece of the name is a module of a path with its first colon, or the second colon alone.
            continue;
        }
        short.push_str(part);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_type_name_has_no_paths() {
        assert_eq!(short_type_name::<f32>(), "f32");
        assert_eq!(short_type_name::<Vec<Option<String>>>(), "Vec<Option<String>>");
        assert_eq!(short_type_name::<([std::time::Duration; 2], u8)>(), "([Duration; 2], u8)");
    }
}
