//! Finds the nearest known name, for the text of an error about an unknown name.

/// Returns a question that proposes the known name nearest to the written one; `None` if no name is near.
pub(crate) fn nearest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let all = known.into_iter().map(|name| (distance(written, name), name));
    let (_, name) = all.filter(|(away, name)| *away <= 1 + name.len() / 4).min()?;
    Some(format!("did you mean `{name}`?"))
}

/// Returns the question of [`nearest`] as the end of an error's text; empty if no name is near.
pub(crate) fn did_you_mean<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(written, known).map_or_else(String::new, |question| format!("; {question}"))
}

/// Returns the Levenshtein distance of two words: how many letters must be changed, inserted or removed to turn one into the
/// other.
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
    fn distances_are_counted_in_letters() {
        for (a, b, away) in
            [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("é", "e", 1)]
        {
            assert_eq!(distance(a, b), away, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_is_asked_for_and_a_far_one_is_not() {
        let ask = |name| did_you_mean(name, ["camera", "sink"].into_iter());
        assert_eq!(ask("camra"), "; did you mean `camera`?");
        assert_eq!(ask("snik"), "; did you mean `sink`?");
        assert_eq!(ask("radar"), "");
    }
}
