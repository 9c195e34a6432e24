//! What layers add to the context of a call, for the calls that it makes.

use std::any::Any;
use std::sync::Arc;

use super::ToolContext;

/// Values of different types. Behind a pointer: contexts are parts of the futures of calls.
pub(super) type Extensions = Arc<Vec<Arc<dyn Any + Send + Sync>>>;

impl ToolContext {
    /// Adds a value, in place of one of its type. The calls that this one makes have it, too. A layer that wants a value
    /// to itself uses a type of its own.
    pub fn set_extension<T: Any + Send + Sync>(&mut self, value: T) {
        let above = self.extensions.iter().flat_map(|extensions| extensions.iter());
        let others = above.filter(|other| !other.is::<T>()).cloned();
        let own: Arc<dyn Any + Send + Sync> = Arc::new(value);
        self.extensions = Some(Arc::new(others.chain([own]).collect()));
    }

    /// Returns the value of a type: that of this call, or of the nearest one above it that has one.
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.extensions.iter().flat_map(|extensions| extensions.iter()).find_map(|value| value.downcast_ref())
    }
}
