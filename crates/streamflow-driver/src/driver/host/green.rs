//! Green contexts of the simulator. A green context only has a number of multiprocessors, and its streams report that
//! number. Work in a green context executes like all other work.

use super::refusal::invalid_value;
use super::sim::Sim;
use crate::driver::{Coscheduling, DeviceId, DriverResult, GreenContext, SmSizes, StreamFlags};

/// The number of multiprocessors of a simulated device.
pub(super) const MULTIPROCESSORS: u32 = 32;

/// The sizes of a partition that a device of compute capability 9.0 permits.
pub(super) const fn sizes(coscheduling: Coscheduling) -> SmSizes {
    let smallest = match coscheduling {
        Coscheduling::Kept => 8,
        Coscheduling::Ignored => 4,
    };
    SmSizes { total: MULTIPROCESSORS, smallest, step: smallest }
}

impl Sim {
    pub(super) fn divide(
        &mut self,
        device: DeviceId,
        coscheduling: Coscheduling,
        requested: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        let legal = sizes(coscheduling);
        let sum: u64 = requested.iter().map(|&size| u64::from(size)).sum();
        let Some(left) = u64::from(MULTIPROCESSORS).checked_sub(sum) else {
            let message =
                format!("{sum} multiprocessors were requested, and there are {MULTIPROCESSORS}");
            return Err(invalid_value("create_green_contexts", device, &message));
        };
        if let Some(size) = requested.iter().find(|size| !legal.is_legal(**size)) {
            let message = format!(
                "a partition can't have {size} multiprocessors: `sm_sizes` has the legal sizes"
            );
            return Err(invalid_value("create_green_contexts", device, &message));
        }
        let left = (left > 0).then_some(left as u32);
        let made = requested.iter().copied().chain(left).map(|multiprocessors| {
            let context = GreenContext { device, index: self.green.len() as u32, multiprocessors };
            self.green.push(context);
            context
        });
        Ok(made.collect())
    }

    /// Refuses two kinds of stream, as CUDA does: a stream in a green context of another device, and a blocking stream in a
    /// green context.
    pub(super) fn check_green(
        &self,
        device: DeviceId,
        green: GreenContext,
        flags: StreamFlags,
    ) -> DriverResult<()> {
        const CALL: &str = "create_stream";
        if green.device != device || self.green.get(green.index as usize) != Some(&green) {
            return Err(invalid_value(CALL, device, "there is no such green context"));
        }
        if flags == StreamFlags::Blocking {
            let message = "a stream of a green context is non-blocking";
            return Err(invalid_value(CALL, device, message));
        }
        Ok(())
    }
}
