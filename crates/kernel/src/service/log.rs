//! Lines that the service reports.

/// Priority of a line, as in syslog(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// LOG_ERR.
    Error = 3,
    /// LOG_WARNING.
    Warning = 4,
    /// LOG_INFO.
    Info = 6,
}

/// Receiver of the lines.
pub struct Log<'a>(&'a mut dyn FnMut(Level, &str));

impl<'a> Log<'a> {
    /// Passes each line to `write`.
    pub fn new(write: &'a mut dyn FnMut(Level, &str)) -> Self {
        Self(write)
    }

    pub(super) fn info(&mut self, line: &str) {
        (self.0)(Level::Info, line);
    }

    pub(super) fn warning(&mut self, line: &str) {
        (self.0)(Level::Warning, line);
    }

    pub(super) fn error(&mut self, line: &str) {
        (self.0)(Level::Error, line);
    }
}
