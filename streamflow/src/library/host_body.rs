//! The host bodies that the simulator runs in place of a library's functions.

use std::marker::PhantomData;
use std::{ptr, slice};

use arrayvec::ArrayVec;

use super::description::{Length, MAX_CLAIMS};
use super::elements::{Elements, ElementsMut};
use crate::driver::{BodyError, HostArgs, LibraryBody, Param, Plain};
use crate::memory::Element;

/// The code that the simulator runs in place of a library's function: safe code over the claimed memory. A plan makes its body
/// once, and clones share it.
///
/// An error that the body returns stands for an error of the library's function. A [`LibraryError`](crate::library::LibraryError)
/// is passed on unchanged. Any other error and a panic become a [`DriverError::HostBody`](crate::driver::DriverError::HostBody),
/// which names the operator that made the call. The next call that can return the error returns it, once; if the body runs at
/// once, that is the call itself. The device stays usable. The body may not call the platform that runs it.
#[derive(Debug, Clone)]
pub struct HostBody(pub(super) LibraryBody);

impl HostBody {
    /// Makes a body for the function with the name `function`. Error texts contain that name.
    pub fn new(
        function: &str,
        body: impl Fn(&mut Operands<'_>) -> Result<(), BodyError> + Send + Sync + 'static,
    ) -> Self {
        let run = move |args: HostArgs<'_>| body(&mut Operands::new(args)?);
        // SAFETY: `body` is safe code, and `Operands` gives it only the memory of the claims.
        Self(unsafe { LibraryBody::new(function, run) })
    }
}

/// The claims and values of a [`Call`](crate::library::Call), which its [`HostBody`] takes in the order of their declaration.
#[derive(Debug)]
pub struct Operands<'a> {
    params: slice::Iter<'a, Param>,
    /// A bit for each of the remaining `params`, the lowest bit for the next one. A set bit means that a claim begins at that
    /// parameter.
    claims: u64,
    /// The claims that are views. The length of each counts the bytes from its first element to its last, with the gaps.
    views: Spans,
    _memory: PhantomData<&'a mut [u8]>,
}

/// The addresses and lengths of some claims. A length counts the bytes from the first element to the last.
type Spans = ArrayVec<(u64, Length), MAX_CLAIMS>;

/// Whether two claims have bytes in common, and at least one of the claims is written.
fn conflicts(address: u64, length: Length, other: &(u64, Length)) -> bool {
    (length.is_written || other.1.is_written)
        && address < other.0 + other.1.bytes
        && other.0 < address + length.bytes
}

impl<'a> Operands<'a> {
    /// # Errors
    /// If the claims of two operands have bytes in common and one of them is written, since Rust allows no `&mut` together with
    /// another reference to the same memory.
    fn new(args: HostArgs<'a>) -> Result<Self, BodyError> {
        let mut params = args.params.iter();
        let claims = params.next().map_or(0, Param::get);
        let mut made = Self { params, claims, views: Spans::new(), _memory: PhantomData };
        made.views = made.check_apart()?;
        Ok(made)
    }

