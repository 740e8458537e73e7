//! Integration tests, in one program so that they are linked once.

mod batches;
mod budget;
mod fortran;
mod header;
mod layout;
