//! `graph!`.

mod attribute;
mod check;
mod diagram;
mod edge;
mod model;
mod parse;
mod statement;
#[cfg(test)]
mod tests;
mod toposort;

use proc_macro2::TokenStream;

use crate::diagnostic::Errors;
