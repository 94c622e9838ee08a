//! The elements of a view in a host body.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::memory::Element;

/// The elements of an operand that is read, by their places from the first one on. Other operands may have elements between
/// them, so there is no slice of all, and each element is read by itself.
#[derive(Debug)]
pub struct Elements<'a, T> {
    first: *mut T,
    /// From the first element to the last.
    span: usize,
    _memory: PhantomData<&'a T>,
}

/// The elements of an operand that is written, as [`Elements`].
#[derive(Debug)]
pub struct ElementsMut<'a, T>(Elements<'a, T>);

impl<T: Element> Elements<'_, T> {
    /// # Safety
    /// From `first` on there are `span` elements of one allocation, or `span` is 0. Elements that are read are
    /// initialised, and no other code writes them during the lifetime; no reference to them is used.
    pub(super) unsafe fn new(first: *mut T, span: usize) -> Self {
        Self { first, span, _memory: PhantomData }
    }

    /// The element in a place.
    ///
    /// # Panics
    /// If the place is after the last element.
    pub fn get(&self, place: usize) -> T {
        self.check(place, 1);
        // SAFETY: `new`.
        unsafe { self.first.add(place).read() }
    }

    /// Returns this number of adjacent elements.
    ///
    /// # Panics
    /// If the last one is after the last element.
    pub fn row(&self, first: usize, count: usize) -> impl Iterator<Item = T> {
        self.check(first, count);
        // SAFETY: `new`.
        (first..first + count).map(|place| unsafe { self.first.add(place).read() })
    }

    fn check(&self, first: usize, count: usize) {
        let is_within = count <= self.span && first <= self.span - count;
        assert!(is_within, "{count} elements from place {first} on are not within {}", self.span);
    }
}

impl<T: Element> ElementsMut<'_, T> {
    /// # Safety
    /// As for [`Elements::new`], and no other code reads the written elements.
    pub(super) unsafe fn new(first: *mut T, span: usize) -> Self {
        // SAFETY: the caller vouches for the same.
        Self(unsafe { Elements::new(first, span) })
    }

    /// Writes adjacent elements.
    ///
    /// # Panics
    /// If there is a value for a place after the last element.
    pub fn set_row(&mut self, first: usize, values: impl Iterator<Item = T>) {
        for (place, value) in (first..).zip(values) {
            self.check(place, 1);
            // SAFETY: `new`.
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
        // SAFETY: the slice is borrowed as long, and nothing is written.
        unsafe { Self::new(slice.as_ptr().cast_mut(), slice.len()) }
    }
}

impl<'a, T: Element> From<&'a mut [T]> for ElementsMut<'a, T> {
    fn from(slice: &'a mut [T]) -> Self {
        // SAFETY: the slice is borrowed as long.
        unsafe { Self::new(slice.as_mut_ptr(), slice.len()) }
    }
}
