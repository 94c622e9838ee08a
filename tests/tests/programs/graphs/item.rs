//! The messages of the graphs, and the calls that nodes make on them.
//!
//! Each printed graph contains this file.

use streamflow::memory::DeviceSlice;
use streamflow::prelude::*;
use streamflow_tests::foreign;

use crate::programs::pieces::{Reads, Section, Writes, join, make, map, section};

/// A message of tests: data together with the values that the data should have.
#[derive(Message)]
pub(crate) struct Item {
    data: Tensor<u32>,
    value: HostData<Vec<u32>>,
    at: HostData<Address>,
}

/// The address of the data, by which a copy can be recognised, since a copy has another address.
pub(crate) struct Address(Option<u64>);

impl Clone for Address {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl Reads for Item {
    fn data(&self) -> &DeviceSlice<u32> {
        &self.data
    }

    fn value(&self) -> &[u32] {
        &self.value.0
    }
}

impl Writes for Item {
    fn parts(&mut self) -> (&mut DeviceSlice<u32>, &mut [u32]) {
        (&mut self.data, &mut self.value.0)
    }
}

impl Item {
    /// Returns a message whose memory is not written yet.
    pub(crate) fn new(platform: &Platform, s: &CudaStream, len: usize) -> Result<Self> {
        let mut data = platform.tensor([len], s)?;
        let at = s.write_raw(&mut data, |address| address)?;
        let (value, at) = (HostData(vec![0; len]), HostData(Address(Some(at))));
        Ok(Self { data, value, at })
    }
}

/// The value of a register, either owned or shared.
pub(crate) enum Cell {
    Own(Item),
    Shared(Shared<Item>),
}

impl Cell {
    pub(crate) fn item(&self) -> &Item {
        match self {
            Self::Own(item) => item,
            Self::Shared(item) => item,
        }
    }
}

/// Takes the value out of a register if the value is not shared.
pub(crate) fn take_own(register: &mut Option<Cell>) -> Option<Item> {
    match register.take() {
        Some(Cell::Own(item)) => Some(item),
        other => {
            *register = other;
            None
        }
    }
}

/// Shares the value of a register from now on, and returns another owner of it.
pub(crate) fn share(register: &mut Option<Cell>) -> Option<Shared<Item>> {
    let item = match register.take()? {
        Cell::Own(item) => Shared::new(item),
        Cell::Shared(item) => item,
    };
    *register = Some(Cell::Shared(item.clone()));
    Some(item)
}

/// Returns the elements from `skip` on, or `None` without an item.
pub(crate) fn part(item: Option<&Item>, skip: usize) -> Result<Option<Section<'_>>> {
    item.map(|item| section(item, skip.min(item.value().len()))).transpose()
}

/// Returns new data, computed from those inputs that are present.
pub(crate) fn made(
    platform: &Platform,
    s: &CudaStream,
    of: [Option<&Section<'_>>; 2],
    len: usize,
    (tag, slow): (u32, bool),
) -> Result<Item> {
    let mut item = Item::new(platform, s, len)?;
    match of {
        [Some(a), Some(b)] => join(s, &mut item, (a, b), tag, slow),
        [Some(a), None] | [None, Some(a)] => map(s, &mut item, a, tag, slow),
        [None, None] => make(s, &mut item, tag, slow),
    }?;
    Ok(item)
}

/// Returns a copy that is made without streamflow, and ordered by raw accesses.
pub(crate) fn copied(platform: &Platform, s: &CudaStream, from: &dyn Reads) -> Result<Item> {
    let mut copy = Item::new(platform, s, from.value().len())?;
    foreign::copy(platform, s, from.data(), &mut copy.data)?;
    copy.value.0.copy_from_slice(from.value());
    Ok(copy)
}

/// Returns a copy of a received message that is made without streamflow, on the stream of the message or on a
/// stream that waits for a record of that stream. The read is declared to streamflow afterwards.
pub(crate) fn copy_bypassing(
    platform: &Platform,
    item: &Item,
    received_on: &CudaStream,
    s: &CudaStream,
) -> Result<Option<Item>> {
    let Address(Some(address)) = item.at.0 else { return Ok(None) };
    if s.raw() != received_on.raw() {
        s.wait(received_on.record()?)?;
    }
    let mut copy = Item::new(platform, s, item.value().len())?;
    foreign::copy_from(platform, s, address, &mut copy.data)?;
    s.read_raw(&*item.data, |_| ())?;
    copy.value.0.copy_from_slice(item.value());
    Ok(Some(copy))
}
