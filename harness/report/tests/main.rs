//! Integration tests, in one program so that they are linked once.

mod baseline;
mod beside;
mod calibration;
mod changes;
mod claims;
mod compare;
mod coverage;
mod foreign_text;
mod gate;
mod learning;
mod likelihood;
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
mod site_rankings;
mod starts;
mod supported;
mod thompson;
mod timed;
