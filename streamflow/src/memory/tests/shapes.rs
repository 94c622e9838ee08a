//! Tests of the invariants of shapes, and tests that no slice goes beyond its block.

use super::super::slice::Stored;
use super::*;
use crate::driver::{AccessMode, Rows};
use crate::error::Error;

fn is_shape(error: &Error) -> bool {
    matches!(error, Error::Shape { .. })
}

/// Every build checks that a slice is within its block, because memory safety depends on this. A failed check is an error
/// and no panic.
#[test]
fn no_slice_is_larger_than_its_block() {
    let bench = bench(in_flight(1));
    let stream = bench.pool.allocate("a").unwrap();
    let data = bench.platform.buffer::<u8>(LEN, &stream).unwrap();
    let block = data.block();
    let bytes = block.range().bytes as usize;
    let of = |len: usize| Shape::new(&[len]).unwrap();
    assert!(Stored::<u8>::whole(block, &of(bytes)).is_ok());
    assert!(Stored::<f64>::whole(block, &of(bytes / 8)).is_ok());
    for too_long in [bytes / 8 + 1, bytes, usize::MAX >> 5] {
        assert!(is_shape(&Stored::<f64>::whole(block, &of(too_long)).unwrap_err()));
    }
    let error = Stored::<u8>::whole(block, &of(bytes + 1)).unwrap_err();
    assert!(error.to_string().contains("memory that it was given is smaller"), "{error}");
}

/// The address of an element must be a multiple of the element's size, because the device loads an element as one word, even
/// if Rust aligns the type to less than its size.
#[test]
fn no_element_has_an_address_that_is_not_a_multiple_of_its_size() {
    use num_complex::Complex;
    let bench = bench(in_flight(1));
    let (stream, _) = bench.stream();
    let data = bench.platform.buffer::<u8>(256, &stream).unwrap();
    let MemoryRange { address, .. } = data.block().range();
    let of = |offset: u64| {
        let range = MemoryRange { address: address + offset, bytes: 64 };
        Block::new(bench.platform.streams().platform(), device(0), range)
    };
    let shape = Shape::new(&[4]).unwrap();
    for (offset, aligned) in [(0, true), (4, false), (8, true), (12, false), (16, true)] {
        let block = of(offset);
        let result = Stored::<Complex<f32>>::whole(&block, &shape).map(drop);
        assert_eq!(result.is_ok(), aligned, "{offset}");
        assert!(Stored::<f32>::whole(&block, &shape).is_ok());
        assert_eq!(Stored::<Complex<f64>>::whole(&block, &shape).is_ok(), offset % 16 == 0);
    }
    let text = Stored::<u16>::whole(&of(1), &shape).unwrap_err().to_string();
    assert!(text.contains("not a multiple of its element's size"), "{text}");
}

/// Views are made from checked shapes and strides, so the computations of views need no overflow checks.
#[test]
fn views_of_a_huge_empty_tensor_stay_within_it() {
    let bench = bench(in_flight(1));
    let stream = bench.pool.allocate("a").unwrap();
    let empty = bench.platform.tensor::<f64>([1 << 29, 0, 1 << 29], &stream).unwrap();
    assert_eq!(empty.strides()[..], [1 << 29, 1 << 29, 1]);
    for view in [empty.view(), empty.view().transpose()] {
        let last = (1 << 29) - 1;
        let view = view.slice(0, last..last + 1).unwrap().slice(2, last..last + 1).unwrap();
        assert_eq!((view.shape(), view.slice(1, 0..0).is_some()), (&[1, 0, 1][..], true));
        assert!(view.slice(1, 0..1).is_none() && view.slice(3, 0..1).is_none());
        assert_eq!(view.as_contiguous().unwrap().len(), 0);
        assert!(Shape::new(view.shape()).is_ok());
    }
    #[expect(clippy::reversed_empty_ranges, reason = "it must be rejected")]
    let backwards = empty.view().slice(0, 5..4);
    assert!(backwards.is_none());
}

#[test]
fn shapes_have_strides_also_where_a_dimension_is_zero() {
    assert_eq!(Shape::new(&[2, 3, 4]).unwrap().dense_strides()[..], [12, 4, 1]);
    assert_eq!(Shape::new(&[2, 0, 4]).unwrap().dense_strides()[..], [4, 4, 1]);
    assert_eq!(Shape::new(&[]).unwrap().count(), 1);
    for dims in [[0, usize::MAX, 2], [usize::MAX, 0, 2], [usize::MAX, 2, 0]] {
        assert!(Shape::new(&dims).is_err(), "{dims:?}");
    }
}

#[test]
fn memory_says_its_device_and_whether_it_is_empty() {
    let bench = bench(in_flight(1));
    let (stream, _) = bench.stream();
    for len in [0, LEN] {
        let data = bench.platform.buffer::<u8>(len, &stream).unwrap();
        assert_eq!((data.len(), data.is_empty(), data.device()), (len, len == 0, device(0)));
        let pinned = bench.platform.pinned::<u8>(device(0), len).unwrap();
        assert_eq!((pinned.len(), pinned.is_empty()), (len, len == 0));
    }
}

