//! Tests that need the source files: expected texts of the compiler, pages of the guide, and generated code. They
//! run in Rust's standard harness.
#![allow(missing_docs, reason = "a test binary")]

mod determinism;
mod doc_kernels;
mod holoscan;
mod kernel_bodies;
mod one_mistake;
pub mod pedantic;
mod places;
mod silent_outputs;
mod simulator_page;
mod static_facts;
mod surface;
mod tutorial;
mod ui;
mod ui_texts;
mod versions;
mod zero_cost;
