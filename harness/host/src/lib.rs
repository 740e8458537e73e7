//! Loads plugins and runs one case: what stands behind `gpbench-worker`.
//!
//! A worker is a process that does one thing and ends, so that whatever a plugin
//! does to it is over with it:
//!
//! - [`case`] builds the linear systems ([`system`], and [`collapse`] where inputs
//!   repeat), loads the plugin ([`plugin`]), lets it solve under a [`budget`] and a
//!   [`clock`] that the harness holds, reports a [`trace`] and leaves the solution in a file;
//! - [`train`] is the outer loop of a case that trains: one solve after the other, with a [`checkpoint`]
//!   after each;
//! - [`verify`] judges that file ([`judge`]) without ever loading the plugin, and draws it
//!   along the input where there is one ([`mod@line`]);
//! - [`exact`] makes the exact reference that judges compare with;
//! - [`conform`] tries a library's solvers by the conformance suite;
//! - [`mod@bench`] times products with the kernel operator;
//! - [`describe`] says what libraries offer, [`environment`] what the machine is.
//!
//! Answers leave on a [`channel`] of their own as JSON lines.
//!
//! Code that is not safe Rust stands in [`plugin`], where the C types are, and in
//! [`process`] and [`channel`], where the system calls are.

#![deny(unsafe_code)]

mod apart;
pub mod bench;
mod binary;
pub mod budget;
pub mod case;
pub mod channel;
pub mod checkpoint;
pub mod clock;
pub mod collapse;
pub mod conform;
pub mod describe;
pub mod environment;
mod estimate;
pub mod exact;
pub mod exact_file;
pub mod judge;
mod likelihood;
pub mod line;
pub mod plugin;
pub mod process;
pub mod solution;
pub mod system;
pub mod trace;
pub mod train;
pub mod verify;

pub use binary::FileError;
