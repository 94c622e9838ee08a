//! Tables of a library's functions.

/// Defines a table: a struct with a library's functions, loaded once in a process.
///
/// ```text
/// table! {
///     /// Its functions.
///     Cufft = ("cuFFT", "libcufft.so", &[12, 11], wheel(["nvidia-cufft-cu12", "nvidia-cufft"]));
///     create = "cufftCreate": fn(*mut c_int) -> c_int;
/// }
/// let cufft: &'static Cufft = Cufft::get()?;
/// ```
macro_rules! table {
    (
        $(#[$doc:meta])*
        $table:ident = ($($wanted:expr),*);
        $($field:ident = $symbol:literal: fn($($arg:ty),* $(,)?) -> $ret:ty;)*
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) struct $table {
            $(pub(super) $field: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl $table {
            /// The process's library, loaded on the first call.
            ///
            /// # Errors
            /// [`DriverError::Unavailable`](streamflow::driver::DriverError::Unavailable) if there is no library, or it lacks a
            /// function.
            pub(super) fn get() -> Result<&'static Self, streamflow::driver::DriverError> {
                use std::sync::OnceLock;
                static TABLE: OnceLock<Result<$table, streamflow::driver::DriverError>> = OnceLock::new();
                if TABLE.get().is_none() {
                    // The library is loaded without a lock, because loading runs other code and writes a log line. The
                    // first result is kept.
                    let _first = TABLE.set(Self::load());
                }
                let Some(found) = TABLE.get() else { unreachable!("it was set") };
                found.as_ref().map_err(Clone::clone)
            }

            fn load() -> Result<Self, streamflow::driver::DriverError> {
                use streamflow::library::SharedLibrary;
                // SAFETY: the library is NVIDIA's, and its initialisers have no preconditions.
                let library = unsafe { SharedLibrary::load($($wanted),*)? };
                // The library is never unloaded, so that its functions stay valid.
                let library: &'static SharedLibrary = Box::leak(Box::new(library));
                Ok(Self {
                    $($field: {
                        // SAFETY: this is the requested library, and it stays loaded. The signature is that of its header.
                        unsafe { library.function::<unsafe extern "C" fn($($arg),*) -> $ret>($symbol)? }
                    },)*
                })
            }
        }
    };
}
#[allow(unused_imports, reason = "each feature uses it")]
pub(super) use table;

/// Returns the wheel of a library for the CUDA version that the program has chosen, from the wheels for CUDA 12 and for CUDA 13.
/// Most names without a version belong to CUDA 13.
#[allow(dead_code, reason = "each feature uses it")]
pub(super) const fn wheel([of_12, of_13]: [&'static str; 2]) -> &'static str {
    if cfg!(all(any(feature = "cuda-12080", feature = "cuda-12090"), not(feature = "cuda-13000"))) {
        of_12
    } else {
        of_13
    }
}
