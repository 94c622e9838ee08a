//! The macros of streamflow. Use them through the library `streamflow` of the package `streamflow-gpu`.
//!
//! Each macro is a pipeline: it parses the user's tokens, checks them, and expands them. All mistakes that the macro finds in one
//! use are reported at once. Items that can be defined in spite of these mistakes are defined, so that rustc reports no further
//! errors.
//!
//! If `STREAMFLOW_EXPAND=directory` is set, each use of a macro also writes its expansion, as formatted code, to a file in this
//! directory. The file is named after the source location and the expansion's first item: `main-42-Ramp.rs`. Cargo does not know
//! the variable, so change the source file first: `touch src/main.rs; STREAMFLOW_EXPAND=$PWD/expanded cargo check`.
//!
//! Paths in the expansions begin with `::streamflow`. A crate that knows streamflow by another name must have
//! `extern crate other_name as streamflow;` at its root. A crate with `#![no_implicit_prelude]` can't use
//! `#[operator]`, `#[derive(Message)]` and `graph!`: their expansions have `#[diagnostic::…]`, unknown to rustc without
//! the prelude.

mod diagnostic;
mod editor;
mod expression;
#[cfg(test)]
mod fuzz;
mod graph;
mod guard;
mod kernel;
mod kernel_arg;
mod message;
mod operator;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "a part of the library's own generator is used here")]
#[path = "../../crates/streamflow-driver/src/splitmix.rs"]
mod splitmix;
mod tokens;
mod written;

use proc_macro::TokenStream;

use self::guard::{guarded, guarded_value};

