//! Copies, and the memory that a device reaches.
//!
//! A simulated device reaches its own memory and page-locked memory. It has no direct access to a peer's memory: only copies
//! of kind `Peer` reach that.

use super::HostDriver;
use super::memory::content;
use super::queue::{Device, Op};
use super::refusal::invalid_value;
use super::sim::Sim;
use crate::driver::rows::overlap;
use crate::driver::{CopyKind, CopyOp, CopyRows, DeviceId, DriverResult, MemoryRange, RawStream};
use crate::splitmix::mix;

impl HostDriver {
    /// Implements [`Driver::copy`](crate::driver::Driver::copy).
    ///
    /// # Safety
    /// As for that method.
    pub(super) unsafe fn submit_copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        const CALL: &str = "copy";
        check_lengths(copy).map_err(|message| invalid_value(CALL, stream.device(), &message))?;
        if let CopyKind::Peer { from, to } = copy.kind {
            self.check_device(CALL, from)?;
            self.check_device(CALL, to)?;
            if ![from, to].contains(&stream.device()) {
                let message = "a copy between devices is queued on a stream of one of them";
                return Err(invalid_value(CALL, stream.device(), message));
            }
        }
        let (mut sim, index) = self.enter_stream(CALL, stream)?;
        sim.check_copy(CALL, stream.device(), copy)?;
        let op = Op::Copy {
            target: copy.target.address,
            source: copy.source.address,
            bytes: copy.bytes(),
            kind: copy.kind,
            rows: copy.rows,
        };
        let point = sim.submit(index, op);
        let sim = self.execute_after_submission(sim, index);
        if copy.kind.blocks_host() {
            let done = self.wait(sim, CALL, point, stream.device());
            if done.is_err() {
                // After the error the caller uses its host memory again. If the copy is still queued, it must not touch that
                // memory.
                self.lock().cancel_copy(point);
            }
            return done;
        }
        Ok(())
    }
}

/// Refuses a copy with sides of different lengths. CUDA gets only one length and can't check this. CUDA also refuses the
/// other copies that are refused here (*CUDA Driver API*, `cuMemcpy2DAsync`), or leaves their effect undefined.
fn check_lengths(copy: &CopyOp) -> Result<(), String> {
    let CopyOp { kind, target, source, rows } = *copy;
    let Some(rows) = rows else {
        return if target.bytes == source.bytes {
            Ok(())
        } else {
            Err(format!("{} bytes can't be copied to {} bytes", source.bytes, target.bytes))
        };
    };
    if let CopyKind::Peer { .. } = kind {
        return Err("a copy between devices has no rows; copy all bytes".to_owned());
    }
    for (name, range, pitch) in
        [("source", source, rows.source_pitch), ("target", target, rows.target_pitch)]
    {
        let (width, most) = (rows.bytes, CopyRows::MAX_PITCH);
        if pitch < width {
            return Err(format!(
                "the pitch of the {name}, {pitch} bytes, is less than its rows' {width} bytes"
            ));
        }
        if pitch > most {
            return Err(format!(
                "the pitch of the {name}, {pitch} bytes, is more than {most}; copy each row by itself"
            ));
        }
        if rows.span(pitch) != Some(range.bytes) {
            let (count, bytes) = (rows.count, range.bytes);
            return Err(format!(
                "the {name} has {bytes} bytes, which are not {count} rows of {width} bytes, {pitch} bytes apart"
            ));
        }
    }
    if overlap((source, rows.side(rows.source_pitch)), (target, rows.side(rows.target_pitch))) {
        return Err(
            "rows of the source overlap rows of the target; copy to other memory first".to_owned()
        );
    }
    Ok(())
}

impl Device {
    /// A hash of the content of the device's memory, including adopted memory.
    pub(super) fn digest(&self) -> u64 {
        self.adopted.iter().fold(self.memory.digest(), |digest, range| {
            // SAFETY: the memory is initialised and lives until it is disowned, by the contract of `Observer::adopt`. Other
            // code writes it only in the order of a stream, and no such work executes during this call.
            mix(digest ^ unsafe { content(*range) })
        })
    }

    /// Whether a range lies within the device's memory, or within adopted memory.
    fn has(&self, range: MemoryRange) -> bool {
        let holds =
            |known: &MemoryRange| known.address <= range.address && range.end() <= known.end();
        self.memory.owns(range) || self.adopted.iter().any(holds)
    }
}

impl Sim {
    /// Refuses a copy if its source or target is not in the kind of memory that `copy.kind` says.
    fn check_copy(&self, call: &'static str, device: DeviceId, copy: &CopyOp) -> DriverResult<()> {
        let CopyOp { kind, target, source, .. } = *copy;
        let refuse = |message: &str| Err(invalid_value(call, device, message));
        match kind {
            CopyKind::PinnedToDevice if !self.is_page_locked(source) => refuse(
                "the source is not page-locked; copy from memory of `allocate_pinned`, or as pageable memory",
            ),
            CopyKind::DeviceToPinned if !self.is_page_locked(target) => refuse(
                "the target is not page-locked; copy to memory of `allocate_pinned`, or as pageable memory",
            ),
            CopyKind::PinnedToDevice | CopyKind::PageableToDevice
                if !self.is_device_memory(target) =>
            {
                refuse("the target is not device memory")
            }
            CopyKind::DeviceToPinned | CopyKind::DeviceToPageable
                if !self.is_device_memory(source) =>
            {
                refuse("the source is not device memory")
            }
            CopyKind::DeviceToDevice => {
                self.check_in_reach(call, device, source, || "the source".to_owned())?;
                self.check_in_reach(call, device, target, || "the target".to_owned())
            }
            CopyKind::Peer { from, to } if !self.is_of(from, source) || !self.is_of(to, target) => {
                refuse(&format!(
                    "the source is not memory of {from}, or the target not memory of {to}"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a range of memory that a device can't access. On CUDA, such an access makes the device unusable.
    pub(super) fn check_in_reach(
        &self,
        call: &'static str,
        device: DeviceId,
        range: MemoryRange,
        what: impl FnOnce() -> String,
    ) -> DriverResult<()> {
        if self.is_of(device, range) || self.is_page_locked(range) {
            return Ok(());
        }
        let what = what();
        let message = if self.is_device_memory(range) {
            format!(
                "{what} is memory of another device, which {device} can't access; copy it between the devices"
            )
        } else {
            format!(
                "{what} is ordinary host memory, or no memory at all, and {device} can't access it; copy it to the device"
            )
        };
        Err(invalid_value(call, device, &message))
    }

    fn is_of(&self, device: DeviceId, range: MemoryRange) -> bool {
        range.bytes == 0 || self.devices[device.index()].has(range)
    }

    fn is_device_memory(&self, range: MemoryRange) -> bool {
        range.bytes == 0 || self.devices.iter().any(|device| device.has(range))
    }

    /// Whether memory is page-locked by any device. Page-locked memory counts as page-locked for all devices.
    fn is_page_locked(&self, range: MemoryRange) -> bool {
        range.bytes == 0 || self.devices.iter().any(|device| device.pinned.is_in_use(range))
    }
}
