//! Nothing: the package has the programs of `tests/tests/ui/pass`.
