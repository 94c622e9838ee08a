//! The macros of streamflow. Use them through the `streamflow` crate.
//!
//! Each macro is a pipeline: it parses the user's tokens, checks what it read, and expands it. All mistakes of one use
//! are reported at once. Whatever can be defined in spite of them is defined, so that no further errors follow.
//!
//! With `STREAMFLOW_EXPAND=directory` set, each use also writes its expansion, formatted, to a file in this directory,
//! named after its location and its first item: `main-42-Ramp.rs`. Cargo does not know the variable, so change the file
//! first: `touch src/main.rs; STREAMFLOW_EXPAND=$PWD/expanded cargo check`.
//!
//! Paths in the expansions begin with `::streamflow`. A crate that knows streamflow by another name has
//! `extern crate other_name as streamflow;` at its root. One with `#![no_implicit_prelude]` can't use `#[operator]`,
//! `#[derive(Message)]` and `graph!`: rustc then does not know `#[diagnostic::…]`, which they expand to.

mod diagnostic;
#[cfg(test)]
mod fuzz;
mod graph;
mod guard;
mod kernel;
mod message;
mod operator;
mod tokens;
mod written;

use proc_macro::TokenStream;

use self::guard::guarded;

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
/// The function stays as it is, to be called and tested. Beside it is a type of the same name
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

