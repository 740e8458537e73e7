//! Levels of a case's log.

crate::words! {
    /// Importance of a line of the log.
    pub enum LogLevel {
        /// A problem in spite of which the solve continues.
        Warning = "warning",
        /// Information for the user.
        Info = "info",
        /// Details for the author of the plugin.
        Debug = "debug",
    }
}
