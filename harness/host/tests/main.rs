//! The host with tables as no SDK would make them, and with libraries of earlier versions of the interface.

mod arbitrary_description;
mod dense_system;
mod descriptions;
mod earlier_interfaces;
mod learner_tables;
mod malformed;
mod scripts;
mod support;
