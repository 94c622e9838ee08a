//! The cell of one parameter of a node: the value that was set last.
//!
//! A parameter type's `Clone`, `Debug`, comparison and `Drop` are the user's code, and that code may read or set any parameter.
//! So the library calls none of it under a lock: a thread that has the lock only clones the `Arc` of the value, and copies the
//! value after the lock is released.

use std::any::Any;
use std::fmt;
use std::mem::replace;
use std::sync::{Arc, Mutex};

use serde_core::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeValue, Error as TomlError};

use super::Param;
use super::limits::Limits;
use super::state::NodeState;
use crate::error::type_name::short_type_name;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::turns;

/// A parameter of a node. It has the value that was set last. Clones of the cell are the same parameter.
pub struct ParamCell<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    state: Arc<NodeState>,
    name: &'static str,
    limits: Option<Limits<T>>,
    slot: Mutex<Slot<T>>,
    // The functions of `T: Param`, as pointers. Only `new` has the bound `T: Param`, so rustc reports a type without it once.
    copy: fn(&T) -> T,
    describe: fn(&T) -> String,
    read: fn(Spanned<DeValue<'_>>) -> Result<T, TomlError>,
}

struct Slot<T> {
    value: Arc<T>,
    /// The field's value as text, from the begin of the run, or from when the node last took a value over. `None` before the
    /// first run.
    taken: Option<Arc<str>>,
    /// The text of a value that was set and that the node has not taken over yet. `None` if there is no such value.
    new: Option<Arc<str>>,
}

/// A value that was set and that the node is to take over. Its type is that of the parameter.
pub(super) struct New {
    value: Arc<dyn Any + Send + Sync>,
    text: Arc<str>,
}

/// A value that another one has replaced. Dropping it calls the user's code.
pub(super) type Replaced = Arc<dyn Any + Send + Sync>;

impl<T: Param> ParamCell<T> {
    /// # Errors
    /// [`Error::ParamOutOfRange`].
    pub(super) fn new(
        state: &Arc<NodeState>,
        name: &'static str,
        value: &T,
        limits: Option<Limits<T>>,
    ) -> Result<Self> {
        let inner = Inner {
            state: state.clone(),
            name,
            limits,
            slot: Mutex::new(Slot { value: Arc::new(value.clone()), taken: None, new: None }),
            copy: T::clone,
            describe: |value| format!("{value:?}"),
            read: |value| T::deserialize(value.into_deserializer()),
        };
        inner.check(value)?;
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(super) fn erase(&self) -> Arc<dyn AnyParam> {
        self.inner.clone()
    }
}

impl<T> ParamCell<T> {
    /// Returns the value that was set last. Before any `set`, that is the value of the operator's field when the run began.
    pub fn get(&self) -> T {
        (self.inner.copy)(&self.inner.value())
    }

    /// Sets the value. The node takes it over before its next tick.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`]; [`Error::ParamOfDroppedGraph`]. The value then stays as it is.
    pub fn set(&self, value: T) -> Result<()> {
        let inner = &*self.inner;
        inner.check_alive()?;
        inner.check(&value)?;
        let text = (inner.describe)(&value);
        // The old value is dropped after `store` has released the lock, since the drop is the user's code.
        drop(inner.store(text.into(), Arc::new(value)));
        Ok(())
    }

    /// Makes the value equal to the operator's field, unless a value was set that the node has not taken over yet.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`].
    pub(super) fn follow(&self, field: &T) -> Result<()> {
        let inner = &*self.inner;
        inner.check(field)?;
        let value = Arc::new((inner.copy)(field));
        let taken = (inner.describe)(field).into();
        let mut slot = locked(&inner.slot);
        slot.taken = Some(taken);
        let _dropped_later =
            if slot.new.is_none() { replace(&mut slot.value, value) } else { value };
        drop(slot);
        Ok(())
    }