/// Declares a graph: its parameters, stream pools, operators and edges.
///
/// ```text
/// graph! {
///     /// Two sources, multiplied and summed by row.
///     pub struct CudaStreamApp(rows: usize, cols: usize, count: u64) {
///         const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);
///
///         #[streams(STREAMS)] #[when(count(count))]
///         let source1: Source = Source::new(rows, cols);
///         #[streams(STREAMS)] #[when(count(count))]
///         let source2: Source = Source::new(rows, cols);
///         #[streams(STREAMS)]
///         let combine_and_sum: CombineAndSum = CombineAndSum::new();
///         #[streams(STREAMS)] #[when(stream_done(tensor))]
///         let rx: PrintTensor = PrintTensor::new();
///
///         source1.image >> combine_and_sum.in1;
///         source2.image >> combine_and_sum.in2;
///         combine_and_sum.out >> rx.tensor;
///     }
/// }
/// // CudaStreamApp::new(&platform, 2160, 3840, 10)?.run()?;
/// ```
///
/// It becomes a struct with
/// - `new(platform: &Platform, parameters) -> Result<Self>` and `run(&mut self) -> Result<()>`
///   (in another run the operators keep their state, but ticks and counts begin at 0 again),
/// - for each node `name(&self) -> &Operator` and `name_mut(&mut self) -> &mut Operator`,
/// - `MERMAID` and `DOT`, the graph as a picture,
///
/// and implements `streamflow::Graph`.
///
/// # Grammar
/// ```text
/// graph     = attributes visibility "struct" Name [ "(" parameter, … ")" ] "{" statement* "}"
/// parameter = name ":" Type
/// statement = pool | node | edge
/// pool      = "const" NAME ":" ( "CudaStreamPool" | "CudaGreenContextPool" ) "=" expression ";"
/// node      = node-attribute* "let" name ":" Operator "=" expression ";"
/// edge      = edge-attribute* node "." output ">>" target ";"
/// target    = node "." input | "(" node "." input, … ")" | "_"
///
/// node-attribute = doc | "#[streams(" ( NAME | "none" ) ")]" | "#[when(" condition, … ")]"
/// condition      = "count(" expression ")" | "stream_done(" input ")"
/// edge-attribute = doc | "#[copy]" | "#[transfer]" | "#[capacity(" expression ")]"
///                | "#[policy(" policy ")]" | "#[feedback(initial =" expression ")]"
/// policy         = "pop" | "reject" | "fault"
/// ```
/// The attributes of the graph are those of a struct, as `#[derive(Debug)]`, and
/// `#[green_contexts(NAME)]`: nodes without a pool use the default context of this green context pool
/// (Holoscan's `add_default_green_context_pool`). Statements may be in any
/// order: what runs first follows from the edges.
///
/// A graph takes values, not type parameters: its checks look at concrete operators. Generic operators
/// are named with their types, `let cast: Cast<u8, f32> = Cast::new();`.
///
/// # Statements
/// - `const NAME: CudaStreamPool = …;` describes a stream pool. `new` makes the live one.
/// - `const NAME: CudaGreenContextPool = …;` describes how the multiprocessors of a device are divided,
///   for stream pools that are `.on(NAME.context(0))`.
/// - `let name: Operator = …;` is a node. The operator's type must be written. The expression sees
///   the parameters and `platform`, and may use `?`, as in
///   `Blend::new(0.25, platform.allocator("BLENDED", device(0), LIMITS)?)`; `streamflow::Allocator` has
///   the whole program.
/// - `a.out >> b.in;` is an edge, and `a.out >> (b.in, c.in);` are several. Each input has one
///   producer, one that is `#[input(many)]` any number, and one of a size as many as it says; the order
///   of their edges is that of the messages. An output may have any number of consumers; several share one message, so each reads
///   it (`&T`) or shares it (`Shared<T>`).
/// - `a.out >> _;` discards what an output sends.
///
/// # Attributes of nodes
/// - `#[streams(POOL)]`: its streams come from this pool, and so does its device. Without it, from a
///   pool of its own, on device 0 and without a maximum.
/// - `#[streams(none)]`: it has no streams, and works on that of the message it receives.
/// - `#[when(count(n))]`: it runs `n` times, a `u64`. A source without it runs until it calls
///   `cx.finish()`.
/// - `#[when(stream_done(input))]`: it runs when the device has completed what all messages were sent
///   with that it will receive from this input. Until then other operators do.
///
/// Without conditions an operator runs when every required input has a message and every output has
/// room.
///
/// # Attributes of edges
/// - `#[copy]`: the input gets a copy of its own, so that it may take the message although others
///   read it.
/// - `#[transfer]`: the input is on another device, and gets a copy there. The copy is a peer copy on
///   a stream of the edge's own: after the last write on the producer's device, and before whatever the
///   consumer does. An edge of device data between two devices needs it, and one on one device must
///   not have it. Host data goes anywhere without.
///
/// - `#[capacity(n)]`: how many messages wait on the edge, a `usize`; 1 by default.
/// - `#[policy(pop)]`, `#[policy(reject)]`, `#[policy(fault)]`: what happens to a message for which there
///   is no room. The oldest message is dropped, or the new one is, or the producer's tick fails. By default the
///   producer does not run before there is room.
/// - `#[feedback(initial = value)]`: its messages are for the next tick, and `value` is that of the first.
///   It may close a cycle, and it is the only edge that may. What waits there at the end of a run is state,
///   like the operators' fields: another run begins with it. The expression sees the parameters and
///   `platform`, and may use `?`, so that device data can be made there:
///   ```text
///   #[feedback(initial = zeros(platform, len)?)]    // zeros(…) -> Result<Tensor<f32>>
///   sum.sum >> sum.before;
///   ```
///   The whole program is in the documentation of the module `streamflow::graph`.
///
/// # What is checked, and when
/// | Mistake | Found by | Reported at |
/// |---|---|---|
/// | a statement that can't be read; an unknown attribute, condition or pool; a pool that no node uses | the macro | the statement, or its part |
/// | two nodes or pools where one may be; a node named as something of the graph | the macro | the later one |
/// | a cycle without `#[feedback]` | the macro | the edge that closes it, with the path |
/// | two producers where one may be | a constant | the later edge |
/// | an unknown node or port, an operator's wrong arguments | rustc | the name |
/// | a type that is no operator, or has no `compute` | types | the node's type |
/// | a port of another type, an edge in the wrong direction, a fan-out to an input that takes its message, `#[copy]` or `#[transfer]` of what can't be copied | types | the edge |
/// | `stream_done` of an output, or of host data | types | the condition |
/// | a required input without a producer, another number of them than its size, an output that nobody consumes | a constant | the node's name |
/// | a pool for an operator of the host alone | a constant | the node's `#[streams(…)]` |
/// | a pool with fewer streams than its operators declare | a constant | the pool's description |
/// | device data between nodes on different devices without `#[transfer]`, or on one device with it | a constant | the edge |
/// | a `count` or a `capacity` of 0, a device or stream that the platform has not, a constructor's error | `new` | – |
/// | device data that reaches another device by way of a node with `#[streams(none)]` | `run` | – |
///
/// All mistakes of names in one graph are reported at once, and the struct is still defined, so that its uses
/// are no further mistakes. Constants are evaluated when all names are right. `cargo check` finds all
/// mistakes that the compiler can find.
#[proc_macro]
pub fn graph(tokens: TokenStream) -> TokenStream {
    guarded(TokenStream::new(), || graph::graph(tokens.into()).into())
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
/// The port fields are declarations: the struct keeps the other fields alone, its state. Beside it
/// are `CombineAndSumIo<'t>`, what one tick has (a field per port and per stream name),
/// `CombineAndSumPorts`, which a graph connects, and `CombineAndSumStreams<'t>`, the names of its
/// streams for `start`. `streamflow::Operator` describes all this: names, types and
/// documentation of the ports, and how many streams it may take from its pool. Each of these has the generic parameters that it needs: those of the Io are
/// the ones that its ports' types need, and `Self::Io<'_>` always names it. What the operator does is
/// written in `impl Compute`.
///
/// # Ports
/// - `#[input] x: &T` reads a message in one tick, `#[input] x: Shared<T>` may keep it or hand it on,
///   `#[input] x: T` is its only owner. A name for a `Shared<T>` is one; a type parameter `M` is taken, and
///   bounded `M: Message + for<'t> Receive<'t, Message = M>`.
/// - `#[input(optional)]`: the operator also runs without a message here, and gets an `Option`.
/// - `#[input(many)]`: any number of producers; it runs when each has sent a message, and gets a `Many` of
///   them, in the order of the edges. With `#[input(many, optional)]` of those that have come.
/// - `#[input(size = 3)]`: as many producers, and an array of their messages.
/// - `#[output] x: T`.
///
/// `T` is a `Message`: a tensor, a number, a `HostData<T>`, a struct with `#[derive(Message)]`. The
/// documentation of a port is in a table in that of the struct.
///
/// # Options
/// In any order, as in `#[operator(streams(fill, copy), no_new)]`:
/// - `streams(fill, copy)`: the streams that it allocates with `cx.allocate_cuda_stream(io.fill)`, or
///   in `start` with `streams.fill`. They count against the pool of its node. One more does if an input
///   carries device data: the internal stream, which `receive_cuda_stream` returns. An operator
///   without inputs has none, and chooses the stream of each output with `set_cuda_stream`.
/// - `no_new`: by default `new` is generated, which takes the state's fields in their order. With
///   type parameters that no field uses, the struct has a field `__ports: PhantomData<…>` as well.
///
/// # What does not compile
/// What is no struct with named fields; a lifetime parameter; `&mut T` or `Option<T>`
/// as an input, a reference as an output; what can be no message, as `[f32]`, `str` or a tuple; a name that is given twice, or reserved; state that is not
/// `Send`, as a tick's `Stream` (what needs a stream beyond the tick is an `OnStream`); a missing
/// `impl Compute`, where a graph names the operator.
///
/// Attributes that look at the struct's fields, as `#[derive(Debug)]`, are written below this one.
#[proc_macro_attribute]
pub fn operator(options: TokenStream, item: TokenStream) -> TokenStream {
    guarded(item.clone(), || operator::operator(options.into(), item.into()).into())
}

/// Makes a struct a message: what travels along the edges of a graph.
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
/// All fields must be messages. If one has device data, so has the struct, and it can be opened only
/// together with a stream.
#[proc_macro_derive(Message)]
pub fn message(item: TokenStream) -> TokenStream {
    guarded(TokenStream::new(), || message::message(item.into()).into())
}
