//! Integration tests, in one program so that they are linked once.

mod faults;
mod memory;
mod memory_limits;
mod optimum;
mod processes;
mod programs;
mod references;
mod reuse;
mod schedule;
mod script;
mod single;
mod solutions;
mod support;
mod training;