#[test]
fn a_view_without_gaps_in_its_order_is_contiguous() {
    let bench = bench(in_flight(1));
    let (stream, _) = bench.stream();
    let matrix = bench.platform.tensor::<u8>([5, 7], &stream).unwrap();
    let part = |dimension, range| matrix.view().slice(dimension, range).unwrap();
    assert!(matrix.view().is_contiguous() && part(0, 2..4).is_contiguous());
    // A part of one row has no gaps, and neither has a part without rows.
    assert!(part(0, 1..2).slice(1, 3..6).unwrap().is_contiguous());
    assert!(part(0, 5..5).transpose().is_contiguous());
    assert!(!part(1, 0..6).is_contiguous() && !matrix.view().transpose().is_contiguous());
}

fn levels(rows: &Rows) -> Vec<(u64, u64)> {
    rows.levels().iter().map(|level| (level.count, level.pitch)).collect()
}

/// A launch declares the rows of a view if elements of other views may lie between the rows. Else it declares the range of
/// the view.
#[test]
fn a_part_with_gaps_declares_its_rows() {
    let bench = bench(in_flight(1));
    let (stream, _) = bench.stream();
    let image = bench.platform.tensor::<u16>([10, 8, 3], &stream).unwrap();
    let part = |dims: &[(usize, std::ops::Range<usize>)]| {
        let view =
            dims.iter().fold(image.view(), |view, (d, r)| view.slice(*d, r.clone()).unwrap());
        let range = view.range();
        let of = |view: TensorView<'_, u16>, mode| {
            view.rows(mode).map(|rows| (rows.bytes(), levels(&rows)))
        };
        let rows = of(view, AccessMode::Write);
        assert_eq!(of(view, AccessMode::Read), rows);
        assert_eq!(view.transpose().range(), range);
        assert_eq!(of(view.transpose(), AccessMode::Write), rows);
        (range.address - image.range().address, range.bytes, rows)
    };
    assert_eq!(part(&[]), (0, 480, None));
    assert_eq!(part(&[(0, 2..4)]), (96, 96, None));
    assert_eq!(part(&[(1, 2..4)]), (12, 9 * 48 + 12, Some((12, vec![(10, 48)]))));
    // The next two views have one channel: of all pixels, and of the pixels of some columns.
    assert_eq!(part(&[(2, 1..2)]), (2, 79 * 6 + 2, Some((2, vec![(80, 6)]))));
    let channel = (2, 9 * 48 + 3 * 6 + 2, Some((2, vec![(4, 6), (10, 48)])));
    assert_eq!(part(&[(1, 0..4), (2, 1..2)]), channel);
    assert_eq!(part(&[(0, 1..2), (2, 1..2)]), (50, 7 * 6 + 2, Some((2, vec![(8, 6)]))));
    assert_eq!(part(&[(0, 1..2), (1, 3..5)]), (66, 12, None));
    assert_eq!(part(&[(1, 3..3)]).1, 0);
    // No view has an element in the padding of a pitched tensor. So a write may include the padding, and a read does not
    // require that it was written.
    let padded = bench.platform.pitched_tensor::<u8>([4, 5], &stream).unwrap();
    let whole = padded.view();
    assert_eq!((whole.range().bytes, whole.rows(AccessMode::Write)), (3 * 512 + 5, None));
    let of =
        |view: TensorView<'_, u8>, mode| view.rows(mode).map(|rows| (rows.bytes(), levels(&rows)));
    assert_eq!(of(whole, AccessMode::Read), Some((5, vec![(4, 512)])));
    let columns = padded.view().slice(1, 1..3).unwrap();
    for mode in [AccessMode::Read, AccessMode::Write] {
        assert_eq!(of(columns, mode), Some((2, vec![(4, 512)])));
    }
}

#[test]
fn small_blocks_end_at_the_size_that_is_told() {
    let options = MemoryOptions { in_flight: 2, small_in_flight: 3, ..MemoryOptions::default() };
    for (bytes, blocks) in [(MemoryOptions::SMALL_BLOCK, 3), (MemoryOptions::SMALL_BLOCK + 1, 2)] {
        let bench = bench(options);
        let ((a, _), (b, _)) = (bench.stream(), bench.stream());
        let mut last = bench.platform.buffer::<u8>(1, &b).unwrap();
        bench.recorder.clear();
        for _ in 0..9 {
            let data = bench.platform.buffer::<u8>(bytes as usize, &a).unwrap();
            b.copy(&data.slice(..1).unwrap(), &mut last).unwrap();
        }
        let made = bench.count(|call| matches!(call, Call::Allocate { .. }));
        assert_eq!(made, blocks, "of {bytes} bytes");
    }
}