/// Makes a function a kernel, with a CUDA body and a Rust body.
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
/// The function does not change, so it can be called and tested. The macro adds a type of the same name that implements
/// `streamflow::kernel::Kernel`, for `launch`. The host simulator runs the Rust body once per launch, independent of
/// the grid, if the grid is large enough.
///
/// # Arguments
/// - Slices `&[T]` and `&mut [T]` of `Element` types. A launch passes tensors, buffers and parts of them.
/// - Strided views `&Strided<T, N>` and `&mut Strided<T, N>` of `N` dimensions, 1 to 8, written as a number
///   (`streamflow::kernel::Strided`). A launch passes `tensor.view()` and `tensor.view_mut()`, transposed, as a part, or of
///   a `PitchedTensor`. A view of another number of dimensions is refused.
/// - Scalars by value: the element types, and `usize`.
///
/// A type parameter must have the bound `Element`, and each instance is compiled separately. Launches may have any instance.
/// `testing::kernels()` compiles the instances that the program launches, and those in the option `instances(f32, f64)`. For a
/// kernel with two type parameters, the option is written `instances((u8, f32), (f32, u8))`.
///
/// # The CUDA body
/// Statements of CUDA C++, as a string literal or `include_str!("file.cu")`. They can use
/// - a slice `a` as the pointer `a` (`const` for `&[T]`, always `__restrict__`) and its length
///   `a_len`, an `unsigned long long`,
/// - a view `a` as `a(y, x)`, with an index for each dimension, as `a[i]`, by the number of the element in row-major
///   order, as `a.shape(0)`, `a.stride(0)` and `a.size()`, the number of elements, and as the pointer `a.data` to the
///   first element. The kernel's parameters for a view are the pointer, the shape and the strides, in elements,
/// - a scalar under its name, and a type parameter `T` as the type `T`,
/// - `thread_index()`, `thread_index_y()` and `thread_index_z()`, the thread's place in the whole
///   grid, and `thread_count()`, the grid's threads in x: all `unsigned long long`,
/// - `shared_bytes()`, the size of the launch's dynamic shared memory (`Grid::shared_bytes`), which a
///   body must not exceed,
/// - `half` as the type of `f16`, `nv_bfloat16` as that of `bf16`, and `bool8` as that of `Bool8`, which becomes a
///   `bool` by itself,
/// - `complex<float>` and `complex<double>` as the types of `Complex<f32>` and `Complex<f64>`: `z.re` and `z.im`,
///   `+ - * /` and `== !=` with each other and with real numbers, `real`, `imag`, `conj`, `norm_sqr`, `abs`, `arg`,
///   `polar(size, angle)` and `exp`,
/// - and every name that NVRTC defines without headers.
///
/// Messages of the CUDA compiler name the file and the line of the literal.
///
/// `unsafe` is a promise. For every grid, with the block size of `threads` if there is one, the body
/// - accesses only elements of its slices and views, and only shared memory that the launch has,
/// - does not read an element that another thread of the launch writes, unless the two threads synchronise,
/// - writes only to `&mut` slices and views,
/// - and computes the same as the Rust body.
///
/// Two functions of `streamflow::testing` test CUDA bodies: `kernels()` compiles those of all kernels of the program,
/// with NVRTC and without a GPU, and `compare_bodies::<exp_linspace>(…)` compares both bodies on random input, on a
/// GPU.
///
/// # The block size
/// `threads(256)`, or `threads(16, 16)` in two or three dimensions, is the only block size that the CUDA body supports,
/// for example because of `__shared__ float tile[256]`. A launch without a block size in its grid uses this one, and a
/// launch with another block size fails.
///
/// # The grid
/// Most CUDA bodies write one element per thread. So a launch fails, on a GPU and on the simulator, if its grid is for fewer
/// elements than the kernel's longest `&mut` slice or view has, since a GPU would not write the last elements. A grid of 100
/// elements is for 100 elements, and `Grid::blocks(4).threads(32)` is for 128. Two options permit smaller grids:
/// - `grid_stride`: a launch writes every element with any grid of at least one thread, since the body has a *grid-stride
///   loop*, `for (auto i = thread_index(); i < out_len; i += thread_count())`, or another loop over the elements,
/// - `partial`: the body does not write every element, or each thread writes several without a loop over all.
///
/// The size in x comes first: the grid of an image is `[cols, rows]`, with `thread_index()` as the column and `thread_index_y()`
/// as the row. If the body contains `thread_index_y()`, and the kernel has neither of the two options, a launch with a grid of
/// one number, `image.len()`, fails, since `thread_index_y()` would be 0 in every thread. In the same
/// way, a launch without a size in z fails if the body contains `thread_index_z()`. A size of 1 counts as a size, and so does a
/// block with several threads in that direction.
///
/// A launch of any kernel with several threads in y or z fails if the body does not read the thread's place in that
/// direction: for example `[cols, rows]` for a body with `thread_index()` alone. All rows would do the same work, and a
/// GPU would write the first `cols` elements of an image. The text of the body decides: `thread_index_y()`,
/// `threadIdx.y` and `blockIdx.y` read it. A body with `asm`, `#include`, `##` or a whole `threadIdx` may read all, so
/// its launches never fail for this reason. Functions of a module, launched with `launch_function`, are not checked.
///
/// Threads that the body can't tell apart count as one thread. For example, a body with `threadIdx.x` and without `blockIdx.x`
/// writes only the elements of one block, however many blocks the grid has. A body that declares `extern __shared__` and does not
/// read `shared_bytes()` needs a grid with `.shared_bytes(…)`. The text of the body decides in these two rules as well. A body
/// that uses a name beginning with `atomic` counts as one that can tell all threads apart.
///
/// Only the number of elements is compared, and not the shape of the grid. A grid `[rows, cols]` in place of `[cols, rows]` has
/// the same number of elements, so the launch is accepted, and a GPU does not write all elements. The simulator can't show this
/// mistake, since its Rust body has no threads. `compare_bodies` finds it on a GPU, if the numbers of rows and columns differ.
///
/// # Requirements
/// `requires(a.len() == b.len(), out.len() * cols as usize == a.len())` declares Rust conditions over the lengths and the
/// scalars. Every launch checks them. If one does not hold, the launch fails with an error that lists all values. A division by
/// zero in a condition panics, as in other Rust code. A `?` on an error in a condition fails the launch, and a `return Ok(…)`
/// gives the value of that condition alone.
///
/// # Compiled code
/// The body for a GPU may be PTX text, a CUBIN or a fatbin that another compiler has made, as nvcc or cuda-oxide:
///
/// ```ignore
/// /// y = a * x
/// #[kernel(unsafe image = "scale.ptx", entry = "scale", requires(y.len() == x.len()))]
/// fn scale(y: &mut [f32], x: &[f32], a: f32) {
///     for (y, x) in y.iter_mut().zip(x) {
///         *y = a * *x;
///     }
/// }
/// // stream.launch::<scale>(y.len(), (&mut y, &x, 2.0))?;
/// ```
///
/// - `unsafe image = "scale.ptx"`: a path, as that of `include_bytes!`. `concat!(env!("OUT_DIR"), "/scale.ptx")` is the path of a
///   file that a build script makes. Any other expression is the image itself, a `&'static [u8]`.
/// - `entry = "scale"`: the name of the function in the image; by default that of the Rust function. C++ mangles names, unless
///   the function is `extern "C"`.
/// - The parameters are those of the arguments, in their order: of a slice its address and its number of elements, each of 8
///   bytes; of a view its address, its shape and its strides, in elements, each number of 8 bytes; a value by its bytes.
/// - `slices = pointers`: the parameter of a slice is its address alone. If the function takes a length, it is one more argument
///   of the Rust function: `requires(n as usize == y.len())`.
/// - A function that ends with `;` has no Rust body. A launch on the simulator is an error.
///
/// The options `requires`, `threads`, `grid_stride` and `partial` are those of kernels with two bodies. The text of the image
/// does not say which directions of the grid it reads. Type parameters are refused.
///
/// `unsafe` is the promise of [the CUDA body](#the-cuda-body), and that the image is complete, that the function has these
/// parameters, and that it keeps nothing in variables of the image, as `__device__ int count`, from one launch to the next.
///
/// The first launch on a device loads the image, once for all kernels that have it. An image that has no such function, a
/// function with parameters of other sizes, or an image for another device is an error with the kernel, the file, and what the
/// image has. All but the last are also errors on the simulator, and of `testing::kernels()`. The parameters in a fatbin are not
/// checked.
///
/// # One body
/// `#[kernel(map)]` makes a kernel of one Rust body for both platforms, without `unsafe`. The function computes one element:
///
/// ```ignore
/// /// out = factor * a, for each element
/// #[kernel(map)]
/// fn scale(out: &mut f32, a: &f32, factor: f32) {
///     *out = factor * *a;
/// }
/// // stream.map::<scale>((&mut out, &image, 2.0))?;
/// ```
///
/// - `out: &mut T` is an element that is written, and perhaps read before; `a: &T` one that is read: at most five in all. `T` is
///   an integer type, `f32` or `f64`. Such an argument is written `*out` and `*a` in the body.
/// - `table: &[T]` is a table: all elements of a tensor, a buffer or a part of one, of any length, which has no part in the shape of
///   the launch. The body has `table[i]` and `table.len()`.
/// - `factor: T` is a value: a number, a `bool`, an array, or a struct with [`#[derive(KernelArg)]`](derive@KernelArg).
/// - `#[at] i: usize` is the number of the element in row-major order, and `#[at] [y, x]: [usize; 2]` its coordinates, of outputs
///   with as many dimensions, 1 to 4. A launch does not pass these.
///
/// `CudaStream::map` launches it for all elements of the outputs. The library makes the grid, so that no thread leaves the
/// elements; inputs broadcast.
///
/// The function may have type parameters, with a bound of `streamflow::kernel`: `Number`, `Signed`, `Integer` or `Float`; and const
/// parameters. A launch names the types or has them inferred: `stream.map::<scale<f32>>` or `stream.map::<scale<_>>`. In such a
/// body a literal of a type parameter is a cast, as `2.0 as T`.
///
/// The body has `let`, assignments, `if`, `match` over numbers, `for` over ranges, `while`, `loop`, labels, Rust's operators, `as`,
/// constants, arrays and their elements, fields, calls of functions with [`#[kernel_fn]`](macro@kernel_fn), and the methods of
/// numbers: `abs`, `acos`, `asin`, `atan`, `atan2`, `ceil`, `clamp`, `copysign`, `cos`, `cosh`, `count_ones`, `exp`, `exp2`,
/// `floor`, `fract`, `hypot`, `is_finite`, `is_infinite`, `is_nan`, `leading_zeros`, `ln`, `log10`, `log2`, `max`, `min`,
/// `mul_add`, `pow`, `powf`, `powi`, `recip`, `rem_euclid`, `round`, `saturating_add`, `saturating_sub`, `signum`, `sin`,
/// `sinh`, `sqrt`, `tan`, `tanh`, `to_bits`, `to_degrees`, `to_radians`, `trailing_zeros`, `trunc`, `wrapping_add`,
/// `wrapping_mul` and `wrapping_sub`. Anything else is an error at its place, with what to write.
///
/// `#[kernel(stencil(reach = [1, 1], border = clamp))]` makes a *stencil*, a kernel that reads the elements around its own:
///
/// ```ignore
/// /// The mean of five neighbours.
/// #[kernel(stencil(reach = [1, 1], border = clamp))]
/// fn blur(out: &mut f32, image: Window<f32>) {
///     *out = (image.at(0, 0) + image.at(-1, 0) + image.at(1, 0) + image.at(0, -1) + image.at(0, 1)) / 5.0;
/// }
/// // stream.map::<blur>((&mut out, &image))?;
/// ```
///
/// - `image: Window<T>` is an input whose neighbours the body reads, `streamflow::kernel::Window`. It has the output's shape. There
///   may be several, beside the arguments above.
/// - `reach` has the largest distance that `at` reads, for each of 1 to 4 dimensions. Each distance in `at` is a number, as `-1`, the
///   variable of a loop between numbers, as `for d in -1..=1`, or a sum or product of these, so that the macro compares it with `reach`.
/// - `border` is what is beyond the edge: `clamp`, the nearest element; `zero`, a value of 0; `wrap`, the elements from the other end
///   on; `mirror`, the elements back from the edge, without the last one twice (NumPy's `reflect`).
///
/// The blocks that lie within the edges by `reach` run a code without tests for them.
///
/// Both platforms compute the same. Types are those that rustc infers. Overflow wraps, also in a debug build. An integer divided
/// by 0 is 0, and a later call returns an error with the file and the line. So is an element of a table or an array at an index out
/// of range; an assignment to it writes nothing. A number as an index of a constant array is checked by the compiler. `as`
/// stays within the type, as in Rust. A multiplication and an addition are never fused; `mul_add` is one operation. `+ - * / %
/// sqrt mul_add` and `as` are equal bit by bit. `exp`, `sin` and their like differ by the errors that CUDA's and the host's
/// mathematics document.
///
/// `#[kernel(reduce(identity = 0.0))]` makes a reduction of a function that combines two values of one type, for
/// `CudaStream::reduce` and `CudaStream::reduce_axis`. `identity` is the value without elements, which changes no other when it is
/// combined. The body is that of a [`#[kernel_fn]`](macro@kernel_fn). With `map = square`, each element is first passed to such a
/// function of one value, so that the elements may have another type:
///
/// ```ignore
/// #[kernel_fn]
/// fn square(x: u8) -> f32 {
///     x as f32 * x as f32
/// }
///
/// #[kernel(reduce(identity = 0.0, map = square))]
/// fn energy(a: f32, b: f32) -> f32 {
///     a + b
/// }
/// // stream.reduce::<energy>(&mut out, &image)?;
/// ```
///
/// The values are combined in a fixed order, but not in that of the elements. A function whose result depends on the order, and
/// for which `f(f(a, b), c)` is `f(a, f(b, c))`, is a scan: `#[kernel(scan(identity = 0.0))]`, with the same options, for
/// `CudaStream::scan` and `CudaStream::scan_axis`. A reduction is a scan, too.
///
/// # The expansion
/// If `STREAMFLOW_EXPAND` is the path of a folder, as `$PWD/expanded`, each use writes its expansion, as formatted code, to a
/// file in that folder, named after the use's location: `main-42-Ramp.rs`. Cargo does not know the variable, so change the source
/// file first: `touch src/main.rs; STREAMFLOW_EXPAND=$PWD/expanded cargo check`.
#[proc_macro_attribute]
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    guarded(item.clone(), || kernel::kernel(options.into(), item.into()).into())
}

