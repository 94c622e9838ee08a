//! The methods that Python calls, of classes that depend on each other: an event is recorded on a stream, and
//! `Stream.record` makes an event. The methods use files that use the class, so they are apart from the class.

mod stream;
mod tensor;
