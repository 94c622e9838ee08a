//! The description of a call, for drivers that run the host body instead of the device's: the body's parameters, and the
//! accesses.

use std::cell::Cell;

use arrayvec::ArrayVec;

use crate::driver::{Access, AccessMode, Param, Rows, RowsAt};

/// The largest number of claims of a [`Call`](crate::library::Call).
pub const MAX_CLAIMS: usize = 12;

/// The largest number of values of a call.
pub(super) const MAX_VALUES: usize = 7;

/// The largest number of parameters of a host body: the bit mask of claims, two parameters for each claim, and the values.
const PARAMS: usize = 1 + 2 * MAX_CLAIMS + MAX_VALUES;

thread_local! {
    /// The parts of the last call that was dropped on this thread. The next call on the thread uses their memory, so it allocates
    /// none.
    static KEPT: Cell<Option<Box<Parts>>> = const { Cell::new(None) };
}

/// The description of a call. It is a type of its own, since a call on a GPU has none.
#[derive(Debug)]
pub(super) struct Description(Option<Box<Parts>>);

#[derive(Debug)]
struct Parts {
    /// The bit mask of claims: bit `n` is set if a claim begins at the `n`th parameter after the mask, with its address.
    claims: u64,
    /// The parameters of the host body. The first parameter is the mask.
    params: ArrayVec<Param, PARAMS>,
    accesses: ArrayVec<Access, MAX_CLAIMS>,
    rows: ArrayVec<Rows, MAX_CLAIMS>,
}

/// The length and the flags of a claim, as the second of the claim's two parameters. The first one is its address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    pub(super) bytes: u64,
    pub(super) is_written: bool,
    /// Whether elements of other operands may lie between the elements of this claim.
    pub(super) is_view: bool,
}

impl Length {
    /// Packs the length and the two flags into one number. A length in bytes never needs the two highest bits.
    fn packed(self) -> u64 {
        self.bytes << 2 | u64::from(self.is_view) << 1 | u64::from(self.is_written)
    }

    pub(super) fn of(packed: u64) -> Self {
        Self { bytes: packed >> 2, is_written: packed & 1 == 1, is_view: packed & 2 == 2 }
    }
}

impl Description {
    /// Creates the description of a call without claims and values.
    #[inline(never)]
    pub(super) fn new() -> Self {
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let mut parts = kept.unwrap_or_else(|| {
            let (params, accesses) = (ArrayVec::new_const(), ArrayVec::new_const());
            Box::new(Parts { claims: 0, params, accesses, rows: ArrayVec::new_const() })
        });
        parts.claims = 0;
        parts.params.clear();
        parts.accesses.clear();
        parts.rows.clear();
        parts.params.push(Param::new(0_u64));
        Self(Some(parts))
    }

    /// Adds a value for the host body. Returns `false` if there is no room for it.
    #[inline(never)]
    pub(super) fn add_value(&mut self, value: Param) -> bool {
        self.0.as_mut().is_some_and(|parts| parts.params.try_push(value).is_ok())
    }

    /// Adds a claim. Returns `false` if there is no room for it.
    #[inline(never)]
    pub(super) fn add_claim(
        &mut self,
        (mut access, rows): (Access, Option<Rows>),
        is_view: bool,
    ) -> bool {
        let Some(parts) = &mut self.0 else { return false };
        let place = RowsAt(parts.rows.len() as u8);
        access.rows = rows.and_then(|rows| parts.rows.try_push(rows).ok()).map(|()| place);
        let range = access.range;
        parts.claims |= 1 << (parts.params.len() - 1);
        if let Some(mask) = parts.params.first_mut() {
            *mask = Param::new(parts.claims);
        }
        let length =
            Length { bytes: range.bytes, is_written: access.mode == AccessMode::Write, is_view };
        parts.params.try_push(Param::new(range.address)).is_ok()
            && parts.params.try_push(Param::new(length.packed())).is_ok()
            && (range.bytes == 0 || parts.accesses.try_push(access).is_ok())
    }

    /// Returns the description as the driver takes it: all parameters, the accesses, and the rows of the accesses.
    pub(super) fn parts(&self) -> (&[Param], &[Access], &[Rows]) {
        let Some(parts) = &self.0 else { return (&[], &[], &[]) };
        (&parts.params, &parts.accesses, &parts.rows)
    }
}

impl Drop for Description {
    #[inline(never)]
    fn drop(&mut self) {
        let parts = self.0.take();
        // When a thread ends, its `KEPT` may be destroyed already. The parts are dropped then.
        let _ = KEPT.try_with(|kept| kept.set(parts));
    }
}
