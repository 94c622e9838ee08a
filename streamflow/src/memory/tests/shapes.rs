//! What every shape keeps, and that no slice goes beyond its memory.

use super::super::slice::Stored;
use super::*;
use crate::error::Error;

fn is_shape(error: &Error) -> bool {
    matches!(error, Error::Shape { .. })
}

/// In every build, and without a panic: memory safety hangs on it.
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

/// Views are made of shapes and strides that were checked; what they make of them needs no check.
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
    #[expect(clippy::reversed_empty_ranges, reason = "it must be refused")]
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
