//! The driver that a trial runs on.

use std::sync::Arc;
use std::time::Duration;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow::time::Clock;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_tests::forms::Form;
use streamflow_tests::layers::WorksAlone;
use streamflow_tests::layers::faults::Injector;

/// The driver that a trial runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Base {
    /// A simulator, under the race checker except with [`Way::Unwatched`]. Work executes at submission with
    /// [`Way::Eager`], and later with the other ways.
    Host(Way),
    /// A GPU. All trials share its context, which belongs to the process.
    Cuda,
}

/// How a simulator and its platform are set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Eager,
    /// A scheduler that waits goes to sleep, as on a GPU. Few free blocks may be in use, so allocations query the
    /// driver about them.
    Sleeps,
    /// A pool keeps no free device memory, so a drop frees its memory at once, also during a run.
    KeepsNothing,
    /// No layer gets notes of the runtime, as in most programs. So the place of a call is only the phase of the
    /// program.
    Unwatched,
}

impl Way {
    fn seed(self) -> u64 {
        match self {
            Self::Eager => 0,
            Self::Sleeps => 3,
            Self::KeepsNothing => 5,
            Self::Unwatched => 7,
        }
    }
}

/// Puts a further layer above the injector, for controls.
pub(crate) type Above = fn(Arc<dyn Driver>) -> Arc<dyn Driver>;

impl Base {
    pub(crate) fn injector(self) -> Result<Arc<Injector>, Error> {
        Ok(Arc::new(match self {
            Self::Host(way) => {
                let host: Arc<dyn Driver> =
                    Arc::new(HostDriver::builder().seed(way.seed()).build());
                let sleeps = way == Way::Sleeps;
                Injector::new(if sleeps { Arc::new(WorksAlone(host)) } else { host }, false)
            }
            // The kernels that were loaded are unloaded with this driver, so each trial makes a driver of its own.
            Self::Cuda => Injector::new(Arc::new(CudaDriver::new()?), true),
        }))
    }

    pub(crate) fn platform(
        self,
        injector: &Arc<Injector>,
        above: Above,
    ) -> Result<Platform, Error> {
        // A scheduler that waits sleeps without spinning before, since sleeping makes more calls.
        let mut builder = Platform::builder().spin(Duration::ZERO);
        if let Self::Host(way) = self {
            builder = builder.race_check(way != Way::Unwatched);
            if way != Way::Eager {
                builder = builder.clock(&Clock::simulated());
            }
            let mut memory = MemoryOptions::default();
            match way {
                Way::Eager | Way::Unwatched => {}
                Way::Sleeps => memory.small_in_flight = 4,
                Way::KeepsNothing => memory.release_threshold = 0,
            }
            builder = builder.memory(memory);
        }
        // As in the platforms that ship, replay is directly above the driver. Here the injector takes the place of CUDA
        // or the simulator.
        builder.driver(above(Arc::new(Replaying::over(injector.clone()))))
    }

    /// Returns whether a program makes the same calls in each run.
    pub(crate) fn repeats(self) -> bool {
        matches!(self, Self::Host(_)) && !Form::Workers.is_set()
    }
}
