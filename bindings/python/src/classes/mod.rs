//! The methods that Python calls, of the classes whose methods use files that know the class: an event is recorded on a
//! stream, and `Stream.record` makes an event.

mod stream;
mod tensor;
