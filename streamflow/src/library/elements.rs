//! The elements of a view in a host body.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::memory::Element;

/// The elements of an operand that a host body reads, by index from the first one on. Elements of other operands may lie
/// between them, so there is no slice of all, and each element is read by itself.
#[derive(Debug)]
pub struct Elements<'a, T> {
    first: *mut T,
    /// The number of places from the first element to the last.
    span: usize,
    _memory: PhantomData<&'a T>,
}

/// The elements of an operand that a host body writes, like [`Elements`].
#[derive(Debug)]
pub struct ElementsMut<'a, T>(Elements<'a, T>);

impl<T: Element> Elements<'_, T> {
    /// # Safety
    /// At `first` there are `span` elements of one allocation, or `span` is 0. Elements that the caller reads through
    /// this value are initialised. No other code writes them during the lifetime, and no reference to them is used.
    pub(super) unsafe fn new(first: *mut T, span: usize) -> Self {
        Self { first, span, _memory: PhantomData }
    }

    /// Returns the element at an index.
    ///
    /// # Panics
    /// If the index is after the last element.
    pub fn get(&self, place: usize) -> T {
        self.check(place, 1);
        // SAFETY: the caller of `new` guarantees that the place is within the allocation and that nothing writes the element.
        unsafe { self.first.add(place).read() }
    }

    /// Returns `count` adjacent elements.
    ///
    /// # Panics
    /// If the last of them is after the operand's last element.
    pub fn row(&self, first: usize, count: usize) -> impl Iterator<Item = T> {
        self.check(first, count);
        // SAFETY: as in `get`.
        (first..first + count).map(|place| unsafe { self.first.add(place).read() })
    }

    fn check(&self, first: usize, count: usize) {
        let is_within = count <= self.span && first <= self.span - count;
        assert!(is_within, "{count} elements from place {first} on are not within {}", self.span);
    }
}

impl<T: Element> ElementsMut<'_, T> {
    /// # Safety
    /// As for [`Elements::new`]. No other code reads the elements that the caller writes, either.
    pub(super) unsafe fn new(first: *mut T, span: usize) -> Self {
        // SAFETY: the caller guarantees what `Elements::new` requires.
        Self(unsafe { Elements::new(first, span) })
    }

    /// Writes adjacent elements.
    ///
    /// # Panics
    /// If there is a value for a place after the last element.
    pub fn set_row(&mut self, first: usize, values: impl Iterator<Item = T>) {
        for (place, value) in (first..).zip(values) {
            self.check(place, 1);
            // SAFETY: the caller of `new` guarantees that the place is within the allocation and that nothing else uses
            // the element.
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
