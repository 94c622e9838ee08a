//! Tables of a library's functions.

/// Defines a table: a struct with a library's functions, loaded once in a process.
///
/// ```text
/// table! {
///     /// What it has.
///     Cufft = Wanted { name: "cuFFT", file: "libcufft.so", versions: &[12, 11], wheel: "nvidia-cufft" };
///     create = "cufftCreate": fn(*mut c_int) -> c_int;
/// }
/// let cufft: &'static Cufft = Cufft::get()?;
/// ```
macro_rules! table {
    (
        $(#[$doc:meta])*
        $table:ident = $wanted:expr;
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
            /// [`DriverError::Unavailable`](crate::driver::DriverError::Unavailable): there is none, or it lacks a function.
            pub(super) fn get() -> crate::driver::DriverResult<&'static Self> {
                use std::sync::OnceLock;
                static TABLE: OnceLock<crate::driver::DriverResult<$table>> = OnceLock::new();
                let found = TABLE.get().unwrap_or_else(|| {
                    let _later = crate::log::later();
                    TABLE.get_or_init(Self::load)
                });
                found.as_ref().map_err(Clone::clone)
            }

            fn load() -> crate::driver::DriverResult<Self> {
                use $crate::library::ffi::find;
                let wanted: find::Wanted = $wanted;
                let (library, path) = find::load(&wanted)?;
                Ok(Self {
                    $($field: {
                        // SAFETY: the library is the one that is wanted, and is never unloaded; the signature is that of
                        // its header.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) -> $ret>($symbol.as_bytes())
                        };
                        *symbol.map_err(|_| find::missing(&wanted, &path, $symbol))?
                    },)*
                })
            }
        }
    };
}
#[allow(unused_imports, reason = "each feature uses it")]
pub(super) use table;