    /// Returns the memory of the next claim, which the body reads.
    ///
    /// # Panics
    /// If the next claim is not of memory that is read, or not of elements `T`. Also if it lies between the elements of a view
    /// that is written: the body must read such a claim by [`read_elements`](Self::read_elements). The call fails after the
    /// panic.
    pub fn read<T: Element>(&mut self) -> &'a [T] {
        let (address, len) = self.slice::<T>(false);
        if len == 0 {
            return &[];
        }
        // SAFETY: `claim` has checked that the claim has this address and this length, and any bytes are valid elements. The
        // memory is allocated, and no other code uses it during the call (`Libraries::call_library`). It overlaps no slice that
        // is written (`check_apart`), and no view that is written, the view's gaps included (`slice`).
        unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(address), len) }
    }

    /// Returns the memory of the next claim, which the body writes.
    ///
    /// # Panics
    /// As for [`read`](Self::read), but the claim must be of memory that is written. Also if the claim lies between the elements
    /// of any view.
    pub fn write<T: Element>(&mut self) -> &'a mut [T] {
        let (address, len) = self.slice::<T>(true);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: as in `read`. The memory of each claim is returned only once.
        unsafe { slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(address), len) }
    }

    /// Returns the elements of the next claim, which the body reads. The claim may be a view.
    ///
    /// # Panics
    /// As for [`read`](Self::read).
    pub fn read_elements<T: Element>(&mut self) -> Elements<'a, T> {
        let (address, len, _) = self.claim::<T>(false);
        // SAFETY: as in `read`. An element of a view belongs to no other claim that is written.
        unsafe { Elements::new(ptr::with_exposed_provenance_mut(address), len) }
    }

    /// Returns the elements of the next claim, which the body writes. The claim may be a view.
    ///
    /// # Panics
    /// As for [`write`](Self::write).
    pub fn write_elements<T: Element>(&mut self) -> ElementsMut<'a, T> {
        let (address, len, _) = self.claim::<T>(true);
        // SAFETY: as in `read_elements`.
        unsafe { ElementsMut::new(ptr::with_exposed_provenance_mut(address), len) }
    }

    /// Returns the next value. If the call passed a value of another type than `T`, its bits are reinterpreted as a `T`.
    ///
    /// # Panics
    /// If a claim comes next, or nothing. The call fails after the panic.
    pub fn value<T: Plain>(&mut self) -> T {
        assert!(self.claims & 1 == 0, "the call has a claim next, and no value");
        self.next().get()
    }

    /// Takes the next claim as a slice. A body may write each byte of a view, also in its gaps. So a slice may overlap a view
    /// only if the body reads the slice and the view.
    fn slice<T: Element>(&mut self, is_written: bool) -> (usize, usize) {
        let (address, len, is_view) = self.claim::<T>(is_written);
        assert!(!is_view, "the next claim is of a view, which is no slice");
        let length = Length { bytes: (len * size_of::<T>()) as u64, is_written, is_view };
        let is_apart = !self.views.iter().any(|view| conflicts(address as u64, length, view));
        assert!(
            is_apart,
            "the next claim lies between the elements of a view: use them by their places"
        );
        (address, len)
    }

    /// Takes the next claim. Returns its address, its number of elements, and whether elements of other claims may lie between
    /// them.
    fn claim<T: Element>(&mut self, is_written: bool) -> (usize, usize, bool) {
        assert!(self.claims & 1 == 1, "the call has a value next, and no claim");
        let address = self.next().get::<u64>();
        let length = Length::of(self.next().get());
        let bytes = length.bytes;
        assert_eq!(
            length.is_written, is_written,
            "the next claim is of memory that is read, or written"
        );
        let size = size_of::<T>() as u64;
        assert!(
            bytes.is_multiple_of(size) && address.is_multiple_of(align_of::<T>() as u64),
            "the next claim has {bytes} bytes, which are no elements of {size} bytes"
        );
        (address as usize, (bytes / size) as usize, length.is_view)
    }

    /// Checks that no two slices have bytes in common if one of them is written. Views need no such check, since a view shares no
    /// element with another claim, and is never returned as a slice.
    ///
    /// Returns the views among the claims.
    fn check_apart(&self) -> Result<Spans, BodyError> {
        let (mut slices, mut views) = (Spans::new(), Spans::new());
        let (params, claims) = (self.params.clone(), self.claims);
        let mut rest = Self { params, claims, views: Spans::new(), _memory: PhantomData };
        while rest.params.len() > 0 {
            let is_claim = rest.claims & 1 == 1;
            let address = rest.next().get::<u64>();
            if !is_claim {
                continue;
            }
            let length = Length::of(rest.next().get());
            if length.bytes == 0 {
                continue;
            }
            if length.is_view {
                views.push((address, length));
                continue;
            }
            let overlaps = |other: &&(u64, Length)| conflicts(address, length, other);
            if let Some((other, _)) = slices.iter().find(overlaps) {
                return Err(format!(
                    "two claims, at {other:#x} and at {address:#x}, have bytes in common, and one of them is written; claim \
                     memory that is written once"
                )
                .into());
            }
            slices.push((address, length));
        }
        Ok(views)
    }

    fn next(&mut self) -> &'a Param {
        #[allow(clippy::panic, reason = "the simulator catches it, and the call fails")]
        let Some(param) = self.params.next() else { panic!("the call has no more claims") };
        self.claims >>= 1;
        param
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::Operands;
    use crate::driver::{Access, AccessMode, HostArgs, MemoryRange, Param};
    use crate::library::description::Description;

    /// A claim of a test: its address, its length in bytes, its access mode, and whether it is a view.
    type Made = (u64, u64, AccessMode, bool);

    fn params(claims: &[Made]) -> Vec<Param> {
        let mut description = Description::new();
        assert!(description.add_value(Param::new(8_u64)));
        for &(address, bytes, mode, is_view) in claims {
            let range = MemoryRange { address, bytes };
            let access = Access { range, mode, argument: "x", rows: None };
            assert!(description.add_claim((access, None), is_view));
        }
        description.parts().0.to_vec()
    }

    #[test]
    fn no_slice_that_is_written_has_bytes_of_another() {
        use AccessMode::{Read, Write};
        let cases: [(&[Made], bool); 8] = [
            (&[(64, 8, Write, false), (72, 8, Write, false), (56, 8, Read, false)], true),
            (&[(64, 8, Read, false), (64, 8, Read, false)], true),
            (&[(64, 8, Write, false), (68, 0, Write, false)], true),
            // Views may interleave, since each element belongs to only one of them.
            (&[(64, 8, Write, true), (68, 8, Read, true), (68, 4, Read, false)], true),
            (&[(64, 8, Write, false), (64, 8, Write, false)], false),
            (&[(64, 8, Read, false), (71, 8, Write, false)], false),
            (&[(64, 8, Write, false), (32, 8, Read, false), (48, 17, Read, false)], false),
            (&[(64, 64, Read, false), (32, 8, Read, true), (72, 8, Write, false)], false),
        ];
        for (claims, is_right) in cases {
            let params = params(claims);
            let made = Operands::new(HostArgs { params: &params });
            assert_eq!(made.is_ok(), is_right, "{claims:?}");
            if let Err(error) = made {
                assert!(error.to_string().contains("have bytes in common"), "{error}");
            }
        }
    }

    /// Under Miri, this test also shows that the body makes no two references to the same memory.
    #[test]
    fn interleaved_views_are_read_and_written_by_their_elements() {
        let mut memory: Vec<u32> = (0..12).collect();
        let address = memory.as_mut_ptr().expose_provenance() as u64;
        // Each row has four elements. One claim reads two of them, another claim writes one, and the fourth belongs to no claim.
        let claims = [
            (address, 40, AccessMode::Read, true),
            (address + 8, 36, AccessMode::Write, true),
            (address + 12, 4, AccessMode::Read, false),
        ];
        let params = params(&claims);
        let mut operands = Operands::new(HostArgs { params: &params }).unwrap();
        assert_eq!(operands.value::<u64>(), 8);
        let (from, mut to) = (operands.read_elements::<u32>(), operands.write_elements::<u32>());
        let between = operands.read_elements::<u32>();
        for row in 0..3 {
            let sum: u32 = from.row(4 * row, 2).sum();
            to.set_row(4 * row, [sum + between.get(0) + to.get(4 * row)].into_iter());
        }
        assert_eq!(memory, [0, 1, 6, 3, 4, 5, 18, 7, 8, 9, 30, 11]);
    }

    /// A body may write into a gap of its view. A slice in that gap would then change while a reference to it exists.
    #[test]
    fn there_is_no_slice_in_a_gap_of_a_view_that_is_written() {
        use AccessMode::{Read, Write};
        for (view, slice, is_refused) in
            [(Write, Read, true), (Read, Write, true), (Write, Write, true), (Read, Read, false)]
        {
            let mut memory = [0_u32; 8];
            let address = memory.as_mut_ptr().expose_provenance() as u64;
            let params = params(&[(address, 32, view, true), (address + 8, 4, slice, false)]);
            let mut operands = Operands::new(HostArgs { params: &params }).unwrap();
            operands.value::<u64>();
            let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                match view {
                    Read => drop(operands.read_elements::<u32>()),
                    Write => drop(operands.write_elements::<u32>()),
                }
                match slice {
                    Read => assert_eq!(operands.read::<u32>().len(), 1),
                    Write => assert_eq!(operands.write::<u32>().len(), 1),
                }
            }));
            assert_eq!(taken.is_err(), is_refused, "{view:?} {slice:?}");
        }
    }

    #[test]
    #[should_panic(expected = "is of a view, which is no slice")]
    fn there_is_no_slice_of_a_view() {
        let params = params(&[(64, 8, AccessMode::Read, true)]);
        let mut operands = Operands::new(HostArgs { params: &params }).unwrap();
        operands.value::<u64>();
        operands.read::<u32>();
    }

    #[test]
    #[should_panic(expected = "2 elements from place 1 on are not within 2")]
    fn an_element_outside_of_a_view_is_refused() {
        let params = params(&[(64, 8, AccessMode::Read, true)]);
        let mut operands = Operands::new(HostArgs { params: &params }).unwrap();
        operands.value::<u64>();
        operands.read_elements::<u32>().row(1, 2).for_each(drop);
    }
}
