//! Adopting and lending arrays with padded rows.

use std::sync::Arc;

use super::adopt::{After, ForeignMemory, check_layout};
use super::lent::Lendable;
use crate::driver::{AccessMode, MemoryRange, Rows};
use crate::error::{Error, Result};
use crate::memory::pitch::{self, Pitch};
use crate::memory::pooled::OwnedBlock;
use crate::memory::{Element, MemoryPool, PitchedTensor, Shape};

impl<T: Element> Lendable for PitchedTensor<T> {
    fn owner(&self) -> &OwnedBlock<MemoryPool> {
        self.owned_block()
    }

    fn mode(&self) -> AccessMode {
        AccessMode::Write
    }

    fn touched(&self) -> (MemoryRange, Option<Rows>) {
        Self::touched(self)
    }
}

impl MemoryPool {
    /// Adopts memory as a tensor with this layout.
    #[track_caller]
    pub(in crate::memory) fn adopt_rows<T: Element>(
        self: &Arc<Self>,
        memory: ForeignMemory,
        (shape, pitch): (&Shape, Pitch),
        after: After<'_>,
    ) -> Result<PitchedTensor<T>> {
        let (touched, given) = (pitch.bytes::<T>(shape, memory.range.address), memory.range.bytes);
        if touched.0.bytes > given {
            return Err(Error::Exchange {
                what: "memory of other code can't be adopted".to_owned(),
                reason: format!(
                    "an array {:?} of {} with strides of {:?} elements has {} bytes, and the memory has {given}",
                    shape.dims(),
                    T::DTYPE,
                    pitch.strides(shape),
                    touched.0.bytes
                ),
                remedy: "pass the shape and the strides that the memory has".to_owned(),
            });
        }
        check_layout::<T>(memory.range.address, &Shape::of_slice(pitch.span(shape)))?;
        PitchedTensor::adopted(self.adopt(memory, after, touched)?, shape, pitch)
    }

    /// Adopts memory as a tensor with these strides, in bytes.
    #[track_caller]
    pub(crate) fn adopt_pitched<T: Element>(
        self: &Arc<Self>,
        memory: ForeignMemory,
        shape: &Shape,
        strides: &[i64],
        after: After<'_>,
    ) -> Result<PitchedTensor<T>> {
        let pitch = Pitch::of_bytes::<T>(shape, strides)
            .map_err(|reason| pitch::refused("memory of other code can't be adopted", reason))?;
        self.adopt_rows(memory, (shape, pitch), after)
    }
}
