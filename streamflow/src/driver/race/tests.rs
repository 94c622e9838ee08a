//! Orders that the tests of the house can't reach.
