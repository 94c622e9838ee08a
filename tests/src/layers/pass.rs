//! A macro by which layers pass a call to the driver below.

/// Calls the driver below, inside an `unsafe` block if the method is `unsafe`.
macro_rules! pass {
    ([unsafe] $($call:tt)*) => {
        // SAFETY: the caller keeps the same contract of the same method.
        unsafe { $($call)* }
    };
    ([] $($call:tt)*) => { $($call)* };
}
