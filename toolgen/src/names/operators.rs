//! Replaces signs of keys by words: `StartTime<=` becomes `StartTime_lte`.

/// Comparisons, the longer ones first, and the words for them in services and query languages.
const COMPARISONS: [(&str, &str); 8] = [
    ("<=", "lte"),
    (">=", "gte"),
    ("!=", "ne"),
    ("<>", "ne"),
    ("==", "eq"),
    ("<", "lt"),
    (">", "gt"),
    ("=", "eq"),
];

/// Returns a key in which a comparison at its end or in brackets, and any sign before its first letter or digit, are
/// words: the signs carry the meaning of such keys.
pub(crate) fn spelled(key: &str) -> String {
    let (start, rest) = match key.strip_prefix(['+', '-']) {
        Some(rest) if rest.starts_with(|char: char| char.is_ascii_alphanumeric()) => {
            (if key.starts_with('+') { "plus_" } else { "minus_" }, rest)
        }
        _ => ("", key),
    };
    let end = rest.trim_end_matches([']', ')']);
    let compared = COMPARISONS.iter().find_map(|(sign, word)| Some((end.strip_suffix(sign)?, word)));
    // The end of `list<item>` is not a comparison.
    let compared =
        compared.filter(|(of, word)| **word != "gt" || of.matches('<').count() <= of.matches('>').count());
    match compared {
        Some((of, word)) if !of.is_empty() && !of.ends_with(['<', '>', '=', '!']) => {
            format!("{start}{}_{word}", of.trim_end_matches(['[', '(', '_', ' ']))
        }
        _ => format!("{start}{rest}"),
    }
}

/// Returns a key with all signs as words, if they have names.
pub(crate) fn worded(key: &str) -> String {
    let key = spelled(key);
    let mut out = String::with_capacity(key.len());
    for char in key.chars() {
        match sign(char) {
            // It is a separator, except at the start.
            Some(_) if char == '-' && !out.is_empty() => out.push(char),
            Some(word) => {
                if !out.is_empty() && !out.ends_with('_') {
                    out.push('_');
                }
                out += word;
                out.push('_');
            }
            None => out.push(char),
        }
    }
    if key.ends_with('_') { out } else { out.trim_end_matches('_').to_owned() }
}

/// Returns the name of a sign. Separators (`_`, space, `/`, `.`, `:`, `,`, quotes) have none.
pub(crate) fn sign(char: char) -> Option<&'static str> {
    Some(match char {
        '+' => "plus",
        '-' => "minus",
        '<' => "lt",
        '>' => "gt",
        '=' => "eq",
        '!' => "not",
        '*' => "star",
        '%' => "percent",
        '&' => "and",
        '|' => "or",
        '@' => "at",
        '#' => "hash",
        '$' => "dollar",
        '^' => "caret",
        '~' => "tilde",
        '?' => "question",
        _ => return None,
    })
}
