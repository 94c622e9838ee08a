//! Algorithms: the library's proposals, stored algorithms that a plan uses again, and descriptions of algorithms for people.

use std::ffi::{c_int, c_void};
use std::ptr;

use super::Lt;
use super::parts::Owned;
use super::table::{Found, NAME, check};
use crate::ffi::cublaslt::algorithm::Chosen;
use streamflow::driver::DriverError;
use streamflow::library::LibraryError;

/// Values of cuBLASLt's enum `cublasLtMatmulPreferenceAttributes_t`.
const MAX_WORKSPACE: c_int = 1;
const MIN_ALIGNMENTS: [c_int; 4] = [5, 6, 7, 8];
/// Values of cuBLASLt's enum `cublasLtMatmulAlgoConfigAttributes_t`.
const ALGORITHM_ID: c_int = 0;
const TILE_ID: c_int = 1;
const SPLITS: c_int = 2;
const STAGES_ID: c_int = 6;

impl Lt {
    /// Returns at least one and at most `most` algorithms with a work area within the limit. The first is the one that
    /// the library's heuristic expects to be the fastest.
    pub(super) fn proposals(
        &self,
        limit: u64,
        alignment: u64,
        most: usize,
    ) -> Result<Vec<Found>, DriverError> {
        let table = self.table;
        let preference =
            Owned::new("cublasLtMatmulPreferenceCreate", table.preference_destroy, |place| {
                // SAFETY: the function writes the preference to `place`.
                unsafe { (table.preference_create)(place) }
            })?;
        let set = |attribute: c_int, value: *const c_void, bytes: usize| {
            // SAFETY: the preference is alive, and the value has as many bytes as the attribute.
            let status = unsafe { (table.preference_set)(preference.0, attribute, value, bytes) };
            check("cublasLtMatmulPreferenceSetAttribute", status)
        };
        set(MAX_WORKSPACE, ptr::from_ref(&limit).cast(), 8)?;
        let alignment = u32::try_from(alignment).unwrap_or(u32::MAX / 2 + 1);
        for attribute in MIN_ALIGNMENTS {
            set(attribute, ptr::from_ref(&alignment).cast(), 4)?;
        }
        let mut found: Vec<Found> = (0..most.max(1)).map(|_| Found::default()).collect();
        let (room, mut count) = (c_int::try_from(found.len()).unwrap_or(c_int::MAX), 0);
        let Self { handle, desc, a, b, c, .. } = self;
        // SAFETY: all objects are alive, and `found` has room for this number of results.
        let status = unsafe {
            (table.heuristic)(
                *handle,
                desc.0,
                b.0,
                a.0,
                c.0,
                c.0,
                preference.0,
                room,
                found.as_mut_ptr(),
                &mut count,
            )
        };
        const NOT_SUPPORTED: c_int = 15;
        if status != NOT_SUPPORTED {
            check("cublasLtMatmulAlgoGetHeuristic", status)?;
        }
        found.truncate(if status == 0 { usize::try_from(count).unwrap_or(0) } else { 0 });
        // For an algorithm that will not run, the library sets a state other than 0.
        found.retain(|found| found.state == 0);
        if found.is_empty() {
            return Err(no_algorithm(format!(
                "cuBLASLt has no algorithm for this product with a work area of {limit} bytes: change sizes, leading \
                 dimensions or precision, or raise `workspace_limit`"
            )));
        }
        Ok(found)
    }

    /// Checks a stored algorithm with the library. The library's check ignores alignments, so they are compared first.
    pub(super) fn restore(&self, chosen: Chosen, alignment: u64) -> Result<Found, DriverError> {
        if chosen.alignment > alignment {
            return Err(no_algorithm(format!(
                "the stored algorithm is for operands that begin at multiples of {} bytes, and the plan's begin at \
                 multiples of {alignment}: plan with `alignment({})`, or search again, without `algorithm`",
                chosen.alignment, chosen.alignment
            )));
        }
        if chosen.version != self.algorithm.version {
            return Err(no_algorithm(format!(
                "the stored algorithm is of cuBLASLt {}, and this is {}: search again, without `algorithm`",
                chosen.version, self.algorithm.version
            )));
        }
        let mut found = Found::default();
        let Self { table, handle, desc, a, b, c, .. } = self;
        // SAFETY: all objects are alive, and the function writes the result to `found`. The library checks the algorithm's data.
        let status = unsafe {
            let data = &chosen.data;
            (table.check)(*handle, desc.0, b.0, a.0, c.0, c.0, data, &mut found)
        };
        if status != 0 || found.state != 0 {
            let status = if status == 0 { found.state } else { status };
            let cause = check("cublasLtMatmulAlgoCheck", status).err();
            let cause = cause.map(|error| error.name).unwrap_or_default();
            return Err(no_algorithm(format!(
                "cuBLASLt refuses the stored algorithm for this product on this GPU ({cause}, {status}): search again, \
                 without `algorithm`"
            )));
        }
        found.data = chosen.data;
        Ok(found)
    }

    /// Returns an algorithm with the properties that its text shows to people.
    pub(super) fn described(&self, found: &Found, alignment: u64) -> Chosen {
        let data = found.data;
        let read = |attribute: c_int| {
            let (mut value, mut written) = (0_u32, 0);
            let place = ptr::from_mut(&mut value).cast();
            // SAFETY: the value has four bytes, as these attributes have. A failure leaves 0.
            unsafe { (self.table.config_get)(&data, attribute, place, 4, &mut written) };
            value
        };
        Chosen {
            version: self.algorithm.version,
            id: read(ALGORITHM_ID),
            tile: read(TILE_ID),
            stages: read(STAGES_ID),
            splits: read(SPLITS),
            workspace: found.workspace as u64,
            alignment,
            data,
        }
    }
}

#[cold]
pub(super) fn no_algorithm(remedy: String) -> DriverError {
    let (library, call) = (NAME, "cublasLtMatmulAlgoGetHeuristic");
    LibraryError { library, call, status: 15, name: "CUBLAS_STATUS_NOT_SUPPORTED", remedy }.into()
}
