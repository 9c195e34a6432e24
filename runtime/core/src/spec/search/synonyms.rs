//! Synonyms in the names and descriptions of tools.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::words::stem;

/// Groups of words that a model and a tool may use interchangeably: the verbs of most APIs and the usual nouns. A word
/// may be in several groups.
const RELATED: [&str; 44] = [
    "get fetch show read retrieve view look find lookup see display describe request",
    "list all show browse enumerate which every everything index",
    "find search query look lookup",
    "create add new make post insert register set generate build open",
    "add attach put append assign include save",
    "delete remove destroy drop erase purge clear discard rid unassign revoke wipe trash",
    "update edit change modify patch set put replace rename alter adjust",
    "replace overwrite set put",
    "cancel stop abort kill terminate end halt",
    "start begin launch run trigger resume",
    "pause suspend hold",
    "resume continue restart",
    "enable activate allow permit",
    "disable deactivate",
    "approve accept confirm review",
    "reject decline deny refuse",
    "check verify test whether is validate",
    "send submit deliver post",
    "upload import add",
    "download export content",
    "watch follow subscribe observe stream monitor",
    "unsubscribe unfollow unwatch mute",
    "restore undelete recover undo",
    "usage use consumption spend",
    "ask request",
    "user person people member account somebody someone everybody everyone",
    "me myself my current authenticated mine own",
    "organization company enterprise",
    "permission access right role",
    "document file",
    "info information detail metadata",
    "link url address",
    "credential secret password token",
    "notification alert warning",
    "history log version event",
    "comment note remark",
    "latest recent newest last",
    "several multiple many",
    "permanent forever",
    "statistic stat metric analytic count",
    "song track music",
    "podcast show episode",
    "child sub nested below",
    "parent above",
];

/// Forms of the same word: abbreviations and spellings.
const EQUIVALENT: [&str; 19] = [
    "repo repository",
    "org organization organisation",
    "pr pull",
    "config configuration setting preference option",
    "auth authentication authorization login",
    "image picture photo img",
    "doc document",
    "directory dir folder",
    "env environment",
    "var variable",
    "app application",
    "db database",
    "admin administrator",
    "mail email",
    "copy clone duplicate fork",
    "block ban",
    "unblock unban",
    "undelete restore",
    "number no",
];

/// Verbs that consist of two or three words, and the verbs that tools use for them.
const PHRASES: [(&str, &str); 20] = [
    ("get rid of", "delete"),
    ("throw away", "delete"),
    ("take away", "remove"),
    ("take off", "remove"),
    ("take out", "remove"),
    ("turn on", "enable"),
    ("switch on", "enable"),
    ("switched on", "enabled"),
    ("turned on", "enabled"),
    ("turn off", "disable"),
    ("switch off", "disable"),
    ("switched off", "disabled"),
    ("turned off", "disabled"),
    ("look up", "get"),
    ("set up", "create"),
    ("sign up", "register"),
    ("log in", "login"),
    ("sign in", "login"),
    ("log out", "logout"),
    ("for good", "permanently"),
];

/// Returns a query in lower case, with each verb of several words replaced by one verb.
pub(super) fn replace_phrases(query: &str) -> String {
    let lower = query.to_lowercase();
    PHRASES.iter().fold(
        lower,
        |text, (phrase, verb)| if text.contains(phrase) { text.replace(phrase, verb) } else { text },
    )
}

/// Returns the stems of the synonyms of a word, given by its stem, and the weight of each.
pub(super) fn synonyms_of(stem: &str) -> &'static [(String, f32)] {
    static TABLE: OnceLock<BTreeMap<String, Vec<(String, f32)>>> = OnceLock::new();
    TABLE.get_or_init(synonym_table).get(stem).map_or(&[], Vec::as_slice)
}

fn synonym_table() -> BTreeMap<String, Vec<(String, f32)>> {
    let mut table: BTreeMap<String, Vec<(String, f32)>> = BTreeMap::new();
    let groups = EQUIVALENT.iter().map(|group| (group, 1.0)).chain(RELATED.iter().map(|group| (group, 0.4)));
    for (group, weight) in groups {
        let stems: Vec<String> = group.split(' ').map(stem).collect();
        for word in &stems {
            let others = table.entry(word.clone()).or_default();
            others.extend(stems.iter().filter(|other| *other != word).map(|other| (other.clone(), weight)));
        }
    }
    table
}
