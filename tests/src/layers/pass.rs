//! How layers that are made by a macro hand a call on.

/// Makes a call of the driver below, in an `unsafe` block where its method is `unsafe`.
macro_rules! pass {
    ([unsafe] $($call:tt)*) => {
        // SAFETY: the caller keeps the same contract of the same method.
        unsafe { $($call)* }
    };
    ([] $($call:tt)*) => { $($call)* };
}
