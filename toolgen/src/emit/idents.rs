//! Turns names of a document into Rust names.
//!
//! Names of a document can be any string. Rust names here are ASCII (other letters are valid but cause warnings about
//! scripts and look-alikes), unique after case folding (so that neither a reader nor a file system confuses two),
//! never a keyword, and independent of the rest of the document unless they collide.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{sign_word, spell_comparisons, spell_signs};

/// The names of one scope.
#[derive(Debug, Default)]
pub(super) struct Names {
    used: BTreeSet<String>,
    /// The next free number of each name: thousands of values may request the same one.
    next: BTreeMap<String, usize>,
    /// Whether they are names of types or variants.
    camel: bool,
}

impl Names {
    /// Creates a scope of values, fields or modules with these names taken.
    pub(super) fn reserving(names: &[&str]) -> Names {
        let used = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Names { used, ..Names::default() }
    }

    /// Creates a scope of types or variants with these names taken.
    pub(super) fn of_types(names: &[&str]) -> Names {
        Names { camel: true, ..Names::reserving(names) }
    }

    /// Reserves the name, or the name with the first number that makes it unique.
    pub(super) fn take(&mut self, preferred: &str) -> String {
        self.take_free(preferred, |used, name| used.insert(name))
    }

    /// Reserves the name, or the name with this ending if it is taken.
    pub(super) fn take_or(&mut self, preferred: &str, ending: &str) -> String {
        let longer = format!("{}{ending}", preferred.trim_end_matches('_'));
        let is_longer_free = !self.is_free(preferred) && self.is_free(&longer);
        self.take(if is_longer_free { &longer } else { preferred })
    }

    /// Reserves a name that is also free with the prefix `TOOL_`: the names of a tool's static and constant.
    pub(super) fn take_pair(&mut self, preferred: &str) -> String {
        self.take_free(preferred, |used, name| {
            let constant = format!("tool_{name}");
            !used.contains(&constant) && used.insert(name) && used.insert(constant)
        })
    }

    /// Reserves the name of a field for a key. If keys differ only in a sign, the later names contain it as a
    /// word.
    pub(super) fn take_field(&mut self, key: &str) -> String {
        let plain = snake(&spell_comparisons(key));
        let name = if self.is_free(&plain) { plain } else { snake(&spell_signs(key)) };
        self.take(&name)
    }

    /// Whether [`take`](Self::take) would return the name without a number.
    pub(super) fn is_free(&self, preferred: &str) -> bool {
        !self.used.contains(&preferred.to_ascii_lowercase())
    }

    fn take_free(&mut self, preferred: &str, take: impl Fn(&mut BTreeSet<String>, String) -> bool) -> String {
        let next = self.next.entry(preferred.to_ascii_lowercase()).or_insert(1);
        loop {
            let name = numbered(preferred, *next, self.camel);
            *next += 1;
            if take(&mut self.used, name.to_ascii_lowercase()) {
                return name;
            }
        }
    }
}

fn numbered(preferred: &str, number: usize, camel: bool) -> String {
    if number == 1 {
        return preferred.to_owned();
    }
    // A number makes the `_` after a keyword unnecessary, and two in a row are not Rust style.
    let preferred = preferred.trim_end_matches('_');
    // `Pet2`, but `V1_2`, and `PETS_2`.
    let joined = camel && !preferred.ends_with(|c: char| c.is_ascii_digit());
    if joined { format!("{preferred}{number}") } else { format!("{preferred}_{number}") }
}

/// Returns a name such as `LIST_PETS`.
pub(super) fn screaming(text: &str) -> String {
    let joined = words(text).join("_").to_ascii_uppercase();
    fix_start(joined, "N")
}

/// Returns a name such as `list_pets`, never a keyword.
pub(super) fn snake(text: &str) -> String {
    let joined = fix_start(words(text).join("_"), "n");
    if is_keyword(&joined) { joined + "_" } else { joined }
}

/// Returns a name such as `ListPets`.
pub(super) fn camel(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut previous_digit = false;
    for word in words(text) {
        // `v1_2` and `v12` are distinct names.
        if previous_digit && word.starts_with(|c: char| c.is_ascii_digit()) {
            joined.push('_');
        }
        previous_digit = word.ends_with(|c: char| c.is_ascii_digit());
        let mut letters = word.chars();
        joined.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        joined.extend(letters);
    }
    let joined = fix_start(joined, "N");
    if joined == "Self" { "Self_".to_owned() } else { joined }
}

fn fix_start(name: String, prefix: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("{prefix}{name}") } else { name }
}

