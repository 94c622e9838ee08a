//! The macros of streamflow. Use them through the `streamflow` crate.
//!
//! Each macro is a pipeline: parse what the user wrote into a model, check the model, expand it. All
//! mistakes of one use are reported at once, and what can be defined in spite of them is, so that
//! no further errors follow from the first ones.

mod diagnostic;
mod kernel;

use proc_macro::TokenStream;

/// Makes a function a kernel, with a body for CUDA beside the one in Rust.
///
/// ```text
/// /// out[i] = exp(start + i * step)
/// #[kernel(unsafe cuda = "
///     unsigned long long i = thread_index();
///     if (i < out_len) out[i] = expf(start + step * i);
/// ")]
/// fn exp_linspace(out: &mut [f32], start: f32, step: f32) {
///     for (i, x) in out.iter_mut().enumerate() {
///         *x = (start + step * i as f32).exp();
///     }
/// }
/// // stream.launch::<exp_linspace>(image.len(), (&mut image, 0.0, step))?;
/// ```
///
/// The function stays as it is, to be called and tested. Beside it stands a type of the same name
/// that implements `streamflow::kernel::Kernel`, which is what `launch` takes. The host simulator
/// runs the Rust body, once per launch and whatever the grid.
///
/// # Arguments
/// Slices `&[T]` and `&mut [T]` of `Element` types, and scalars by value. A type parameter must be
/// bounded by `Element`; each instance is compiled on its own.
///
/// # The CUDA body
/// Statements of CUDA C++, given as a string literal, or as `include_str!("file.cu")`. They see
/// - a slice `a` as the pointer `a` (`const` for `&[T]`, always `__restrict__`) and its length
///   `a_len`, an `unsigned long long`,
/// - a scalar under its name, and a type parameter `T` as the type `T`,
/// - `thread_index()`, `thread_index_y()` and `thread_index_z()`, the thread's place in the whole
///   grid, and `thread_count()`, the grid's threads in x: all `unsigned long long`,
/// - `shared_bytes()`, the dynamic shared memory that the launch gave (`Grid::shared_bytes`), which a
///   body must not exceed,
/// - `half` as the type of `f16`, and all that NVRTC knows without headers.
///
/// Messages of the CUDA compiler have the file and the line of the literal.
///
/// `unsafe` is a promise: for every grid, with blocks of the size of `threads` if there is one, the body
/// touches only elements of its slices and shared memory that it has, reads none that another thread of the launch writes without synchronising, writes only to `&mut` slices,
/// and computes what the Rust body does.
///
/// # The block size
/// `threads(256)`, or `threads(16, 16)` in two or three dimensions: the only block size that the CUDA
/// body is written for, as one with `__shared__ float tile[256]` is. A launch whose grid names no block
/// size gets it, and one that names another fails.
///
/// # Requirements
/// `requires(a.len() == b.len(), out.len() * cols as usize == a.len())`: conditions over the
/// lengths and the scalars, in Rust. They are checked at every launch, which fails with all values
/// if one does not hold. They are ordinary Rust: a division by zero in them panics.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    guarded(item.clone(), || kernel::kernel(options.into(), item.into()).into())
}

/// A panic of ours becomes an error that says whose mistake it is, and the item stays.
fn guarded(item: TokenStream, expand: impl FnOnce() -> TokenStream) -> TokenStream {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(expand)) {
        Ok(expanded) => expanded,
        Err(_) => {
            let text = "this is a bug in streamflow: the macro panicked; please report it \
                        together with the code here";
            let mut tokens = item;
            let error = syn::Error::new(proc_macro2::Span::call_site(), text);
            tokens.extend(TokenStream::from(error.into_compile_error()));
            tokens
        }
    }
}