    /// Checks that the operator's field still has the value that the node has taken over. The values are compared as text, since
    /// a parameter's type need not have a comparison, and since a NaN must equal itself.
    ///
    /// # Errors
    /// [`Error::ParamAssigned`].
    pub(super) fn check_unassigned(&self, field: &T) -> Result<()> {
        let inner = &*self.inner;
        let taken = locked(&inner.slot).taken.clone();
        let field = (inner.describe)(field);
        match taken {
            Some(set) if *set != *field => Err(Error::ParamAssigned {
                node: inner.state.node.clone(),
                parameter: inner.name,
                field,
                set: set.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Copies the value into the field of an operator that replaces the node's failed operator.
    pub(super) fn restore(&self, field: &mut T) {
        let value = self.inner.value();
        *field = (self.inner.copy)(&value);
        let taken = (self.inner.describe)(&value).into();
        locked(&self.inner.slot).taken = Some(taken);
    }
}

impl<T: Send + Sync + 'static> ParamCell<T> {
    /// Returns the value that was set, or `None` if the node has taken it over already.
    pub(super) fn new_value(&self) -> Option<New> {
        let slot = locked(&self.inner.slot);
        let text = slot.new.clone()?;
        Some(New { value: slot.value.clone(), text })
    }

    /// Copies a [new](Self::new_value) value into the operator's field, and returns the value as text. The copy is made before
    /// anything changes: if it panics, the value stays new. A value that another thread has set since `new_value` stays new too.
    pub(super) fn take_over(&self, new: New, field: &mut T) -> Option<(&'static str, String)> {
        let inner = &*self.inner;
        let value = new.value.downcast::<T>().ok()?;
        let copy = (inner.copy)(&value);
        let mut slot = locked(&inner.slot);
        if Arc::ptr_eq(&slot.value, &value) {
            slot.new = None;
        }
        slot.taken = Some(new.text.clone());
        drop(slot);
        *field = copy;
        Some((inner.name, (*new.text).to_owned()))
    }
}

impl<T> Inner<T> {
    /// Clones the `Arc` of the value.
    fn value(&self) -> Arc<T> {
        locked(&self.slot).value.clone()
    }

    fn check_alive(&self) -> Result<()> {
        if !self.state.is_dropped() {
            return Ok(());
        }
        let (node, parameter) = (self.state.node.clone(), self.name);
        Err(Error::ParamOfDroppedGraph { node, parameter })
    }

    fn check(&self, value: &T) -> Result<()> {
        let Some(limits) = self.limits.as_ref().filter(|limits| !limits.contains(value)) else {
            return Ok(());
        };
        Err(Error::ParamOutOfRange {
            node: self.state.node.clone(),
            parameter: self.name,
            value: (self.describe)(value),
            range: limits.text().to_owned(),
        })
    }

    /// Stores a value, and returns the value that it replaces.
    fn store(&self, text: Arc<str>, value: Arc<T>) -> Arc<T> {
        let mut slot = locked(&self.slot);
        let before = replace(&mut slot.value, value);
        slot.new = Some(text);
        drop(slot);
        turns::point("a parameter is stored and not announced");
        self.state.mark_changed();
        before
    }
}

/// A parameter whose type is erased, for setting its value from a file.
pub(super) trait AnyParam: Send + Sync {
    fn name(&self) -> &'static str;
    /// Returns a text about the values that the parameter takes: the type, and the range if there is one.
    fn expected(&self) -> String;
    /// Reads a value of a file and checks it. The returned function sets that value, and calls no code of the user.
    fn prepare(&self, value: Spanned<DeValue<'_>>) -> Result<Assignment<'_>, Unfit>;
}

/// A function that sets the value of a parameter, and returns the value that was replaced.
pub(super) type Assignment<'a> = Box<dyn FnOnce() -> Replaced + 'a>;

/// The reason why a value of a file does not fit the parameter.
pub(super) struct Unfit {
    pub(super) text: String,
    /// The byte of the file at which the mistake within the value is. `None` if the whole value is the mistake.
    pub(super) at: Option<usize>,
}

impl<T: Send + Sync + 'static> AnyParam for Inner<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn expected(&self) -> String {
        let limits = self.limits.as_ref().map(|limits| format!(" in {}", limits.text()));
        format!("`{}`{}", short_type_name::<T>(), limits.unwrap_or_default())
    }

    fn prepare(&self, value: Spanned<DeValue<'_>>) -> Result<Assignment<'_>, Unfit> {
        let is_finite = match value.get_ref() {
            DeValue::Float(number) => !number.as_str().contains("inf"),
            _ => true,
        };
        let read = (self.read)(value).map_err(|error| Unfit {
            text: error.message().to_owned(),
            at: error.span().map(|span| span.start),
        });
        let value = read?;
        let text = (self.describe)(&value);
        // serde reads a number that is too large as infinity.
        if is_finite && matches!(&*text, "inf" | "-inf") {
            return Err(Unfit { text: "the number is too large".into(), at: None });
        }
        if let Some(limits) = self.limits.as_ref().filter(|limits| !limits.contains(&value)) {
            let text = format!("{text} is not in the range {}", limits.text());
            return Err(Unfit { text, at: None });
        }
        let (text, value) = (text.into(), Arc::new(value));
        Ok(Box::new(move || self.store(text, value)))
    }
}

impl<T> Clone for ParamCell<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<T> fmt::Debug for ParamCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&(self.inner.describe)(&self.inner.value()))
    }
}
