//! The order that a program gives to streams: the records of events, and the waits for them. A test in the same process
//! takes this order: see `taken`.

const NOT_READY: i32 = 600;

/// A call that orders work.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    Records {
        event: u64,
        stream: u64,
    },
    /// All work of the device.
    RecordsDevice {
        event: u64,
    },
    Waits {
        stream: u64,
        event: u64,
    },
    HostWaits {
        stream_or_event: u64,
    },
    HostWaitsForDevice,
    /// A query of a stream.
    HostAsks {
        stream: u64,
    },
}

impl Order {
    pub(crate) fn numbers(self) -> [u64; 3] {
        match self {
            Self::Records { event, stream } => [1, event, stream],
            Self::RecordsDevice { event } => [2, event, 0],
            Self::Waits { stream, event } => [3, stream, event],
            Self::HostWaits { stream_or_event } => [4, stream_or_event, 0],
            Self::HostWaitsForDevice => [5, 0, 0],
            Self::HostAsks { stream } => [6, stream, 0],
        }
    }
}

#[derive(Default)]
pub(crate) struct Orders {
    /// Whether a test takes them.
    pub(crate) is_on: bool,
    pub(crate) since_last: Vec<Order>,
    /// Whether queries say that work is not complete.
    pub(crate) is_slow: bool,
}

impl Orders {
    pub(crate) fn add(&mut self, order: Order) {
        if self.is_on {
            self.since_last.push(order);
        }
    }

    /// The return code of a query of a stream or an event.
    pub(crate) fn check_complete(&self) -> Result<(), i32> {
        if self.is_slow { Err(NOT_READY) } else { Ok(()) }
    }
}
