//! Listeners for the output lines of a program.

use std::fmt;
use std::sync::Arc;

/// Maximum length of a line that is passed in one piece, in bytes: 8 KiB.
pub const MAX_LINE_BYTES: usize = 8 * 1024;

/// A function that receives the output lines of a program while it runs, see
/// [`ExecOptions::on_line`](super::ExecOptions::on_line). Two listeners are equal if one is a clone of the other.
#[derive(Clone)]
pub struct LineListener(Arc<dyn Fn(&str) + Send + Sync>);

impl LineListener {
    /// Creates a listener.
    pub fn new(listener: impl Fn(&str) + Send + Sync + 'static) -> LineListener {
        LineListener(Arc::new(listener))
    }

    /// Passes a line to the listener.
    pub fn notify(&self, line: &str) {
        (self.0)(line);
    }
}

impl PartialEq for LineListener {
    fn eq(&self, other: &LineListener) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for LineListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineListener")
    }
}
