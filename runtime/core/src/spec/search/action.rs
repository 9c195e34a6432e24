//! The actions that a question asks for and a tool performs: to look, to add, to change or to remove.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::words::{stem, words};
use crate::spec::ToolSpec;

/// What is done to things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Read,
    Create,
    Update,
    Delete,
}

/// The stems of the words that say so.
const READ: &str = "get list fetch show read retrieve view look find search query describe check count download export see \
    which what who whom whose how where when is are has have does display browse inspect lookup watch all every i \
    return request provide";
const CREATE: &str = "create add new make post insert register upload send generate attach file buy invite share schedule \
    write append set submit begin start give grant put keep save follow import apply assign mark";
const UPDATE: &str = "update edit change modify patch set replace rename overwrite adjust fix configure move reorder choose \
    put alter rotate convert";
const DELETE: &str = "delete remove destroy drop erase purge clear rid unassign revoke wipe take kick lift release unlink \
    detach throw uninstall unfollow unsubscribe permanently";

/// The actions that the word of a stem stands for.
fn meant(stem: &str) -> &'static [Action] {
    static KNOWN: OnceLock<BTreeMap<String, Vec<Action>>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let mut known: BTreeMap<String, Vec<Action>> = BTreeMap::new();
        for (list, action) in [
            (READ, Action::Read),
            (CREATE, Action::Create),
            (UPDATE, Action::Update),
            (DELETE, Action::Delete),
        ] {
            list.split_whitespace()
                .for_each(|word| known.entry(super::words::stem(word)).or_default().push(action));
        }
        known
    });
    known.get(stem).map_or(&[], Vec::as_slice)
}

/// Returns the actions that the first telling word of a question asks for; none if it could be any.
pub(super) fn asked(question: &str) -> &'static [Action] {
    first(question, 3)
}

/// Returns the actions that the first telling word of one of the texts stands for.
pub(super) fn done(spec: &ToolSpec, summary: &str) -> &'static [Action] {
    let told = first(summary, 1);
    if !told.is_empty() {
        return told;
    }
    let named = first(spec.name.as_str(), 3);
    if named.is_empty() && spec.effects.read_only { &[Action::Read] } else { named }
}

fn first(text: &str, most: usize) -> &'static [Action] {
    let (mut found, mut read): (&[Action], usize) = (&[], 0);
    words(text, |word| {
        if found.is_empty() && read < most {
            read += 1;
            found = meant(&stem(word));
        }
    });
    found
}
