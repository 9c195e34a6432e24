//! The rule for tool names, and suggestions for misspelled names.

/// Returns why a string is not a tool name by the rule of `toolgen_runtime::ToolName`, or `None` if it is valid.
pub(crate) fn tool_name_problem(name: &str) -> Option<String> {
    let rule = "a tool name starts with an ASCII letter, contains only ASCII letters, digits, `_` and `-`, and has at most 64 characters";
    let reason = if name.is_empty() {
        "it is empty".to_owned()
    } else if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        "it does not start with a letter".to_owned()
    } else if let Some(invalid) =
        name.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '_' || *c == '-'))
    {
        format!("it contains {invalid:?}")
    } else if name.len() > 64 {
        format!("it has {} characters", name.len())
    } else {
        return None;
    };
    Some(format!("`{name}` is not a tool name: {reason}; {rule}"))
}

/// Returns a title for people: `get_weather` becomes `Get Weather`.
pub(crate) fn title(name: &str) -> String {
    let words = name.split(['_', '-']).filter(|word| !word.is_empty());
    let title_words = words.map(|word| {
        let mut chars = word.chars();
        chars
            .next()
            .map(|first| first.to_uppercase().collect::<String>() + chars.as_str())
            .unwrap_or_default()
    });
    title_words.collect::<Vec<_>>().join(" ")
}

/// Returns the known name that is closest to a misspelled one.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = if length <= 3 { 1 } else { (length / 3).max(2) };
    known
        .map(|candidate| (distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Lists the names in backticks, separated by commas.
pub(crate) fn quoted_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the Levenshtein distance of two strings.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, right) in b.iter().enumerate() {
            let change = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelling_is_recognized() {
        assert_eq!(nearest("defualt", ["default", "range"].into_iter()), Some("default"));
        assert_eq!(nearest("x", ["default", "range"].into_iter()), None);
    }

    #[test]
    fn title_is_human_readable() {
        assert_eq!(title("get_weather-now"), "Get Weather Now");
    }

    #[test]
    fn tool_names_are_validated() {
        assert_eq!(tool_name_problem("get_weather"), None);
        assert!(tool_name_problem("get weather").is_some_and(|text| text.contains("it contains ' '")));
        assert!(tool_name_problem(&"x".repeat(65)).is_some_and(|text| text.contains("65")));
    }
}
