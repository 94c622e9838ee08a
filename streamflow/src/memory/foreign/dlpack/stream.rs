//! The `stream` argument of `__dlpack__`.

use crate::error::{Error, Result};

/// The values that a consumer passes as the `stream` of `__dlpack__` for memory of a GPU: DLPack's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamArgument {
    /// `None` or 1: the legacy default stream.
    Default,
    /// 2: the default stream of the calling thread.
    PerThread,
    /// The handle of a stream, which is alive during the call.
    Handle(u64),
    /// -1: the producer does not order anything.
    Unordered,
}

impl StreamArgument {
    /// The meaning of the argument; `None` is Python's.
    ///
    /// # Errors
    /// [`Error::Exchange`] for 0, which would be ambiguous, and for other negative numbers.
    pub fn new(argument: Option<i64>) -> Result<Self> {
        match argument {
            None | Some(1) => Ok(Self::Default),
            Some(2) => Ok(Self::PerThread),
            Some(-1) => Ok(Self::Unordered),
            Some(handle @ 3..) => Ok(Self::Handle(handle.unsigned_abs())),
            Some(other @ ..=0) => Err(Error::Exchange {
                what: format!("`stream={other}` names no stream"),
                reason: "DLPack has no such value".to_owned(),
                remedy: "pass 1 for the legacy default stream, 2 for the default stream of the thread, the handle of \
                         another stream, or -1 for no order"
                    .to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_those_of_the_table() {
        let table = [
            (None, StreamArgument::Default),
            (Some(1), StreamArgument::Default),
            (Some(2), StreamArgument::PerThread),
            (Some(3), StreamArgument::Handle(3)),
            (Some(i64::MAX), StreamArgument::Handle(i64::MAX as u64)),
            (Some(-1), StreamArgument::Unordered),
        ];
        for (argument, meaning) in table {
            assert_eq!(StreamArgument::new(argument), Ok(meaning), "{argument:?}");
        }
        for refused in [0, -2, i64::MIN] {
            let error = StreamArgument::new(Some(refused)).err().map(|error| error.to_string());
            let text = error.unwrap_or_default();
            assert!(
                text.contains(&format!("`stream={refused}`")) && text.contains("pass 1"),
                "{text}"
            );
        }
    }
}
