//! The description of a message: the names, types, shapes and devices of its parts, without its data.

use std::borrow::Cow;
use std::fmt;

use super::Message;
use crate::driver::DeviceId;
use crate::memory::AnyTensor;

/// The description of a message, without its device data: a [`Part`] for each payload of the message.
/// [`In::describe`](crate::port::In::describe) makes a description, and [`Inspect`](crate::operators::Inspect) prints it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    parts: Vec<Part>,
    /// The path of the field that is being described.
    path: String,
}

/// The description of one payload of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The path of fields, variants and indices to the payload, for example `boxes` or `Video.0[2]`; empty for a
    /// message that is a single payload.
    pub name: String,
    /// The type of the payload, for example `Tensor<float32>`.
    pub ty: Cow<'static, str>,
    /// The name of the elements' type: [`Element::DTYPE`](crate::Element::DTYPE); `None` for a payload without elements.
    pub dtype: Option<&'static str>,
    /// The dimensions, outermost first; `None` for a payload without elements.
    pub shape: Option<Vec<usize>>,
    /// The distances, in elements, between neighbours in each dimension; `None` for a payload without elements.
    pub strides: Option<Vec<usize>>,
    /// The device of the memory; `None` for host data.
    pub device: Option<DeviceId>,
    /// The value itself as text, for a number or a text; `None` for any other payload.
    pub value: Option<String>,
}

impl Description {
    /// Describes a message.
    pub fn of<M: Message>(message: &M) -> Self {
        let mut description = Self::default();
        message.__streamflow_describe(&mut description);
        description
    }

    /// The description of the payload called `name`.
    pub fn part(&self, name: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The descriptions of the payloads, in the order of the fields.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Describes a field of a message. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn field(&mut self, name: &str, describe: impl FnOnce(&mut Self)) {
        let len = self.enter(name);
        describe(self);
        self.leave(len);
    }

    /// Appends a field to the path. Returns the length of the path before, for [`leave`](Self::leave).
    pub(super) fn enter(&mut self, name: &str) -> usize {
        let len = self.path.len();
        self.path.push_str(if len == 0 { "" } else { "." });
        self.path.push_str(name);
        len
    }

    /// Appends an element of a list to the path. Returns the length of the path before, for [`leave`](Self::leave).
    pub(super) fn enter_element(&mut self, index: usize) -> usize {
        let len = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        len
    }

    pub(super) fn leave(&mut self, len: usize) {
        self.path.truncate(len);
    }

    /// The path of the field that is being described.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Appends the variant of the enum that a message is to the path. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn variant(&mut self, name: &str) {
        let separator = if self.path.is_empty() { "" } else { "." };
        self.path.push_str(separator);
        self.path.push_str(name);
    }

    /// Describes a message that is a variant without fields. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn unit(&mut self, name: &'static str) {
        self.value(name, None);
    }

    /// Describes an element of a message that is a list.
    pub(super) fn element(&mut self, index: usize, describe: impl FnOnce(&mut Self)) {
        let len = self.enter_element(index);
        describe(self);
        self.leave(len);
    }

    /// Adds the description of a tensor. `kind` is the name of the tensor's type, without the type of its elements.
    pub(super) fn tensor(&mut self, kind: &str, tensor: &dyn AnyTensor) {
        let (dtype, device) = (tensor.dtype(), Some(tensor.device()));
        self.elements((kind, dtype), tensor.shape(), &tensor.strides(), device);
    }

    /// Adds the description of elements in host memory, which are one after the other.
    pub(super) fn on_host(&mut self, (kind, dtype): (&str, &'static str), shape: &[usize]) {
        let mut strides = vec![1; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim].max(1);
        }
        self.elements((kind, dtype), shape, &strides, None);
    }

    fn elements(
        &mut self,
        (kind, dtype): (&str, &'static str),
        shape: &[usize],
        strides: &[usize],
        device: Option<DeviceId>,
    ) {
        self.parts.push(Part {
            name: self.path.clone(),
            ty: format!("{kind}<{dtype}>").into(),
            dtype: Some(dtype),
            shape: Some(shape.to_vec()),
            strides: Some(strides.to_vec()),
            device,
            value: None,
        });
    }

    /// Adds the description of a payload without elements: its type, and for a number or a text its value.
    pub(super) fn value(&mut self, ty: &'static str, value: Option<String>) {
        self.parts.push(Part {
            name: self.path.clone(),
            ty: ty.into(),
            dtype: None,
            shape: None,
            strides: None,
            device: None,
            value,
        });
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

/// Writes each part on a line of its own.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(f, "{separator}{part}")?;
        }
        Ok(())
    }
}
