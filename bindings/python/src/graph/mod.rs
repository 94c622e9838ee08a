//! Graphs as classes of Python: [`export!`](crate::export) makes one of a `graph!`.
//!
//! A graph runs on a thread of its own, which calls no code of Python and never takes the interpreter lock. Python's side
//! are ports. A port is a bounded queue (`queue.rs`) between an object of Python (`input.rs`, `output.rs`, and what they
//! share in `port.rs`) and an operator of the graph (`operators.rs`), whose node has a condition that the port wakes. `message.rs` has what crosses a port, `run.rs` what
//! the objects of one run share, `running.rs` and `report.rs` the run as Python has it, `class.rs` the base class of all
//! graphs, and `export.rs` the macro.
//!
//! # Order
//! A pushed array becomes a tensor of the port's stream, which the producer makes wait for its work; the operator's stream
//! comes after that. A taken message carries the point at which it is ready, and the port's stream waits for it.
//!
//! # Operators in Python
//! An operator written in Python would be a node of this module whose `compute` takes the interpreter lock and calls an
//! object, with its ports' tensors and stream. It would need no other seam than these ports have: the two operators, the
//! conversion of `message.rs`, and the streams of the context. It is not built: until then the code of such an operator
//! takes from one port and pushes to another. One that holds messages back needs [`FlushToPython`] at its input, which says when
//! they have to be sent: Rust's `flush`.

mod class;
mod export;
mod input;
mod message;
mod operators;
mod output;
mod port;
mod queue;
mod report;
mod run;
mod running;

pub use class::{Graph, Maker};
pub use input::Input;
pub use message::{Adopting, InputMessage, OutputMessage};
pub use operators::{FlushToPython, FromPython, InputPort, OutputPort, ToPython};
pub use output::{Message, Output};
pub use port::Ended;
pub use report::Report;
pub(crate) use run::stop_all_blocking;
pub use running::Running;
