//! The methods that Python calls, of classes that depend on each other: for example, `Stream.record` makes an event, and an
//! event is recorded on a stream. The methods use files that use the classes, so the classes are defined in other files.

mod stream;
mod tensor;
