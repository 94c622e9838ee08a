#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use super::*;

fn wanted(rank: usize, lengths: [usize; MOST], batch: usize) -> Wanted {
    Wanted { argument: "output", call: "fft", rank, lengths, batch, is_written: true }
}

/// Returns the index of every element, by the formula in the documentation.
fn indices(side: &Side, batch: usize) -> Vec<usize> {
    let [n0, n1, n2] = side.lengths;
    let mut all = Vec::new();
    for b in 0..batch {
        for i in 0..n0 * n1 * n2 {
            let (x, y, z) = (i / n2 / n1, i / n2 % n1, i % n2);
            let [_, e1, e2] = side.embed;
            all.push(b * side.distance + ((x * e1 + y) * e2 + z) * side.stride);
        }
    }
    all
}

#[test]
fn an_overlap_of_written_elements_is_found_exactly() {
    let (mut apart, mut overlapping) = (0, 0);
    for lengths in [[1, 1, 3], [1, 2, 2], [1, 3, 2], [2, 2, 2], [2, 1, 3]] {
        for more in [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 2, 3]] {
            for (stride, batch) in [(1, 2), (2, 3), (3, 4), (4, 7), (1, 1)] {
                for distance in 1..30 {
                    let embed = [0, 1, 2].map(|d| lengths[d] + more[d]);
                    let layout = Layout::embedded(embed).stride(stride).distance(distance);
                    let read = Wanted { is_written: false, ..wanted(3, lengths, batch) };
                    let side = Side::new(&read, Some(layout)).unwrap();
                    let all = indices(&side, batch);
                    let unique: HashSet<_> = all.iter().collect();
                    let found = Side::new(&wanted(3, lengths, batch), Some(layout));
                    assert_eq!(found.is_ok(), unique.len() == all.len(), "{layout:?} {batch}");
                    assert_eq!(side.span, all.iter().max().unwrap() + 1);
                    apart += u32::from(found.is_ok());
                    overlapping += u32::from(found.is_err());
                }
            }
        }
    }
    assert!(apart > 100 && overlapping > 100, "{apart} {overlapping}");
}

#[test]
fn an_index_is_that_of_the_documentation() {
    let layout = Layout::embedded([4, 5, 6]).stride(2).distance(300);
    let side = Side::new(&wanted(3, [2, 3, 4], 2), Some(layout)).unwrap();
    assert_eq!(side.at([1, 1, 2, 3]), 300 + ((5 + 2) * 6 + 3) * 2);
    assert_eq!([0, 1, 2].map(|d| side.step(d)), [60, 12, 2]);
    let dense = Side::new(&wanted(2, [1, 3, 4], 5), None).unwrap();
    assert_eq!((dense.distance, dense.span, dense.is_dense), (12, 60, true));
    assert_eq!(Side::new(&wanted(2, [1, 3, 4], 0), None).unwrap().span, 0);
}

#[test]
fn an_error_names_what_is_wrong() {
    let text = |lengths, batch, layout| {
        Side::new(&wanted(2, lengths, batch), Some(layout)).unwrap_err().to_string()
    };
    let plane = [1, 3, 4];
    assert_eq!(
        text(plane, 1, Layout::embedded([12])),
        "`fft`: `output` is embedded in 1 dimension(s), but the transform has 2; write 2 lengths"
    );
    assert_eq!(
        text(plane, 1, Layout::embedded([3, 2])),
        "`fft`: `output` is embedded in 2 elements of dimension 1, but a transform has 4 there; write at least 4"
    );
    assert_eq!(
        text(plane, 2, Layout::embedded([3, 4]).stride(0)),
        "`fft`: `output` has a stride of 0 and a distance of None; write at least 1 for each"
    );
    assert_eq!(
        text(plane, 2, Layout::embedded([3, 4]).distance(8)),
        "`fft`: `output` has one place for elements of transforms 0 and 1, but each is written; raise the distance of 8"
    );
    assert_eq!(
        text(plane, usize::MAX, Layout::embedded([3, 4])),
        "`fft`: `output` has more elements than addresses can have; make the batch smaller"
    );
    let side = Side::new(&wanted(2, plane, 2), None).unwrap();
    let error = side.check("fft", "y", 25).unwrap_err().to_string();
    assert_eq!(error, "`fft`: `y` has 25 elements, but the plan needs 24");
}
