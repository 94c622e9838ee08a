//! The methods that Python calls, of classes that depend on each other: an event is recorded on a stream, and
//! `Stream.record` makes an event. The methods are in files apart from their classes, because they use modules that use
//! the class.

mod stream;
mod tensor;
