//! Tensors by name: the list of a message's tensors, and [`TensorMap`], a message that consists of named tensors.

use std::borrow::Cow;
use std::fmt;

use super::receive::received;
use super::{
    Description, Device, Inlet, MemoryVisitor, Message, Payload, Receive, ReceiveEach, Sole,
};
use crate::error::type_name::short_type_name;
use crate::error::{Error, Result};
use crate::memory::AnyTensor;

/// The tensors of a message by name, for code that finds the tensors at run time. Made by [`Message::tensors`].
#[derive(Debug, Default)]
pub struct Tensors<'a> {
    found: Vec<(String, &'a dyn AnyTensor)>,
    /// The path of the field of the message that is being visited.
    path: Description,
}

impl<'a> Tensors<'a> {
    /// The names and tensors, in the order of the fields. A name is the path of fields to the tensor, as in a
    /// [`Part`](super::Part).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a dyn AnyTensor)> {
        self.found.iter().map(|(name, tensor)| (&**name, *tensor))
    }

    /// The tensor called `name`.
    ///
    /// # Errors
    /// [`Error::NoTensor`], which lists the existing names.
    pub fn get(&self, name: &str) -> Result<&'a dyn AnyTensor> {
        let found = self.iter().find(|(found, _)| *found == name);
        found.map(|(_, tensor)| tensor).ok_or_else(|| {
            let names = self.found.iter().map(|(name, _)| name.as_str());
            no_tensor(name, "names no tensor", listed(names))
        })
    }

    /// Visits a field of a message. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn field(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let len = self.path.enter(name);
        visit(self);
        self.path.leave(len);
    }

    /// Visits an element of a message that is a list.
    pub(super) fn element(&mut self, index: usize, visit: impl FnOnce(&mut Self)) {
        let len = self.path.enter_element(index);
        visit(self);
        self.path.leave(len);
    }

    /// Notes the variant of an enum that a message is. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn variant(&mut self, name: &str) {
        self.path.variant(name);
    }

    /// Does nothing for a variant without fields, which has no tensors. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn unit(&mut self, _name: &'static str) {}

    /// Adds a tensor under the path of the field that is being visited.
    pub(super) fn add(&mut self, tensor: &'a dyn AnyTensor) {
        self.found.push((self.path.path().to_owned(), tensor));
    }
}

/// A message of tensors with names that are chosen at run time: Holoscan's `TensorMap`. If the names are known when the
/// program is written, use a struct with `#[derive(Message)]` instead, because the compiler checks its fields.
/// [`into_message`](Self::into_message) converts a map to such a struct.
///
/// Like any message, a map travels with [`Metadata`](super::Metadata). Unlike a struct, it allocates host memory for
/// each inserted tensor.
#[derive(Debug, Default)]
pub struct TensorMap {
    entries: Vec<(Cow<'static, str>, Box<dyn AnyTensor>)>,
}

impl TensorMap {
    /// Creates a map without tensors.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor, and returns the tensor that had this name before.
    pub fn insert(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        tensor: impl AnyTensor,
    ) -> Option<Box<dyn AnyTensor>> {
        self.insert_boxed(name.into(), Box::new(tensor))
    }

    fn insert_boxed(
        &mut self,
        name: Cow<'static, str>,
        tensor: Box<dyn AnyTensor>,
    ) -> Option<Box<dyn AnyTensor>> {
        match self.entries.iter_mut().find(|(found, _)| *found == name) {
            Some((_, old)) => Some(std::mem::replace(old, tensor)),
            None => {
                self.entries.push((name, tensor));
                None
            }
        }
    }

    /// The tensors, in the order in which their names were first inserted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &dyn AnyTensor)> {
        self.entries.iter().map(|(name, tensor)| (&**name, &**tensor))
    }

    /// The tensor called `name`, if it has the type `T`: `map.get::<Tensor<f32>>("boxes")?`.
    ///
    /// # Errors
    /// [`Error::NoTensor`], if there is no tensor with this name, or a tensor of another type.
    pub fn get<T: AnyTensor>(&self, name: &str) -> Result<&T> {
        let found = self.iter().find(|(found, _)| *found == name);
        found.and_then(|(_, tensor)| tensor.downcast_ref()).ok_or_else(|| self.missing::<T>(name))
    }