/// Makes a function that kernels with one body call: a part that several kernels share.
///
/// ```ignore
/// /// The value at `t` between `a` at 0 and `b` at 1.
/// #[kernel_fn]
/// fn mix(a: f32, b: f32, t: f32) -> f32 {
///     a + (b - a) * t
/// }
///
/// #[kernel(map)]
/// fn blend(out: &mut f32, a: &f32, b: &f32, t: f32) {
///     *out = mix(*a, *b, t);
/// }
/// ```
///
/// The arguments are values: numbers, `bool`s, arrays, or structs with [`#[derive(KernelArg)]`](derive@KernelArg). There is one
/// result. Type parameters and const parameters are those of [`#[kernel(map)]`](macro@kernel), as in `fn mix<T: Float>`. The
/// body is that of [`#[kernel(map)]`](macro@kernel), with the same meaning on both platforms, and may call other such
/// functions, but not itself. The host can call the function, too. A division of integers by 0 is reported with the line of the
/// call in the kernel.
#[proc_macro_attribute]
pub fn kernel_fn(options: TokenStream, item: TokenStream) -> TokenStream {
    guarded(item.clone(), || kernel::kernel_fn(options.into(), item.into()).into())
}

/// An expression of tensors and numbers, which [`CudaStream::evaluate`](../streamflow/struct.CudaStream.html#method.evaluate)
/// computes for each element in one launch, after its reductions.
///
/// A variable, or a field as `self.gain`, is an *operand*: a `Tensor`, a `Buffer` or a `TensorView` stands for its element at this
/// place, and a number for itself. At most six are different, four of them in memory. The rest is as in the body of a kernel with
/// one body: literals, operators, casts with `as`, `if`, blocks, the methods of numbers, and calls of functions with
/// [`#[kernel_fn]`](macro@kernel_fn). rustc infers all types from the operands, so a `u8` and an `f32` meet by a cast, and the
/// output has the expression's type. Two sequences are there, too: `iota()` is the number of the element as a `usize`, and
/// `linspace(start, stop, count)` has `start` at element 0, and `stop` at element `count - 1`.
///
/// # Reductions
/// `image.mean(axis = 1)` is an operand, too: the mean of each row. So are `sum`, `min`, `max`, `arg_min` and `arg_max`, with the
/// types and meanings of `streamflow::kernel::reductions`, and `reduce::<energy>(axis = 1)` with a function of one's own. As in
/// NumPy, the axis is left out of the result's shape, or has the length 1 there with `keepdims = true`; without an axis all
/// elements are reduced to one. In a reduction of an expression, as `(image * weights).sum(axis = 0)`, the operands in parentheses
/// broadcast to one shape, whose elements `iota()` counts. `((image > 0.5) as u32).sum()` counts elements. Reductions that are
/// written in the same way are made once, also where no branch of an `if` uses them.
///
/// Each reduction is a launch before that of the expression, or two for many elements, and so is each expression that is reduced.
/// Their memory is the platform's, for as long as the work takes.
///
/// ```ignore
/// use streamflow::prelude::*;
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
/// let image = platform.upload(&[1.0_f32, -2.0, 3.0, -4.0])?.reshape([2, 2])?;
/// let weights = platform.upload(&[10.0_f32, 100.0])?;
/// let mut out = platform.tensor([2, 2], &stream)?;
/// stream.evaluate(&mut out, expr!(if image > 0.0 { image * weights } else { 0.5 }))?;
/// assert_eq!(stream.download_blocking::<f32>(&out)?, [10.0, 0.5, 30.0, 0.5]);
/// stream.evaluate(&mut out, expr!(linspace(0.0, 3.0, 4) + (iota() % 2) as f32))?;
/// assert_eq!(stream.download_blocking::<f32>(&out)?, [0.0, 2.0, 2.0, 4.0]);
/// stream.evaluate(&mut out, expr!(image - image.mean(axis = 1, keepdims = true)))?;
/// assert_eq!(stream.download_blocking::<f32>(&out)?, [1.5, -1.5, 3.5, -3.5]);
/// stream.evaluate(&mut out, expr!(image / (image * weights).abs().max()))?;
/// assert_eq!(stream.download_blocking::<f32>(&out)?, [0.0025, -0.005, 0.0075, -0.01]);
/// # Ok(())
/// # }
/// ```
#[proc_macro]
pub fn expr(input: TokenStream) -> TokenStream {
    guarded_value(|| kernel::expr(input.into()).into())
}

