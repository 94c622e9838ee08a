//! The methods that Python calls, of classes that depend on each other: an event is recorded on a stream, and `Stream.record`
//! makes an event. The methods are not in the files of their classes, because they use modules that use these classes.

mod stream;
mod tensor;
