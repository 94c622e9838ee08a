//! Static facts about types: sizes, `Send` and `Sync`, and the calls that each state of a port allows.
#![allow(missing_docs, reason = "a test binary")]

use std::mem::size_of;

use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any};
use streamflow::__private::{HasMessage, Sends, StreamReady, Unchosen, Unreceived};
use streamflow::context::OnStream;
use streamflow::message::{Device, Host};
use streamflow::port::{In, On, Out, Pending, Received, Unset};
use streamflow::prelude::*;
use streamflow::time::Timestamp;

// The states of ports take no space, since only the compiler knows the state of an input.
type Reads = &'static Tensor<f32>;
type Optional = Option<Shared<Tensor<f32>>>;
assert_eq_size!(In<'static, Reads, Pending>, In<'static, Reads, Received>, [usize; 2]);
assert_eq_size!(In<'static, Optional, Pending>, In<'static, Optional, Received>, [usize; 2]);
assert_eq_size!(Out<'static, Tensor<f32>>, Out<'static, Tensor<f32>, Unset>, Out<'static, u64>,);
// An output has, beside its state, the end of a queue, the context, the acquisition time, and the sequence
// number.
assert_eq_size!(Out<'static, u64>, (usize, usize, Option<Timestamp>, Option<u64>));
// A chosen stream is kept until `emit`; the state takes no other space.
const _: () = assert!(
    size_of::<Out<'static, Tensor<f32>, On<'static>>>()
        == size_of::<Out<'static, Tensor<f32>, Unset>>() + size_of::<Stream<'static>>()
);
assert_eq_size!(Stream<'static>, usize);

// Laws 1 and 2: the message is received once, and its stream after it.
assert_impl_all!(Pending: Unreceived);
assert_not_impl_any!(Pending: HasMessage, StreamReady);
assert_impl_all!(Received: HasMessage, StreamReady);
assert_not_impl_any!(Received: Unreceived);

// Law 3: a tick's stream stays on its thread. An owned stream may move to another thread.
assert_not_impl_any!(Stream<'static>: Send, Sync);
assert_impl_all!(CudaStream: Send);
assert_not_impl_any!(CudaStream: Sync, Clone, Copy);
assert_impl_all!(OnStream<u8>: Send);
assert_not_impl_any!(OnStream<*mut u8>: Send);

// Law 4: device data needs a stream, and a stream is chosen once.
assert_impl_all!(Unset: Sends<Host>, Unchosen);
assert_not_impl_any!(Unset: Sends<Device>);
assert_impl_all!(Unset<Device>: Sends<Host>, Sends<Device>, Unchosen);
assert_impl_all!(On<'static>: Sends<Host>, Sends<Device>);
assert_not_impl_any!(On<'static>: Unchosen);
assert_not_impl_any!(In<'static, Reads>: Clone, Copy);
assert_not_impl_any!(Out<'static, Tensor<f32>>: Clone, Copy);

// Law 5: messages move between threads. A reader's message can be neither written nor copied by accident.
assert_impl_all!(Tensor<f32>: Message, Send, Sync);
assert_impl_all!(Download<f32>: Message, Send, Sync);
assert_impl_all!(Shared<Tensor<f32>>: Send, Sync, Clone, std::ops::Deref);
assert_not_impl_any!(Shared<Tensor<f32>>: std::ops::DerefMut);
assert_not_impl_any!(Tensor<f32>: Clone, Copy);
assert_not_impl_any!(Stream<'static>: Message);
assert_not_impl_any!(CudaStream: Message);

#[test]
fn ports_are_as_large_as_the_pointers_in_them() {
    let reads = size_of::<In<'static, Reads>>();
    assert_eq!((reads, size_of::<In<'static, u64>>()), (2 * size_of::<usize>(), reads));
}