/// Makes a struct an argument of kernels with one body, by value.
///
/// ```ignore
/// #[derive(Clone, Copy, KernelArg)]
/// struct Lens {
///     focus: f32,
///     center: [f32; 2],
/// }
///
/// #[kernel(map)]
/// fn project(out: &mut f32, depth: &f32, lens: Lens) {
///     *out = lens.focus / *depth + lens.center[0];
/// }
/// ```
///
/// The fields are numbers, `bool`s, arrays of these, and other such structs. A body reads them by their names, and assigns to those
/// of a variable. A struct has any layout in Rust: a launch passes its fields with the layout of C, at most 27 times 16 bytes less
/// those that other arguments take, and the code in CUDA checks the size and the place of each.
#[proc_macro_derive(KernelArg)]
pub fn kernel_arg(item: TokenStream) -> TokenStream {
    guarded(TokenStream::new(), || kernel_arg::kernel_arg(item.into()).into())
}

/// Declares a graph: its parameters, stream pools, operators and edges. This one, with its operators, is the example
/// `cuda_stream_pool`, in `examples/src/seed_graph.rs`; `streamflow::guide::tutorial` has a whole program to begin with.
///
/// ```text
/// graph! {
///     /// Two sources, multiplied and summed by row.
///     pub struct CudaStreamApp(rows: usize, cols: u32, count: u64, report: Report<f32>) {
///         const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);
///
///         #[streams(STREAMS)] #[when(count(count))]
///         let source1: Source = Source::new(rows, cols);
///         #[streams(STREAMS)] #[when(count(count))]
///         let source2: Source = Source::new(rows, cols);
///         #[streams(STREAMS)]
///         let combine_and_sum: CombineAndSum = CombineAndSum::new();
///         #[streams(STREAMS)] #[when(stream_done(tensor))]
///         let rx: DeliverTensor = DeliverTensor::new(report);
///
///         source1.image >> combine_and_sum.in1;
///         source2.image >> combine_and_sum.in2;
///         combine_and_sum.out >> rx.tensor;
///     }
/// }
/// // CudaStreamApp::new(&platform, 2160, 3840, 10, report)?.run()?;
/// ```
///
/// The macro defines a struct with
/// - `new(platform: &Platform, parameters) -> Result<Self, Error>`,
/// - `run(&mut self) -> Result<Report, Error>`, `run_for(limit)`, `tick()` and `end_run()`; the trait `streamflow::Spawn`
///   adds `spawn(self)`, and `streamflow::Schedule` adds `workers(n)`, which sets the threads of all
///   of them but `tick`. In another run, the operators keep their state, and ticks and counts begin at 0 again. The page
///   `streamflow::guide::running_a_graph` compares these methods,
/// - `params(&self)`, which sets the parameters of the nodes from any thread:
///   `graph.params().cfar().set_threshold(0.5)?`. The result is a `NameHandle`, with a method for each node.
///   `load_params(path)` and `load_params_str(name, text)` set all of them from TOML. The documentation of
///   `streamflow::param::Param` has a whole program,
/// - for each node `name(&self) -> &Operator` and `name_mut(&mut self) -> &mut Operator`,
/// - `diagram()`, the declaration as a `streamflow::graph::Diagram`, which draws it for Mermaid and for Graphviz.
///
/// The struct implements `streamflow::graph::Graph`.
///
/// # Grammar
/// ```text
/// graph     = attributes visibility "struct" Name [ generics ] [ "(" parameter, … ")" ] [ where ] "{" statement* "}"
/// parameter = name ":" Type
/// statement = pool | node | nodes | edge | edges | port
/// pool      = "const" NAME ":" ( "CudaStreamPool" | "CudaGreenContextPool" ) "=" expression ";"
///           | "let" NAME [ ":" ( "CudaStreamPool" | "CudaGreenContextPool" ) ] "=" expression ";"
/// node      = node-attribute* "let" name ":" Operator "=" expression ";"
/// nodes     = node-attribute* "let" name ":" "[" Operator ";" length "]" "=" "|" i "|" expression ";"
/// edge      = edge-attribute* source ">>" target ";"
/// edges     = "for" i "in" expression ".." expression "{" edge* "}"
/// source    = name [ index ] "." output | input
/// target    = end | "(" end, … ")" | "_"
/// end       = name [ index ] "." input | output
/// index     = "[" ( number | CONSTANT | i | index ( "+" | "-" ) number ) "]"
/// port      = doc* ( "input" [ "(" ( "many" | "optional" ), … ")" ] | "output" ) name ":" Type ";"
///
/// node-attribute = doc | "#[streams(" ( NAME | "none" ) ")]" | "#[worker(" name ")]" | "#[when(" condition, … ")]"
///                | "#[on_failure(" ( "stop" | "skip" | "restart(" expression "," duration ")" ) ")]"
/// condition      = "any(" condition, … ")" | "count(" expression ")" | "condition(" expression ")"
///                | "periodic(" duration [ ", skip" | ", catch_up(" expression ")" | ", spaced" ] ")"
///                | "boolean(" expression ")" | "asynchronous(" expression ")"
///                | "message_available(" input "," expression ")" | "expiring(" input "," duration ")"
///                | "multi_message([" input, … "]," ( "sum" | "each" ) "(" expression, … "))"
///                | "same_sequence" [ "([" input, … "])" ]
///                | "room(" output ")" | "stream_done(" input ")" | "host_done(" input ")"
///                | "memory_available(" expression "," ( "bytes" | "blocks" ) "(" expression "))"
/// duration       = 10ns | 10us | 10ms | 10s | expression
/// edge-attribute = doc | "#[copy]" | "#[transfer]" | "#[capacity(" expression ")]"
///                | "#[policy(" policy ")]" | "#[feedback(initial =" expression ")]"
/// policy         = "pop" | "reject" | "fault"
/// ```
/// The graph may have rustc's attributes of a struct, as `#[derive(Debug)]`, those of another crate, written with their paths,
/// `#[implements(Interface)]` for a graph with ports, and `#[green_contexts(NAME)]`: nodes without `#[streams]` use the default
/// context of this green context pool (Holoscan's `add_default_green_context_pool`). `#[replay]` turns a tick whose calls repeat into one launch of a CUDA graph:
/// `streamflow::guide::replay`. Statements may be in any order: the edges determine which node runs first.
///
/// A graph may have type parameters and constants: `pub struct Fuse<S: FrameSource, const N: usize>(source: New<S>)`. A type
/// parameter that is the type of a node is bounded by an interface, declared by
/// [`operator_interface!`](macro@operator_interface). Edges are checked against its ports where the graph is declared. A check that is
/// a constant in the table below may depend on a parameter: then it is made where the graph is a node of a graph without parameters.
/// For a graph that a program or a `GraphHarness` makes directly, it is made when the program is built.
///
/// # Statements
/// - `const NAME: CudaStreamPool = …;` describes a stream pool that `new` makes.
/// - `const NAME: CudaGreenContextPool = …;` describes a partition of a device's multiprocessors, for stream pools that
///   are `.on(NAME.context(0))`.
/// - `let NAME = CudaStreamPool::new()…;` describes a stream pool by values of the run, and so does
///   `let NAME = CudaGreenContextPool::new()…;` for green contexts. The expression can use the parameters, the pools
///   above it, `platform` and `?` on any error. Use it for values chosen at deployment: devices, sizes, partitions,
///   priorities, and, with `.use_default_stream(flag)`, whether the operators work on the default stream. `new` checks
///   such a pool, with the same error texts as for a `const`. An expression that does not begin with the name of the
///   type needs the type: `let NAME: CudaStreamPool = from_file(path)?;`.
/// - `let name: Operator = …;` is a node. The operator's type is required. The expression can use the parameters,
///   `platform` and `?` on any error, as in `Blend::new(0.25, platform.allocator("BLENDED", device(0), LIMITS)?)`. The documentation
///   of `streamflow::memory::Allocator` has the whole program.
/// - `a.out >> b.in;` is an edge, and `a.out >> (b.in, c.in);` are two. An input has one producer. An `#[input(many)]`
///   has any number of producers, and an `#[input(size = n)]` has `n`; their messages are in the order of the edges. An
///   output may have any number of consumers. Several consumers share one message, so each reads it (`&T`) or shares it
///   (`Shared<T>`).
/// - `a.out >> _;` discards the messages of an output.
/// - `input name: Type;` and `output name: Type;` are ports of the graph. A graph with ports is a node of other graphs:
///   `let left: Preprocess = Preprocess::new(…);`. Its `new` takes no platform, and it has no `run`:
///   `streamflow::guide::graphs_in_graphs`.
/// - `input names: [Type; N];` and `output names: [Type; N];` are arrays of ports. An edge names an element, as `names[0]` inside and
///   `left.names[0]` outside, or `names[i]` in a loop: the same page.
/// - `let cameras: [Camera; 4] = |i| Camera::new(i);` is an array of nodes, and `for i in 0..4 { cameras[i].frame >> …; }` are edges of
///   its elements: the same page.
///
/// # Attributes of nodes
/// - `#[streams(POOL)]`: the node's streams are from this pool, and its device is that of the pool. A node without
///   `#[streams]` has its own pool, on device 0 or on the default context of `#[green_contexts]`, without a maximum.
/// - `#[streams(none)]`: the node is an adopting node: it allocates no streams; it adopts the stream of its message.
/// - `#[worker(disk)]`: the node runs on the worker thread of this name, and on no other thread; several nodes may name one
///   worker. A slow node then holds nobody up:
///   ```text
///   #[worker(disk)]
///   let writer: Writer = Writer::new(folder);
///
///   #[policy(pop)]    // the writer gets the newest frame when it is ready for one, and older ones are dropped
///   frames.image >> writer.image;
///   ```
///   A graph with such a node runs event-based, with one worker beside the named ones unless `graph.workers(…)` says
///   otherwise; `graph.workers(Workers::none())` runs all on one thread. A node without `#[worker]` runs on any
///   worker that has no name.
/// - `#[when(count(n))]`: the node runs `n` times, a `u64`. A source without it runs until it calls `cx.finish()`.
/// - `#[when(stream_done(input))]`: the node runs when the device has completed the work of all messages that it will
///   receive from this input. Until then, other nodes run.
/// - Other conditions: the table in `streamflow::guide::conditions`. Their expressions can use the parameters, `platform`
///   and `?` on any error, and are evaluated before those of the nodes.
///
/// - `#[on_failure(stop)]`, the default: if a tick of the node fails, or panics, the run ends with the error.
/// - `#[on_failure(skip)]`: the tick's messages are gone, also those of required inputs that it had not received yet.
///   The failed tick sends nothing but counts as a tick, and the node goes on. An operator that joins the node's output
///   with another branch of the same source needs `#[when(same_sequence)]`: `streamflow::guide::failures`.
/// - `#[on_failure(restart(n, back_off))]`: a fresh operator takes the place of the one that failed. A tick that
///   received no message keeps them in their queues, unless `same_sequence` can't compare them; otherwise they are gone, as with
///   `skip`. The failed operator is stopped at once; an error of its `stop` is logged. When the node has the messages for its
///   next tick, and `back_off` (`10ms`, or a `Duration`) has passed by the platform's clock, the operator's expression is
///   evaluated again, and its `start` is called. The queues, the node's streams, and the parameters that were set are kept.
///   `n`, a `u32`, is how many restarts there may be in a row, each after twice the wait of the one before, up to 64 times
///   `back_off`. A restart that fails counts as one more failure. A tick that succeeds ends the row. After more failures in a
///   row than `n` the run ends with the error of the last. The graph's parameters that the expression names must be `Clone`,
///   `Send` and `'static`.
///
/// The first `start` of a run is not repeated, whatever the policy. After an error that makes the device unusable, the
/// run ends. The failures that a run survives are logged at level `WARN` and counted in its report.
///
/// A node runs when every required input has a message and every output has room, and all conditions hold that
/// `#[when(…)]` adds.
///
/// # Attributes of edges
/// - `#[copy]`: the input gets its own copy, so that it may take the message although other inputs read it.
/// - `#[transfer]`: the input is on another device, and gets a copy there. The copy is a peer copy on the edge's own
///   stream, after the last write on the producer's device and before the consumer's work. An edge of device data needs
///   this attribute between two devices, and must not have it on one device. Host data never needs it. Where a device is
///   a value of the run, the edge may have it on one device as well, and the copy stays there: the same graph is deployed
///   on one device or on several.
/// - `#[capacity(n)]`: the maximum number of messages that wait on the edge, a `usize`; 1 by default.
/// - `#[policy(pop)]`, `#[policy(reject)]`, `#[policy(fault)]`: the rule for a message that finds no room. The oldest
///   message is dropped, or the new one is, or the producer's tick fails. By default the producer does not run before
///   there is room.
/// - `#[feedback(initial = value)]`: the messages are for the next tick, and `value` is the message of the first tick.
///   Only such an edge may close a cycle. The messages that wait there at the end of a run are state, like the
///   operators' fields: another run begins with them. The expression can use the parameters, `platform` and `?`
///   on any error, so that it can make device data:
///   ```text
///   #[feedback(initial = zeros(platform, len)?)]    // zeros(…) -> Result<Tensor<f32>>
///   sum.sum >> sum.before;
///   ```
///   The whole program is in the documentation of the module `streamflow::graph`.
///
/// # Expressions
/// Each expression is evaluated by itself, as the body of a closure that returns a `Result` of its value: `?` takes any
/// error, and ends `new` with it; a `return Ok(value)` gives the value; `break`, `continue` and labels reach nothing
/// outside. This holds in all attributes and statements but those of a `const`, since nothing leaves a constant. An
/// expression has no attribute before it.
///
/// # What is checked, and when
/// | Mistake | Found by | Reported at |
/// |---|---|---|
/// | a statement that can't be read; an unknown attribute, condition or pool | macro | the statement, or its part |
/// | a `const` pool that names a parameter or a pool of a `let`; a pool that names one below it | macro | the name |
/// | a pool that nothing uses | macro, if it finds no other mistake | the pool's name |
/// | two nodes or pools with one name | macro | the later one |
/// | a node with the name of a pool or of another item of the graph's struct | macro | the node's name |
/// | a graph with the name of one of its operators | macro | the node's type |
/// | a node's type that is never an operator, as a reference or a tuple, or that has a `_` | macro | the node's type |
/// | an edge to a parameter of the graph | macro | the parameter's name |
/// | the same edge twice | macro | the later edge |
/// | a discard of an output that has a consumer, or is discarded already | macro | the discard |
/// | `#[transfer]` to an adopting node | macro | the edge |
/// | a literal `#[capacity(0)]` | macro | the number |
/// | a condition twice, with arguments of another form, or with a literal that means nothing, as `count(0)` or `periodic(0ms)` | macro | the condition, or the number |
/// | a condition on more messages than the edges hold, if all numbers are literals | macro | the number |
/// | a cycle without `#[feedback]` | macro | the edge that closes it, with the path |
/// | an unknown node | name resolution; macro, if it finds another mistake | the name |
/// | an unknown operator or value | name resolution | the name |
/// | an unknown port, an operator's wrong arguments | type check | the port's name, the call |
/// | a type that is not an operator, or has no `compute` | trait bound | the node's type |
/// | a port of another type, an edge in the wrong direction, a fan-out to an input that takes its message, `#[copy]` or `#[transfer]` of what can't be copied | trait bound | the edge |
/// | a condition on messages at an output, or on room at an input; `stream_done` of host data | trait bound | the port's name |
/// | `host_done` of messages without downloads | constant | the port's name |
/// | two producers of an input that takes one | constant | the later edge |
/// | a required input without a producer, an input whose size differs from the number of its producers, an output without a consumer | constant | the node's name |
/// | an edge that is forgotten: an output without a consumer, and an input of the same message without a producer | constant | the name of the node with the output |
/// | a pool for an operator with host data only | constant | the node's `#[streams(…)]` |
/// | a pool with fewer streams than its operators declare, or with another mistake in its description | constant; `new` for a `let` | the pool's description |
/// | device data between nodes on different devices without `#[transfer]`, or on one device with it | constant; `new` for devices of a `let` | the edge |
/// | a policy that can't be read | macro | the policy |
/// | a worker that can't be read, or a second one | macro | the attribute, or the name |
/// | a worker for an operator that stays on the thread of the run | constant | the worker's name |
/// | a parameter that a restart can't keep | trait bound | the parameter's name |
/// | a `count` of 0, another condition that can never hold, a `capacity` whose value is 0, a device or stream that the platform does not have, a constructor's error | `new` | – |
/// | device data that reaches another device through an adopting node | `run` | – |
///
/// The macro reports all mistakes that it finds in one graph at once. The struct is still defined, so that its uses are
/// no further mistakes, unless the graph has no name or the name of one of its operators. The constants are evaluated
/// only if the macro finds no mistake and every node is known. `cargo check` finds all mistakes that the compiler can
/// find.
///
/// # The expansion
/// If `STREAMFLOW_EXPAND` is the path of a folder, as `$PWD/expanded`, each use writes its expansion, as formatted code, to a
/// file in that folder, named after the use's location: `main-42-Ramp.rs`. Cargo does not know the variable, so change the source
/// file first: `touch src/main.rs; STREAMFLOW_EXPAND=$PWD/expanded cargo check`.
#[proc_macro]
pub fn graph(tokens: TokenStream) -> TokenStream {
    let expand = if editor::is_expanding() { graph::graph_in_an_editor } else { graph::graph };
    guarded(TokenStream::new(), || expand(tokens.into()).into())
}

