//! Integration tests, in one program so that they are linked once.

mod baseline;
mod beside;
mod calibration;
mod compare;
mod coverage;
mod foreign_text;
mod gate;
mod learning;
mod mangled;
mod optimum;
mod pairs;
mod paper;
mod places;
mod predictions;
mod profiles;
mod publish;
mod report;
mod site;
mod starts;
mod thompson;
mod timed;