/// Splits a string into words in lower case; never empty.
///
/// Words end at characters other than letters and digits, before a capital after a small letter, and before the last
/// capital of a run (`HTTPServer`), unless a plural or a version follows (`IDs`, `UUIDv4`). Signs are words where
/// they carry the meaning: at the start (`-created`) and in a string that consists only of signs (`>=`).
pub(super) fn words(text: &str) -> Vec<String> {
    let signs_matter = !text.chars().any(|c| c.is_ascii_alphanumeric());
    let is_foreign = !text.chars().any(|c| c.is_ascii_alphabetic());
    let mut words: Vec<String> = Vec::new();
    let mut current = String::new();
    let chars: Vec<char> = text.chars().collect();
    for (index, &c) in chars.iter().enumerate() {
        if c.is_ascii_alphanumeric() {
            let previous = index.checked_sub(1).and_then(|i| chars.get(i));
            if starts_word(previous.copied(), c, chars.get(index + 1..).unwrap_or_default()) {
                flush(&mut current, &mut words);
            }
            current.push(c.to_ascii_lowercase());
            continue;
        }
        flush(&mut current, &mut words);
        let is_leading = index == 0 && chars.len() > 1;
        match sign_word(c) {
            Some(word) if is_leading || signs_matter => words.push(word.to_owned()),
            None if is_foreign && c.is_alphanumeric() => words.push(format!("u{:x}", u32::from(c))),
            _ => {}
        }
    }
    flush(&mut current, &mut words);
    if words.is_empty() {
        words.push(if text.is_empty() { "empty" } else { "other" }.to_owned());
    }
    words
}

fn starts_word(previous: Option<char>, c: char, following: &[char]) -> bool {
    let Some(previous) = previous else { return false };
    let ends_run = match following {
        // The plural or the version of an abbreviation in capitals: `IDs`, `IPv4`.
        ['s', ..] | [] => false,
        ['v', digit, ..] if digit.is_ascii_digit() => false,
        [next, ..] => next.is_ascii_lowercase(),
    };
    c.is_ascii_uppercase()
        && (previous.is_ascii_lowercase()
            || previous.is_ascii_digit()
            || (previous.is_ascii_uppercase() && ends_run))
}

fn flush(current: &mut String, words: &mut Vec<String>) {
    if !current.is_empty() {
        words.push(std::mem::take(current));
    }
}

/// Whether a name is a keyword of any edition, reserved ones included.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 54] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
        "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
        "static", "struct", "super", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized",
        "use", "virtual", "where", "while", "yield", "raw", "safe",
    ];
    KEYWORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{Names, camel, screaming, snake};

    #[test]
    fn names_are_split_into_natural_words() {
        assert_eq!(screaming("listPets"), "LIST_PETS");
        assert_eq!(screaming("getHTTPServer"), "GET_HTTP_SERVER");
        assert_eq!(screaming("pets__list-all"), "PETS_LIST_ALL");
        assert_eq!(camel("list_pets_v2"), "ListPetsV2");
        assert_eq!(camel("listIDs"), "ListIds");
        assert_eq!(
            [snake("IPv4"), snake("peerIPv6Address"), camel("UUIDv4")],
            ["ipv4", "peer_ipv6_address", "Uuidv4"]
        );
        assert_eq!([camel("URLvalue"), camel("HTTPv")], ["UrLvalue", "HttPv"]);
        assert_eq!(snake("filter[createdAt]"), "filter_created_at");
    }

    #[test]
    fn any_name_becomes_an_identifier() {
        assert_eq!(camel("+1"), "Plus1");
        assert_eq!(camel("-1"), "Minus1");
        assert_eq!([camel(">"), camel(">="), camel("<")], ["Gt", "GtEq", "Lt"]);
        assert_eq!(camel(""), "Empty");
        assert_eq!(camel("  "), "Other");
        assert_eq!(camel("Etc/GMT+0"), "EtcGmt0");
        assert_eq!(camel("1.5"), "N1_5");
        assert_eq!(snake("type"), "type_");
        assert_eq!(snake("$top"), "dollar_top");
        assert_eq!(snake("2fa"), "n2fa");
        assert_eq!(camel("self"), "Self_");
        assert_eq!(camel("価格"), "U4fa1U683c");
    }

    #[test]
    fn operators_in_keys_become_words() {
        let mut names = Names::default();
        let keys =
            ["StartTime", "StartTime<", "StartTime>=", "created[>]", "+1", "-1", "name", "name*", "name**"];
        let fields = keys.map(|key| names.take_field(key));
        let first = ["start_time", "start_time_lt", "start_time_gte", "created_gt", "plus_1", "minus_1"];
        assert_eq!(fields[..6], first);
        assert_eq!(fields[6..], ["name", "name_star", "name_star_star"]);
    }

    #[test]
    fn names_of_a_scope_are_unique_ignoring_case() {
        let mut names = Names::reserving(&["TOOLS"]);
        assert_eq!([names.take("TOOLS"), names.take("PETS")], ["TOOLS_2", "PETS"]);
        assert_eq!([names.take("type_"), names.take("type_")], ["type_", "type_2"]);
        assert_eq!([names.take_pair("A"), names.take_pair("TOOL_A")], ["A", "TOOL_A_2"]);
        assert_eq!([names.take_pair("B"), names.take("b_2"), names.take_pair("b")], ["B", "b_2", "b_3"]);
        let mut names = Names::of_types(&["Value"]);
        assert_eq!([names.take("Pet"), names.take("PET"), names.take("Pet")], ["Pet", "PET2", "Pet3"]);
        assert_eq!([names.take("V1"), names.take("V1"), names.take("Value")], ["V1", "V1_2", "Value2"]);
        assert_eq!([names.take("A"), names.take("A")], ["A", "A2"]);
        assert_eq!([(); 3].map(|()| names.take_or("B", "Data")), ["B", "BData", "B2"]);
        assert_eq!([names.take("Self_"), names.take("Self_")], ["Self_", "Self2"]);
    }
}
