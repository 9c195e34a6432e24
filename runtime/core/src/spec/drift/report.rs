//! Renders changes as text for people.

use serde_json::Value;

use super::{Change, ChangeClass};
use crate::base::canonical::canonical;

/// Maximum length of the part of a value that is shown, in characters.
const MAX_VALUE_SHOWN: usize = 200;

/// Returns changes as text, the most severe first: the location, what changed, the reason for the class, and the
/// values before and after if they are long.
#[must_use]
pub fn report(changes: &[Change]) -> String {
    let mut text = String::new();
    for class in ChangeClass::ALL.into_iter().rev() {
        let class_changes: Vec<&Change> = changes.iter().filter(|change| change.class == class).collect();
        if class_changes.is_empty() {
            continue;
        }
        text.push_str(&format!("{class} ({}): {}\n", class_changes.len(), class.meaning()));
        for change in class_changes {
            text.push_str(&format!("  {}{}\n", visible(&change.place()), visible(&change.message)));
            if change.reason != class.meaning() {
                text.push_str(&format!("      because {}\n", change.reason));
            }
            if let (Some(before), Some(after)) = (&change.before, &change.after) {
                let (before, after) = (canonical(before), canonical(after));
                // Short values are part of the message.
                if before.len().max(after.len()) > 60 {
                    let (before, after) = first_difference(&before, &after);
                    text.push_str(&format!("      - {}\n      + {}\n", visible(&before), visible(&after)));
                }
            }
        }
    }
    text
}

/// Returns changes as JSON, in the given order.
#[must_use]
pub fn json(changes: &[Change]) -> Value {
    let to_json = |change: &Change| {
        let Change { tool, tools, pointer, class, message, reason, before, after } = change;
        let tools = if tools.is_empty() { std::slice::from_ref(tool) } else { tools };
        let mut out = serde_json::json!({
            "class": class.name(), "tools": tools, "pointer": pointer, "message": message, "why": reason,
        });
        for (key, value) in [("before", before), ("after", after)] {
            if let Some(value) = value {
                out[key] = value.clone();
            }
        }
        out
    };
    changes.iter().map(to_json).collect()
}

/// Returns the number of changes of each class, the most severe first.
#[must_use]
pub fn counted(changes: &[Change]) -> String {
    let counts = ChangeClass::ALL.into_iter().rev().filter_map(|class| {
        let count = changes.iter().filter(|change| change.class == class).count();
        (count > 0).then(|| format!("{count} {class}"))
    });
    counts.collect::<Vec<_>>().join(", ")
}

/// Returns excerpts of two texts around their first difference.
fn first_difference(before: &str, after: &str) -> (String, String) {
    let common = before.chars().zip(after.chars()).take_while(|(left, right)| left == right).count();
    let skipped = common.saturating_sub(MAX_VALUE_SHOWN / 4);
    let excerpt = |text: &str| {
        let start = if skipped > 0 { "…" } else { "" };
        let displayed: String = text.chars().skip(skipped).take(MAX_VALUE_SHOWN).collect();
        let end = if text.chars().count() > skipped + MAX_VALUE_SHOWN { "…" } else { "" };
        format!("{start}{displayed}{end}")
    };
    (excerpt(before), excerpt(after))
}

/// Returns a text of a document or a server in a form that is safe for a terminal: all characters except letters,
/// digits and marks are escaped.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars()
        .flat_map(|char| if is_plain(char) { vec![char] } else { char.escape_unicode().collect() })
        .collect()
}

fn is_plain(char: char) -> bool {
    char.is_ascii_graphic() || char == ' ' || char.is_alphanumeric() || "“”…–".contains(char)
}
