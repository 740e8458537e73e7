//! The words of the plugin interface that the SDK, the host and records share: each is defined once.

#![forbid(unsafe_code)]
