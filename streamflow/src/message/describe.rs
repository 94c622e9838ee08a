//! What a message looks like: the names, types, shapes and devices of its parts, without its data.

use std::borrow::Cow;
use std::fmt;

use super::Message;
use crate::driver::DeviceId;

/// What a message looks like, without its device data: a [`Part`] for each payload in it.
/// [`In::describe`](crate::port::In::describe) makes one, and [`Inspect`](crate::operators::Inspect) prints it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    parts: Vec<Part>,
    /// The name of the field that is described now.
    path: String,
}

/// One payload of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The path of fields, variants and indices that leads to it, as `boxes` or `Video.0[2]`; empty for a message that
    /// is one payload.
    pub name: String,
    /// Its type, as `Tensor<float32>`.
    pub ty: Cow<'static, str>,
    /// Its dimensions, outermost first; `None` for a value.
    pub shape: Option<Vec<usize>>,
    /// Where its memory is; `None` for host data.
    pub device: Option<DeviceId>,
    /// The value itself, for a number or a text.
    pub value: Option<String>,
}

impl Description {
    /// Describes a message.
    pub fn of<M: Message>(message: &M) -> Self {
        let mut description = Self::default();
        message.__describe(&mut description);
        description
    }

    /// The payloads, in the order of the fields.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Describes a field of a message. `#[derive(Message)]` calls it.
    #[doc(hidden)]
    pub fn field(&mut self, name: &str, describe: impl FnOnce(&mut Self)) {
        let separator = if self.path.is_empty() { "" } else { "." };
        self.within(format_args!("{separator}{name}"), describe);
    }

    /// Notes which variant of an enum a message is. `#[derive(Message)]` calls it.
    #[doc(hidden)]
    pub fn variant(&mut self, name: &str) {
        let separator = if self.path.is_empty() { "" } else { "." };
        self.path.push_str(separator);
        self.path.push_str(name);
    }

    /// Notes that a message is a variant without fields. `#[derive(Message)]` calls it.
    #[doc(hidden)]
    pub fn unit(&mut self, name: &'static str) {
        self.value(name, None);
    }

    /// Describes an element of a list.
    pub(super) fn element(&mut self, index: usize, describe: impl FnOnce(&mut Self)) {
        self.within(format_args!("[{index}]"), describe);
    }

    fn within(&mut self, name: fmt::Arguments<'_>, describe: impl FnOnce(&mut Self)) {
        let len = self.path.len();
        self.path.push_str(&name.to_string());
        describe(self);
        self.path.truncate(len);
    }

    /// Adds elements with a shape.
    pub(super) fn array(&mut self, ty: String, shape: &[usize], device: Option<DeviceId>) {
        self.add(ty.into(), Some(shape.to_vec()), device, None);
    }

    /// Adds a value.
    pub(super) fn value(&mut self, ty: &'static str, value: Option<String>) {
        self.add(ty.into(), None, None, value);
    }

    fn add(
        &mut self,
        ty: Cow<'static, str>,
        shape: Option<Vec<usize>>,
        device: Option<DeviceId>,
        value: Option<String>,
    ) {
        self.parts.push(Part { name: self.path.clone(), ty, shape, device, value });
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            write!(f, "{}: ", self.name)?;
        }
        write!(f, "{}", self.ty)?;
        if let Some(shape) = &self.shape {
            write!(f, " {shape:?}")?;
        }
        if let Some(device) = self.device {
            write!(f, " on {device}")?;
        }
        match &self.value {
            Some(value) => write!(f, " = {value}"),
            None => Ok(()),
        }
    }
}

/// A line for each part.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(f, "{separator}{part}")?;
        }
        Ok(())
    }
}
