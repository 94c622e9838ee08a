//! How a body has failed, as the error that a call returns.

use crate::driver::asker::Asker;
use crate::driver::{BodyError, DriverError, LibraryError, Sticky};

/// How a body has failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The device is lost.
    Lost(Sticky),
    /// The device lives.
    Function(DriverError),
}

impl Failure {
    #[cold]
    pub(super) fn of_kernel(name: &str, node: Asker, panic: &str) -> Self {
        let by =
            node.name().map_or_else(String::new, |node| format!(", launched by operator `{node}`"));
        Self::Lost(Sticky {
            call: "launch",
            code: 719,
            name: "KERNEL_PANICKED".to_owned(),
            message: format!("kernel `{name}` panicked: {panic}{by}"),
        })
    }

    /// A graph is launched after memory of a copy or a fill was freed: on an H200 with driver 580 the launch succeeds, and the
    /// device then fails with `CUDA_ERROR_LAUNCH_FAILED`, also if an allocation at the same address lives. That is so for
    /// page-locked memory and for memory of `cuMemAlloc`, as adopted memory may be. Memory of a stream-ordered pool
    /// (`cuMemAllocAsync`) may be freed and allocated again there. The simulator refuses that, too: the contract of a driver does
    /// not say how memory was made.
    #[cold]
    pub(super) fn of_stale_graph() -> Sticky {
        Sticky {
            call: "launch_graph",
            code: 719,
            name: "LAUNCH_FAILED".to_owned(),
            message: "a graph copies or fills memory that was freed since the graph was made"
                .to_owned(),
        }
    }

    /// A library's host body has returned an error. That of a library's function is what the function would return.
    #[cold]
    pub(super) fn of_library(name: &str, node: Asker, error: BodyError) -> Self {
        match error.downcast::<LibraryError>() {
            Ok(error) => {
                let mut error = *error;
                if let Some(node) = node.name() {
                    error.remedy = format!("{}; operator `{node}` called it", error.remedy);
                }
                Self::Function(error.into())
            }
            Err(error) => Self::function(name, node, format!("failed: {error}")),
        }
    }

    #[cold]
    pub(super) fn of_panic(name: &str, node: Asker, panic: &str) -> Self {
        Self::function(name, node, format!("panicked: {panic}"))
    }

    fn function(name: &str, node: Asker, problem: String) -> Self {
        let node = node.name().map(|node| node.to_string());
        Self::Function(DriverError::HostBody { function: name.to_owned(), node, problem })
    }
}
