//! The run folder.