/// Declares an interface: ports that operators have in common, by which a graph takes any of them as a type parameter.
///
/// ```text
/// operator_interface! {
///     /// A source of images.
///     pub trait FrameSource {
///         /// The image of this tick.
///         output image: Tensor<f32>;
///     }
/// }
///
/// #[operator(implements(FrameSource))]
/// pub struct Camera { #[output] image: Tensor<f32>, len: usize }
///
/// graph! {
///     pub struct Fuse<S: FrameSource, const N: usize>(len: usize, first: New<S>) {
///         let first: S = first;
///         let others: [Camera; N] = |_| Camera::new(len);
///         …
///     }
/// }
/// ```
///
/// A port is written as in `graph!`, without options: `input name: Type;` or `output name: Type;`. An operator that implements the
/// interface has these ports and no others. A graph with ports implements it by `#[implements(FrameSource)]` before its `struct`.
///
/// The macro defines the trait, and the struct `FrameSource_Ports` with the ports for edges. The trait is implemented by the macros
/// alone. `streamflow::guide::graphs_in_graphs` has a whole program.
#[proc_macro]
pub fn operator_interface(tokens: TokenStream) -> TokenStream {
    guarded(TokenStream::new(), || graph::interface(tokens.into()).into())
}

/// Makes a struct an operator: its marked fields become ports.
///
/// ```text
/// /// Multiplies two images and sums each row.
/// #[operator]
/// pub struct CombineAndSum {
///     #[input] in1: &Tensor<f32>,
///     #[input] in2: &Tensor<f32>,
///     #[output] out: Tensor<f32>,
/// }
///
/// impl Compute for CombineAndSum {
///     fn compute(&mut self, io: CombineAndSumIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (a, stream) = io.in1.receive().receive_cuda_stream(cx)?;
///         let (b, _) = io.in2.receive().receive_cuda_stream(cx)?;
///         let mut sums = cx.tensor([a.rows()], &stream)?;
///         stream.launch::<multiply_sum_rows>(Grid::blocks(a.rows()), (a, b, &mut sums))?;
///         io.out.emit(sums)
///     }
/// }
/// ```
///
/// The port fields are only declarations: the struct has the other fields, its state. The macro adds
/// - `CombineAndSumIo<'t>`, the ports and stream names in one tick, a field for each; branches have one field, `branch`,
/// - the type of the ports that a graph connects, a field for each, named in code as
///   `<CombineAndSum as Operator>::Ports`,
/// - `CombineAndSumStreams<'t>`, the stream names for `start`,
/// - and an implementation of `streamflow::operator::Operator`, which describes the ports (names, types, documentation) and the
///   number of streams that the operator may take from its pool.
///
/// Each of these types has only the generic parameters that it needs. `CombineAndSumIo` has those that the ports' types mention,
/// and can always be written as `Self::Io<'_>`. The operator's work is in `impl Compute`.
///
/// # Ports
/// - `#[input] x: &T` reads a message in one tick. `#[input] x: Shared<T>` may keep it or send it on; an alias of
///   `Shared<T>` does the same. `#[input] x: T` is its only owner; so is a type parameter `M`, with the bounds
///   `M: Message + for<'t> Receive<'t, Message = M>`.
/// - `#[input(optional)]`: the operator also runs without a message at this input, and gets an `Option`.
/// - `#[input(many)]`: any number of producers. The operator runs when each has sent a message, and gets a `Many` of
///   them, in the order of the edges. With `#[input(many, optional)]`, it gets the messages that have arrived.
/// - `#[input(size = 3)]`: three producers. The operator gets an array of their messages.
/// - `#[output] x: T` sends messages.
/// - `#[output(branch)] small: T` beside `#[output(branch)] large: T`: a tick sends on one of them, or on none. `io.branch`
///   has a method for each: `io.branch.small()` consumes `io.branch`, so that a second choice in a tick does not compile. Each
///   branch needs an edge, as other outputs do, and a tick waits for room at all of them.
///
/// `T` is a `Message`: a tensor, a number, a `HostData<T>`, a struct or an enum with `#[derive(Message)]`. The struct's
/// documentation gets a table with the documentation of its ports.
///
/// # State
/// The other fields are the operator's state, and the arguments of `new`, in their order. `#[state] plan: Option<Plan>`
/// is made by `new` itself, as the type's `Default`, so callers of `new` don't name it. Use it for fields that `start`
/// or the first tick fills, counters, and types that are private to the operator's module.
///
/// # Parameters
/// `#[param] threshold: f32` is state that any thread may set while the graph runs. `compute` reads it as
/// `self.threshold`, and `new` takes it, as other state. `#[param(range = 0.0..=1.0)]` refuses other values; the ends
/// are expressions of the field's type, with `?` on any error, and `0..` has no end. The type is a `Param`; the
/// documentation of that trait says when a value takes effect. The macro adds `CombineAndSumParams`, with
/// `threshold(&self) -> f32` and `set_threshold(&self, value: f32) -> Result<(), Error>`.
///
/// # An operator of one kernel
/// `#[operator(map = scale)]` writes `impl Compute` for an operator that launches one kernel of `#[kernel(map)]`:
///
/// ```text
/// /// out = factor * image
/// #[kernel(map)]
/// fn scale(out: &mut f32, image: &f32, factor: f32) {
///     *out = factor * *image;
/// }
///
/// #[operator(map = scale)]
/// pub struct Scale {
///     #[input] image: &Tensor<f32>,
///     #[output] out: Tensor<f32>,
///     factor: f32,
/// }
/// ```
///
/// In each tick, it receives the inputs, allocates the outputs, launches the kernel on the stream of the first input, and emits.
/// The kernel's arguments are matched by their order, and rustc compares the types: the outputs, then the inputs, then the other
/// fields, each in the order of the struct. Fields marked `#[param]` are such fields. All ports are tensors. An output has the
/// shape that all inputs broadcast to; inputs that don't fit are an error with their names.
///
/// An input that takes its tensor, `#[input] image: Tensor<f32>`, is changed in place: it is the memory of an output, so the
/// kernel has one `&mut` argument for both. The first such input is sent by the first output, the second by the second one.
///
/// The operator has no `compute`, `start` or `stop` of its own.
///
/// # Options
/// The options may be in any order, as in `#[operator(streams(fill, copy), no_new)]`:
/// - `map = scale`: the kernel of [an operator of one kernel](#an-operator-of-one-kernel).
/// - `streams(fill, copy)`: the names of the streams that the operator allocates with
///   `cx.allocate_cuda_stream(io.fill)`, or in `start` with `streams.fill`. These streams are from the pool of the
///   operator's node. If an input carries device data, the operator needs one stream more: the internal stream, which
///   `receive_cuda_stream` returns. An operator without a device input has no internal stream, and sets the stream of
///   each output of device data with `set_cuda_stream`; without it, `emit` does not compile.
/// - `no_new`: the user writes the constructor. By default, the macro generates `new`, which takes the state's fields
///   in their order, without those that are marked `#[state]`. A struct with type parameters that no field uses also has a
///   field `__streamflow_ports: PhantomData<…>`.
/// - `stays`: `start`, `compute`, `flush` and `stop` run on the thread that runs the graph: the caller of `run`, or the
///   thread that `spawn` makes. The option is for libraries with thread-local state, and for windows that belong to the
///   main thread. The operator's state is `Send` nevertheless, since the graph may move before a run. Keep values that
///   must not leave their thread in a `thread_local!`, filled by `start` and emptied by `stop`. This operator can't be
///   on a `#[worker(…)]`.
/// - `flush`: the operator holds messages back, and sends them when its inputs have ended. Such an operator has an
///   input, and implements `Flush` beside `Compute`. The macro adds `CombineAndSumFlushIo`, with all messages that are
///   left at each input.
///
/// # What does not compile
/// - an item that is not a struct with named fields; a lifetime parameter,
/// - `&mut T` or `Option<T>` as an input; a reference as an output,
/// - a type that can't be a message, as `[f32]`, `str` or a tuple,
/// - a name that is given twice, or is reserved,
/// - one `#[output(branch)]` alone, or a port or stream called `branch` beside branches; a tick that chooses two,
/// - `#[param]` on a port, or on a type that is not a `Param`; a range that has no values,
/// - `#[state]` on a port, on a type without `Default`, or with `no_new`,
/// - a type parameter as a message without the bound `Message`, or as an element without the bound `Element`,
/// - `flush` without `impl Flush` or without an input,
/// - `map` beside `impl Compute`, with a kernel of other arguments, with a port that is no single tensor, with `streams(…)` or
///   `#[state]`,
/// - state that is not `Send`, as a tick's `Stream` (use an `OnStream` for a stream beyond the tick),
/// - an operator without `impl Compute` in a graph.
///
/// Write attributes that read the struct's fields, as `#[derive(Debug)]`, below this one.
///
/// # The expansion
/// If `STREAMFLOW_EXPAND` is the path of a folder, as `$PWD/expanded`, each use writes its expansion, as formatted code, to a
/// file in that folder, named after the use's location: `main-42-Ramp.rs`. Cargo does not know the variable, so change the source
/// file first: `touch src/main.rs; STREAMFLOW_EXPAND=$PWD/expanded cargo check`.
#[proc_macro_attribute]
pub fn operator(options: TokenStream, item: TokenStream) -> TokenStream {
    let expand =
        if editor::is_expanding() { operator::operator_in_an_editor } else { operator::operator };
    guarded(item.clone(), || expand(options.into(), item.into()).into())
}

