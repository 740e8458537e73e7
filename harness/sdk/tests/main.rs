//! Integration tests, in one program so that they are linked once.

mod extensions;
mod feature_map;
mod finite;
mod learner;
mod precondition;
mod refine;
mod wall;
mod watch;
