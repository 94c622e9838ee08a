//! The failure of a body, converted to the error that a call of the driver returns.

use crate::driver::asker::Asker;
use crate::driver::{BodyError, DriverError, LibraryError, Sticky};

/// The failure of a kernel's or a library function's body, by its effect on the device.
#[derive(Debug)]
pub(super) enum Failure {
    /// The device is unusable from now on.
    Lost(Sticky),
    /// The device still works, and a later call returns the error once.
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

    /// Returns the error of a graph that is launched after memory which it copies or fills was freed. On an H200 with driver
    /// 580 such a launch succeeds, and the device then fails with `CUDA_ERROR_LAUNCH_FAILED`, even if a new allocation has
    /// the same address. This happens with page-locked memory and with memory of `cuMemAlloc`, which adopted memory may be.
    /// CUDA permits the launch if the memory is of a stream-ordered pool (`cuMemAllocAsync`) and was freed and allocated
    /// again. The simulator refuses that case, too: the contract of a driver does not say how memory was made.
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

    /// Returns the failure of a library's host body that has returned an error. A [`LibraryError`] is passed on unchanged,
    /// apart from the operator's name, since the library's function would return the same error.
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