/// Makes a struct or an enum a message that can travel along the edges of a graph.
///
/// ```text
/// #[derive(Message)]
/// struct Detections {
///     boxes: Tensor<f32>,
///     scores: Tensor<f32>,
///     taken_at: Timestamp,
/// }
/// ```
///
/// All fields must be messages: tensors, buffers, `bool`, numbers, `String`, other structs and enums with this derive, and a `Vec`
/// of any of these; `HostData<T>` is for any other type of the host. The trait `streamflow::Message` has an example of each, and
/// the guide all types: `streamflow::guide::reading_sharing_taking`. If a field has device data, the struct has device data, and
/// an operator gets its value only together with a stream.
///
/// An enum is one of several messages, its variants. An input whose type is the enum takes each of these:
///
/// ```text
/// #[derive(Message)]
/// enum Image {
///     Tensor(Tensor<u8>),
///     Video { buffer: VideoBuffer, interlaced: bool },
/// }
/// ```
///
/// All fields of all variants must be messages. If one of them has device data, the enum has device data, whichever
/// variant a message is: `match` it after `receive_cuda_stream`. A message of a struct or an enum is copied and
/// transferred field by field. An output of the type of one variant can't be connected to such an input: its operator
/// emits the enum, `io.image.emit(Image::Tensor(tensor))`.
///
/// # The expansion
/// If `STREAMFLOW_EXPAND` is the path of a folder, as `$PWD/expanded`, each use writes its expansion, as formatted code, to a
/// file in that folder, named after the use's location: `main-42-Ramp.rs`. Cargo does not know the variable, so change the source
/// file first: `touch src/main.rs; STREAMFLOW_EXPAND=$PWD/expanded cargo check`.
#[proc_macro_derive(Message, attributes(message))]
pub fn message(item: TokenStream) -> TokenStream {
    guarded(TokenStream::new(), || message::message(item.into()).into())
}
