//! One value, several owners who can only read.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A tensor, or any other message, with several owners. They can read it and hand it on, but not
/// write it, unless one of them is the last: [`try_unwrap`](Self::try_unwrap).
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Makes a value shareable.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// The value itself, if this is its last owner.
    ///
    /// # Errors
    /// The handle again, when there are other owners.
    pub fn try_unwrap(self) -> Result<T, Self> {
        Arc::try_unwrap(self.0).map_err(Self)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({:?})", self.0)
    }
}
