//! One parameter of a node.
//!
//! A parameter's `Clone`, `Debug`, comparison and `Drop` are the user's code, which may ask or set any parameter. So none of
//! them is called under a lock: a thread that has the lock takes another handle of the value, and copies it afterwards.

use std::any::{Any, type_name};
use std::fmt;
use std::mem::replace;
use std::sync::{Arc, Mutex};

use serde_core::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeValue, Error as TomlError};

use super::Param;
use super::limits::Limits;
use super::state::NodeState;
use crate::error::{Error, Result};
use crate::lock::locked;
use crate::turns;

/// One parameter of a node: the value that was set last. Its clones are the same parameter.
pub struct ParamCell<T> {
    inner: Arc<Inner<T>>,
}

struct Inner<T> {
    state: Arc<NodeState>,
    name: &'static str,
    limits: Option<Limits<T>>,
    slot: Mutex<Slot<T>>,
    // The functions of `T: Param`. Only `new` has the bound, so that rustc reports a type without it once.
    copy: fn(&T) -> T,
    describe: fn(&T) -> String,
    read: fn(Spanned<DeValue<'_>>) -> Result<T, TomlError>,
}

struct Slot<T> {
    value: Arc<T>,
    /// The field's value since the run began or the node took a value over, as text; `None` before the first run.
    taken: Option<Arc<str>>,
    /// The value as text, until the node takes it over.
    new: Option<Arc<str>>,
}

/// A value that the node takes over, of a type that its parameter has.
pub(super) struct New {
    value: Arc<dyn Any + Send + Sync>,
    text: Arc<str>,
}

/// A value that is no parameter's any more. Dropping it calls the user's code.
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
    /// The value that was set last; before, the value of the operator's field when the run began.
    pub fn get(&self) -> T {
        (self.inner.copy)(&self.inner.value())
    }

    /// Sets the value, which the node takes over before its next tick.
    ///
    /// # Errors
    /// [`Error::ParamOutOfRange`]; [`Error::ParamOfDroppedGraph`]. The value stays as it is.
    pub fn set(&self, value: T) -> Result<()> {
        let inner = &*self.inner;
        inner.check_alive()?;
        inner.check(&value)?;
        let text = (inner.describe)(&value);
        // Without the lock, since the user's code drops the value.
        drop(inner.store(text.into(), Arc::new(value)));
        Ok(())
    }

    /// Makes the operator's field the value, unless one was set that the node has not taken over.
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

    /// Checks that the field is still the value that the node has taken over. They are compared as text, since a
    /// parameter's type need not have a comparison, and a NaN is as good a value as any other.
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

    /// Copies the value into the field of an operator that replaces the node's own.
    pub(super) fn restore(&self, field: &mut T) {
        let value = self.inner.value();
        *field = (self.inner.copy)(&value);
        let taken = (self.inner.describe)(&value).into();
        locked(&self.inner.slot).taken = Some(taken);
    }
}

impl<T: Send + Sync + 'static> ParamCell<T> {
    /// The value, if it is new.
    pub(super) fn new_value(&self) -> Option<New> {
        let slot = locked(&self.inner.slot);
        let text = slot.new.clone()?;
        Some(New { value: slot.value.clone(), text })
    }

    /// Copies a value that was [new](Self::new_value) into the operator's field. Returns it as text. The copy is made
    /// first: if it panics, the value is still new. One that was set meanwhile stays new.
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
    /// A handle of the value.
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

    /// Stores a value. Returns the one before.
    fn store(&self, text: Arc<str>, value: Arc<T>) -> Arc<T> {
        let mut slot = locked(&self.slot);
        let before = replace(&mut slot.value, value);
        slot.new = Some(text);
        drop(slot);
        turns::point("a parameter is stored and not announced");
        self.state.note_change();
        before
    }
}

/// A parameter of any type, for values from a file.
pub(super) trait AnyParam: Send + Sync {
    fn name(&self) -> &'static str;
    /// The type, and the range if there is one: what a value must be.
    fn expected(&self) -> String;
    /// Reads a value and checks it. The returned function sets it, and calls nothing of the user's.
    fn prepare(&self, value: Spanned<DeValue<'_>>) -> Result<Assignment<'_>, Unfit>;
}

/// Sets a value. Returns the one before.
pub(super) type Assignment<'a> = Box<dyn FnOnce() -> Replaced + 'a>;

/// Why a value of a file is not one of the parameter.
pub(super) struct Unfit {
    pub(super) text: String,
    /// Where in the value the mistake is, in bytes of the file.
    pub(super) at: Option<usize>,
}

/// The type's name without the paths of its parts: `Vec<String>`.
fn short_type_name<T>() -> String {
    let mut short = String::new();
    for part in
        type_name::<T>().split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_')
    {
        if part.ends_with(':') {
            // A part of a path, or the second colon behind it.
            continue;
        }
        short.push_str(part);
    }
    short
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
        // serde rounds a number that is too large to infinity.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_type_name_has_no_paths() {
        assert_eq!(short_type_name::<f32>(), "f32");
        assert_eq!(short_type_name::<Vec<Option<String>>>(), "Vec<Option<String>>");
        assert_eq!(short_type_name::<([std::time::Duration; 2], u8)>(), "([Duration; 2], u8)");
    }
}
