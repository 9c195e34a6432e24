//! Values that layers add to the context of a call, for the calls that it makes.

use std::any::Any;
use std::sync::Arc;

use super::ToolContext;

/// Values of different types. Behind a pointer: contexts are parts of the futures of calls.
pub(super) type Extensions = Arc<Vec<Arc<dyn Any + Send + Sync>>>;

impl ToolContext {
    /// Adds a value, replacing the value of the same type. The calls that this call makes also get it. A layer that
    /// needs a private value uses a type of its own.
    pub fn set_extension<T: Any + Send + Sync>(&mut self, value: T) {
        let above = self.extensions.iter().flat_map(|extensions| extensions.iter());
        let others = above.filter(|other| !other.is::<T>()).cloned();
        let own: Arc<dyn Any + Send + Sync> = Arc::new(value);
        self.extensions = Some(Arc::new(others.chain([own]).collect()));
    }

    /// Returns the value of a type: that of this call, or of the nearest call above that has one.
    #[must_use]
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.extensions.iter().flat_map(|extensions| extensions.iter()).find_map(|value| value.downcast_ref())
    }
}
