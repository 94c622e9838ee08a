//! Names in errors: the nearest one, and lists of them.

/// A question for the name that was probably meant, if one is near.
pub(super) fn nearest(written: &str, known: &[&str]) -> Option<String> {
    let is_near = |(away, name): &(usize, &str)| *away <= 1 + name.len() / 4;
    let all = known.iter().map(|name| (distance(written, name), *name));
    let (_, name) = all.filter(is_near).min()?;
    Some(format!("did you mean `{name}`?"))
}

/// The names, quoted.
pub(super) fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The Levenshtein distance: how many letters must be changed, inserted or removed to get from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let next = (diagonal + usize::from(x != *y)).min(*cell + 1).min(left + 1);
            diagonal = *cell;
            *cell = next;
            left = next;
        }
        row[0] = i + 1;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_in_letters() {
        for (a, b, away) in
            [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("é", "e", 1)]
        {
            assert_eq!(distance(a, b), away, "{a} {b}");
        }
    }

    #[test]
    fn a_misspelt_name_is_recognised_and_another_one_is_not() {
        let known = ["threshold", "guard"];
        assert_eq!(nearest("treshold", &known), Some("did you mean `threshold`?".into()));
        assert_eq!(nearest("gaurd", &known), Some("did you mean `guard`?".into()));
        assert_eq!(nearest("gain", &known), None);
    }
}
