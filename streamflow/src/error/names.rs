//! The nearest name, for errors about an unknown one.

/// A question for the name that was probably meant, to follow the error's text; empty if no name is near.
pub(crate) fn did_you_mean<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> String {
    let all = known.map(|name| (distance(written, name), name));
    let near = all.filter(|(away, name)| *away <= 1 + name.len() / 4).min();
    near.map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
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
            (diagonal, *cell, left) = (*cell, next, next);
        }
        row[0] = i + 1;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_asked_for_and_a_far_one_is_not() {
        let ask = |name| did_you_mean(name, ["camera", "sink"].into_iter());
        assert_eq!(ask("camra"), "; did you mean `camera`?");
        assert_eq!(ask("snik"), "; did you mean `sink`?");
        assert_eq!(ask("radar"), "");
    }
}
