//! The message types that come with the library.

use std::ops::{Deref, DerefMut};

use super::receive::received;
use super::{
    Description, Device, FromTensors, Host, Inlet, MemoryVisitor, Message, Metadata, Payload,
    Receive, ReceiveEach, Several, Sole, Tensors,
};
use crate::error::Result;
use crate::memory::{Buffer, Download, Element, Pinned, PitchedTensor, Shared, Tensor};
use crate::time::Timestamp;

/// The types whose [`HostData`] is a message: any owned type that several threads may use.
#[diagnostic::on_unimplemented(
    message = "`HostData<{Self}>` is not a message: messages move between threads, and `{Self}` does not",
    label = "several threads can't use this type, or it borrows",
    note = "for an `Rc` write `Arc`, for a `Cell` or `RefCell` a `Mutex`, for a `Box<dyn Any>` a `Box<dyn Any + Send + Sync>`"
)]
pub trait HostPayload: Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> HostPayload for T {}

/// A message of any value that is only for the host. Don't put device data into a `HostData`, because the data would travel
/// without its stream. A port or a field of a message does not compile if the type arguments in its declaration are device
/// data, also inside of an `Arc`, a tuple or another type of the standard library. Device data inside of your own types is
/// found only if these types are messages; the fields of other types are not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HostData<T>(pub T);

impl<T> Deref for HostData<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for HostData<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

macro_rules! payload {
    ($(#[$attribute:meta])* [$($generics:tt)*] $ty:ty, $place:ty, $downloads:literal, |$message:ident, $visit:ident| $show:expr, |$described:ident, $describe:ident| $description:expr $(, $tensor:ident)?) => {
        $(#[$attribute])*
        impl<$($generics)*> Message for $ty {
            type Place = $place;
            type Item = Self;
            type Owners = Sole;
            type __Own = Self;

            const __STREAMFLOW_HAS_DOWNLOADS: bool = $downloads;

            fn memory(&self, $visit: &mut MemoryVisitor<'_>) {
                let $message = self;
                $show
            }

            fn __streamflow_describe(&self, $describe: &mut Description) {
                let $described = self;
                $description
            }

            $(named!($tensor);)?

            #[inline]
            fn into_payload(self) -> Payload<Self> {
                Payload::One(self)
            }
        }

        received!([$($generics)*] $ty);
    };
}

/// Implements the methods of [`Message`] for the named tensors of a type that is a tensor.
macro_rules! named {
    (tensor) => {
        fn __streamflow_tensors<'a>(&'a self, to: &mut Tensors<'a>) {
            to.add(self);
        }

        fn __streamflow_from_tensors(from: &mut FromTensors<'_>) -> Result<Self> {
            from.take()
        }
    };
}

payload! {
    #[diagnostic::do_not_recommend] [T: Element] Tensor<T>, Device, false,
    |message, visit| visit.slice(message),
    |tensor, describe| describe.tensor("Tensor", tensor), tensor
}
payload! {
    [T: Element] PitchedTensor<T>, Device, false,
    |message, visit| visit.slice(message.padded()),
    |tensor, describe| describe.tensor("PitchedTensor", tensor), tensor
}
payload! {
    [T: Element] Buffer<T>, Device, false,
    |message, visit| visit.slice(message),
    |buffer, describe| describe.tensor("Buffer", buffer), tensor
}
payload! {
    [T: Element] Pinned<T>, Device, false,
    |message, visit| visit.pinned(message),
    |pinned, describe| describe.on_host(("Pinned", T::DTYPE), &[pinned.len()])
}
// A download is host data, although a queued copy may still write its memory, because a read of a download first waits for
// the copy or queries it.
payload! {
    [T: Element] Download<T>, Host, true,
    |message, visit| visit.download(message),
    |download, describe| describe.on_host(("Download", T::DTYPE), download.shape())
}

macro_rules! host_payloads {
    ($($ty:ty),*) => {
        // The impls are `do_not_recommend`, because rustc would list them when it reports a type that is no message.
        $(payload! {
            #[diagnostic::do_not_recommend] [] $ty, Host, false,
            |_message, _visit| (),
            |value, describe| describe.value(stringify!($ty), Some(format!("{value:?}")))
        })*
    };
}

host_payloads!((), bool, i8, u8, i16, u16, i32, u32, i64, u64, isize, usize, f32, f64, String);
host_payloads!(Timestamp, Metadata);

// This impl is written without the macro, because rustc shows the impl when its bounds don't hold, and would show the code of
// the macro instead.
impl<T: HostPayload> Message for HostData<T> {
    type Place = Host;
    type Item = Self;
    type Owners = Sole;
    type __Own = Self;

    fn memory(&self, _: &mut MemoryVisitor<'_>) {}

    fn into_payload(self) -> Payload<Self> {
        Payload::One(self)
    }
}

received!([T: HostPayload] HostData<T>);

impl<M: Message> Message for Vec<M> {
    type Place = M::Place;
    type Item = Self;
    type Owners = Sole;
    type __Own = Self;

    const __STREAMFLOW_HAS_DOWNLOADS: bool = M::__STREAMFLOW_HAS_DOWNLOADS;

    fn memory(&self, visit: &mut MemoryVisitor<'_>) {
        self.iter().for_each(|message| message.memory(visit));
    }

    fn __streamflow_describe(&self, describe: &mut Description) {
        for (index, message) in self.iter().enumerate() {
            describe.element(index, |describe| message.__streamflow_describe(describe));
        }
    }

    fn __streamflow_tensors<'a>(&'a self, to: &mut Tensors<'a>) {
        for (index, message) in self.iter().enumerate() {
            to.element(index, |to| message.__streamflow_tensors(to));
        }
    }

    fn into_payload(self) -> Payload<Self> {
        Payload::One(self)
    }
}

received!([M: Message] Vec<M>);

#[diagnostic::do_not_recommend]
impl<M: Message> Message for Shared<M> {
    type Place = M::Place;
    type Item = M;
    type Owners = Several;
    type __Own = Self;

    const __STREAMFLOW_HAS_DOWNLOADS: bool = M::__STREAMFLOW_HAS_DOWNLOADS;

    fn memory(&self, visit: &mut MemoryVisitor<'_>) {
        M::memory(self, visit);
    }

    fn __streamflow_describe(&self, describe: &mut Description) {
        M::__streamflow_describe(self, describe);
    }

    fn __streamflow_tensors<'a>(&'a self, to: &mut Tensors<'a>) {
        M::__streamflow_tensors(self, to);
    }

    fn __streamflow_from_tensors(from: &mut FromTensors<'_>) -> Result<Self> {
        M::__streamflow_from_tensors(from).map(Self::new)
    }

    fn into_payload(self) -> Payload<M> {
        Payload::Many(self)
    }
}
