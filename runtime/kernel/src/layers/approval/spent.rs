//! The names of calls that this process knows to be used.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::SystemTime;

use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;

/// The names that this process knows to be used.
#[derive(Default)]
pub(super) struct Spent(Mutex<Names>);

#[derive(Default)]
struct Names {
    names: BTreeMap<Text, SystemTime>,
    /// The number of names at which expired ones are swept.
    sweep_at: usize,
}

/// The number of names below which there is no sweep.
const FEW: usize = 1024;

impl Spent {
    /// Takes a name, and returns whether it was free.
    pub(super) fn take(&self, name: &str, expires_at: SystemTime) -> bool {
        let mut kept = unpoisoned(self.0.lock());
        if kept.names.len() >= kept.sweep_at.max(FEW) {
            let now = SystemTime::now();
            kept.names.retain(|_, expires_at| *expires_at > now);
            kept.sweep_at = kept.names.len() * 2;
        }
        kept.names.insert(Text::copy_of(name), expires_at).is_none()
    }

    /// Whether a name was taken, and has not been deleted since.
    pub(super) fn knows(&self, name: &Text) -> bool {
        unpoisoned(self.0.lock()).names.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn used_names_are_remembered_until_they_expire() {
        let spent = Spent::default();
        let (past, later) = (SystemTime::UNIX_EPOCH, SystemTime::now() + Duration::from_secs(60));
        for number in 0..FEW {
            assert!(spent.take(&number.to_string(), if number % 2 == 0 { past } else { later }));
        }
        assert!(!spent.take("1", later), "this swept");
        assert_eq!(unpoisoned(spent.0.lock()).names.len(), FEW / 2);
        assert!(!spent.take("3", later));
    }
}
