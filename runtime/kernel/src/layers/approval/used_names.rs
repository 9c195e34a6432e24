//! The names of calls that this process knows to be used.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::SystemTime;

use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;

/// The names that this process knows to be used.
#[derive(Default)]
pub(super) struct UsedNames(Mutex<Names>);

#[derive(Default)]
struct Names {
    names: BTreeMap<Text, SystemTime>,
    /// The number of names at which expired ones are swept.
    sweep_at: usize,
}

/// The number of names below which there is no sweep.
const MIN_SWEEP: usize = 1024;

impl UsedNames {
    /// Takes a name, and returns whether it was free.
    pub(super) fn take(&self, name: &str, expires_at: SystemTime) -> bool {
        let mut state = unpoisoned(self.0.lock());
        if state.names.len() >= state.sweep_at.max(MIN_SWEEP) {
            let now = SystemTime::now();
            state.names.retain(|_, expires_at| *expires_at > now);
            state.sweep_at = state.names.len() * 2;
        }
        state.names.insert(Text::copy_of(name), expires_at).is_none()
    }

    /// Whether a name was taken, and has not been deleted since.
    pub(super) fn contains(&self, name: &Text) -> bool {
        unpoisoned(self.0.lock()).names.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn used_names_are_remembered_until_they_expire() {
        let used_names = UsedNames::default();
        let (past, later) = (SystemTime::UNIX_EPOCH, SystemTime::now() + Duration::from_secs(60));
        for number in 0..MIN_SWEEP {
            assert!(used_names.take(&number.to_string(), if number % 2 == 0 { past } else { later }));
        }
        assert!(!used_names.take("1", later), "this call sweeps expired names");
        assert_eq!(unpoisoned(used_names.0.lock()).names.len(), MIN_SWEEP / 2);
        assert!(!used_names.take("3", later));
    }
}
