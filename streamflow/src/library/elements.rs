//! Access to the elements of a view in a host body.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::memory::Element;

/// The elements of an operand that a host body reads, by their index from the first element on. Elements of other operands may
/// lie between them, so they are no slice, and each element is read separately.
#[derive(Debug)]
pub struct Elements<'a, T> {
    first: *mut T,
    /// The number of elements from the first to the last one, with those of other operands between them.
    span: usize,
    _memory: PhantomData<&'a T>,
}

/// The elements of an operand that a host body writes. They can also be read, as [`Elements`].
#[derive(Debug)]
pub struct ElementsMut<'a, T>(Elements<'a, T>);

impl<T: Element> Elements<'_, T> {
    /// # Safety
    /// At `first` there are `span` elements of one allocation, or `span` is 0. The elements that the caller reads through this
    /// value are initialised. During the lifetime, no other code writes these elements or uses a reference to them.
    pub(super) unsafe fn new(first: *mut T, span: usize) -> Self {
        Self { first, span, _memory: PhantomData }
    }

    /// Returns the element at an index.
    ///
    /// # Panics
    /// If the index is after the last element.
    pub fn get(&self, place: usize) -> T {
        self.check(place, 1);
        // SAFETY: `check` has found the index within the span. The caller of `new` guarantees that the span is within the
        // allocation, and that nothing writes the element.
        unsafe { self.first.add(place).read() }
    }

    /// Returns `count` adjacent elements, from the index `first` on.
    ///
    /// # Panics
    /// If one of them is after the operand's last element.
    pub fn row(&self, first: usize, count: usize) -> impl Iterator<Item = T> {
        self.check(first, count);
        // SAFETY: as in `get`, for each of these indices.
        (first..first + count).map(|place| unsafe { self.first.add(place).read() })
    }

    fn check(&self, first: usize, count: usize) {
        let is_within = count <= self.span && first <= self.span - count;
        assert!(is_within, "{count} elements from place {first} on are not within {}", self.span);
    }
}

impl<T: Element> ElementsMut<'_, T> {
    /// # Safety
    /// The requirements of [`Elements::new`]. Also, no other code reads the elements that the caller writes.
    pub(super) unsafe fn new(first: *mut T, span: usize) -> Self {
        // SAFETY: the caller guarantees what `Elements::new` requires.
        Self(unsafe { Elements::new(first, span) })
    }

    /// Writes values to adjacent elements, from the index `first` on.
    ///
    /// # Panics
    /// If a value has no element, since the index is after the last element.
    pub fn set_row(&mut self, first: usize, values: impl Iterator<Item = T>) {
        for (place, value) in (first..).zip(values) {
            self.check(place, 1);
            // SAFETY: `check` has found the index within the span. The caller of `new` guarantees that the span is within the
            // allocation, and that nothing else uses the element.
            unsafe { self.0.first.add(place).write(value) };
        }
    }
}

impl<'a, T> Deref for ElementsMut<'a, T> {
    type Target = Elements<'a, T>;

    fn deref(&self) -> &Elements<'a, T> {
        &self.0
    }
}

impl<'a, T: Element> From<&'a [T]> for Elements<'a, T> {
    fn from(slice: &'a [T]) -> Self {
        // SAFETY: the result borrows the slice for its whole lifetime, and nothing writes the elements.
        unsafe { Self::new(slice.as_ptr().cast_mut(), slice.len()) }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for ElementsMut<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        // SAFETY: the result borrows the slice mutably for its whole lifetime.
        unsafe { Self::new(slice.as_mut_ptr(), slice.len()) }
    }
}
