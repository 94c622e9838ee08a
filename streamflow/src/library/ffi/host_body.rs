//! What the simulator runs in the place of a library's function.

use std::marker::PhantomData;
use std::{ptr, slice};

use crate::driver::{BodyError, HostArgs, LibraryBody, Param, Plain};
use crate::memory::Element;

/// What the simulator runs in place of a library's function: safe code over the claimed memory. A plan makes it once;
/// clones share it.
///
/// The body runs under the simulator's lock, so it must not call streamflow. A panic of it makes the simulated device fail,
/// as a fault does on a GPU.
#[derive(Debug, Clone)]
pub struct HostBody(pub(super) LibraryBody);

impl HostBody {
    /// A body for the function of this name, which messages have.
    pub fn new(
        function: &str,
        body: impl Fn(&mut Operands<'_>) -> Result<(), BodyError> + Send + Sync + 'static,
    ) -> Self {
        let run = move |args: HostArgs<'_>| body(&mut Operands::new(args));
        // SAFETY: `body` is safe code, and gets the memory of the claims alone.
        Self(unsafe { LibraryBody::new(function, run) })
    }
}

/// The claims and values of a [`Call`](crate::library::Call), as its [`HostBody`] gets them: in the order in which they were
/// made.
#[derive(Debug)]
pub struct Operands<'a> {
    params: slice::Iter<'a, Param>,
    /// The lowest bit says whether the next parameter begins a claim, and so on.
    claims: u64,
    _memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Operands<'a> {
    fn new(args: HostArgs<'a>) -> Self {
        let mut params = args.params.iter();
        let claims = params.next().map_or(0, Param::get);
        Self { params, claims, _memory: PhantomData }
    }

    /// The next claim, of memory that is read.
    ///
    /// # Panics
    /// If it is no claim of such elements that are read. The simulated device fails then.
    pub fn read<T: Element>(&mut self) -> &'a [T] {
        let (address, len) = self.claim::<T>(false);
        if len == 0 {
            return &[];
        }
        // SAFETY: the claim was made of this many bytes at this address, as `claim` checks; any bytes are elements. The
        // memory is allocated, and no other code touches it during the call (`Driver::call_library`). A claim to write the
        // same memory would have needed a `&mut` beside this one.
        unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(address), len) }
    }

    /// The next claim, of memory that is written.
    ///
    /// # Panics
    /// As for [`read`](Self::read), of memory that is written.
    pub fn write<T: Element>(&mut self) -> &'a mut [T] {
        let (address, len) = self.claim::<T>(true);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: as in `read`; each claim is given out once.
        unsafe { slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(address), len) }
    }

    /// The next value. If `T` is not the type that it was passed as, its bits are reinterpreted.
    ///
    /// # Panics
    /// If there is none. The simulated device fails then.
    pub fn value<T: Plain>(&mut self) -> T {
        assert!(self.claims & 1 == 0, "the call has a claim next, and no value");
        self.next().get()
    }

    fn claim<T: Element>(&mut self, is_written: bool) -> (usize, usize) {
        assert!(self.claims & 1 == 1, "the call has a value next, and no claim");
        let address = self.next().get::<u64>();
        let length = self.next().get::<u64>();
        let (bytes, written) = (length >> 1, length & 1 == 1);
        assert_eq!(written, is_written, "the next claim is of memory that is read, or written");
        let size = size_of::<T>() as u64;
        assert!(
            bytes.is_multiple_of(size) && address.is_multiple_of(align_of::<T>() as u64),
            "the next claim has {bytes} bytes, which are no elements of {size} bytes"
        );
        (address as usize, (bytes / size) as usize)
    }

    fn next(&mut self) -> &'a Param {
        #[allow(clippy::panic, reason = "a fault of the simulated device, as in a kernel's body")]
        let Some(param) = self.params.next() else { panic!("the call has no more claims") };
        self.claims >>= 1;
        param
    }
}
