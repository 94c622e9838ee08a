//! Methods and operators by which a program might try to read device data on the host, which is not possible. Each has a
//! bound that no type satisfies, and rustc's error for that bound says what to call instead.

use std::ops::{Index, IndexMut};
use std::slice;

use super::slice::DeviceSlice;

/// A bound that no type satisfies.
#[diagnostic::on_unimplemented(
    message = "device data can't be read or written on the host",
    label = "these elements are in device memory",
    note = "copy them to the host: `cx.download(&data, &stream)?`, which is read when the copy is complete",
    note = "or launch a kernel that works on them: `stream.launch::<kernel>(data.len(), (&mut data,))?`"
)]
pub trait OnHost {}

#[doc(hidden)]
impl<T, I> Index<I> for DeviceSlice<T>
where
    I: OnHost,
{
    type Output = T;

    fn index(&self, _: I) -> &T {
        unreachable!("no index is `OnHost`")
    }
}

#[doc(hidden)]
impl<T, I> IndexMut<I> for DeviceSlice<T>
where
    I: OnHost,
{
    fn index_mut(&mut self, _: I) -> &mut T {
        unreachable!("no index is `OnHost`")
    }
}

// These methods are written without a macro, because rustc's error shows the method's code, and would show the macro's.
#[doc(hidden)]
#[allow(missing_docs, clippy::iter_not_returning_iterator, clippy::missing_panics_doc)]
impl<T> DeviceSlice<T> {
    pub fn iter(&self) -> slice::Iter<'_, T>
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }

    pub fn iter_mut(&mut self) -> slice::IterMut<'_, T>
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }

    pub fn as_slice(&self) -> &[T]
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }

    pub fn as_mut_slice(&mut self) -> &mut [T]
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }

    pub fn to_vec(&self) -> Vec<T>
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }

    pub fn first(&self) -> Option<&T>
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }

    pub fn last(&self) -> Option<&T>
    where
        Self: OnHost,
    {
        unreachable!("no device memory is `OnHost`")
    }
}
