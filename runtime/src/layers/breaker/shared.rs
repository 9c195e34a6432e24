//! Circuits that several processes open and close together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::CircuitBreaker;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;

/// A change of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CircuitChange {
    /// It opened, and refuses calls for this long.
    Opened(Duration),
    /// It closed.
    Closed,
}

/// Shares the circuits of this process with others. Without one, the default, circuits are in the memory of the process
/// alone.
///
/// Changes by others go to [`CircuitBreaker::open_elsewhere`] and [`CircuitBreaker::closed_elsewhere`]. No method may
/// wait: they are called where calls begin and end.
pub trait SharedCircuits: fmt::Debug + Send + Sync {
    /// Takes note that a circuit opened or closed in this process.
    fn changed(&self, service: &str, change: CircuitChange);

    /// Returns whether a call of a service may ask its circuit.
    ///
    /// # Errors
    ///
    /// Why not: what others know of the service cannot be determined. The call is refused with this error.
    fn check(&self, service: &str) -> Result<(), ToolError>;
}

impl CircuitBreaker {
    /// Shares circuits with other processes, from the start: services that were set or called before stay this
    /// process's own.
    #[must_use]
    pub fn with_shared(mut self, shared: Arc<dyn SharedCircuits>) -> CircuitBreaker {
        self.shared = Some(shared);
        self
    }

    /// Opens the circuit of a service that another process opened, for the time that is left there. A circuit that is
    /// open already stays open at least as long.
    pub fn open_elsewhere(&self, service: &str, left: Duration) {
        let found = self.service(service);
        let mut machine = unpoisoned(found.machine.lock());
        let own = machine.stats(found.settings);
        let is_longer = own.state == super::BreakerState::Open && own.retry_after >= Some(left);
        if !left.is_zero() && !is_longer {
            machine.open(found.settings.reset.saturating_sub(left));
        }
    }

    /// Closes the circuit of a service that another process closed.
    pub fn closed_elsewhere(&self, service: &str) {
        if let Some(known) = self.known(service) {
            unpoisoned(known.machine.lock()).close_too();
        }
    }
}
