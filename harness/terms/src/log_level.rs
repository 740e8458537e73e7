//! Levels of a case's log.

crate::words! {
    /// Importance of a line of the log.
    pub enum LogLevel {
        /// Something is wrong, but the solve continues.
        Warning = "warning",
        /// For the user.
        Info = "info",
        /// For the author of the plugin.
        Debug = "debug",
    }
}