    /// Removes the tensor called `name` from the map and returns it, if it has the type `T`. A tensor of another type stays.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn take<T: AnyTensor>(&mut self, name: &str) -> Result<T> {
        let is_it = |(found, tensor): &(Cow<'_, str>, Box<dyn AnyTensor>)| {
            found == name && tensor.downcast_ref::<T>().is_some()
        };
        let index = self.entries.iter().position(is_it);
        let taken = index.map(|index| self.entries.remove(index).1.downcast::<T>());
        match taken {
            Some(Ok(tensor)) => Ok(*tensor),
            _ => Err(self.missing::<T>(name)),
        }
    }

    /// Converts the map to a message: each field takes the tensor with its name, for example `boxes` or `left.image`.
    ///
    /// # Errors
    /// [`Error::NoTensor`], for a field without its tensor, for a field that is no tensor, and for a tensor without a
    /// field.
    pub fn into_message<M: Message>(mut self) -> Result<M> {
        let message = M::__streamflow_from_tensors(&mut FromTensors {
            map: &mut self,
            path: Description::default(),
        })?;
        match self.entries.first() {
            None => Ok(message),
            Some((name, _)) => {
                let problem = format!("is no field of `{}`; leave it out", short_type_name::<M>());
                Err(no_tensor(
                    name,
                    problem,
                    listed(message.tensors().iter().map(|(name, _)| name)),
                ))
            }
        }
    }

    #[cold]
    fn missing<T: AnyTensor>(&self, name: &str) -> Error {
        let found = self.iter().map(|(name, tensor)| format!("{name}: {tensor:?}"));
        no_tensor(name, format!("names no {}", short_type_name::<T>()), listed(found))
    }
}

/// The source of the tensors when a message is made from named tensors, with the path of the field that is being made.
#[derive(Debug)]
pub struct FromTensors<'a> {
    map: &'a mut TensorMap,
    path: Description,
}

impl FromTensors<'_> {
    /// Makes a field of a message. `#[derive(Message)]` calls this.
    #[doc(hidden)]
    pub fn field<M: Message>(&mut self, name: &str) -> Result<M> {
        let len = self.path.enter(name);
        let made = M::__streamflow_from_tensors(self);
        self.path.leave(len);
        made
    }

    /// Takes the tensor of the field that is being made.
    pub(super) fn take<T: AnyTensor>(&mut self) -> Result<T> {
        self.map.take(self.path.path())
    }

    /// The error for a field whose type `M` is no tensor.
    #[doc(hidden)]
    pub fn no_tensor<M>(&self) -> Error {
        let problem =
            format!("is a {}, which is made of no tensor by its name", short_type_name::<M>());
        no_tensor(self.path.path(), problem, listed(self.map.iter().map(|(name, _)| name)))
    }
}

#[cold]
fn no_tensor(name: &str, problem: impl Into<String>, found: String) -> Error {
    Error::NoTensor { name: name.to_owned(), problem: problem.into(), found }
}

fn listed<T: AsRef<str>>(names: impl Iterator<Item = T>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() { "no tensor".into() } else { names.join(", ") }
}

impl Message for TensorMap {
    type Place = Device;
    type Item = Self;
    type Owners = Sole;
    type __Own = Self;

    fn memory(&self, visit: &mut MemoryVisitor<'_>) {
        self.iter().for_each(|(_, tensor)| visit.slice(&tensor.bytes()));
    }

    fn __streamflow_describe(&self, describe: &mut Description) {
        for (name, tensor) in self.iter() {
            describe.field(name, |describe| describe.tensor("Tensor", tensor));
        }
    }

    fn __streamflow_tensors<'a>(&'a self, to: &mut Tensors<'a>) {
        for (name, tensor) in self.iter() {
            to.field(name, |to| to.add(tensor));
        }
    }

    fn into_payload(self) -> Payload<Self> {
        Payload::One(self)
    }
}

received!([] TensorMap);

impl fmt::Display for TensorMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Description::of(self).fmt(f)
    }
}
