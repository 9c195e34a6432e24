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
pub(crate) fn spell_comparisons(key: &str) -> String {
    let (start, body) = match key.strip_prefix(['+', '-']) {
        Some(body) if body.starts_with(|char: char| char.is_ascii_alphanumeric()) => {
            (if key.starts_with('+') { "plus_" } else { "minus_" }, body)
        }
        _ => ("", key),
    };
    let end = body.trim_end_matches([']', ')']);
    let comparison = COMPARISONS.iter().find_map(|(sign, word)| Some((end.strip_suffix(sign)?, word)));
    // The end of `list<item>` is not a comparison.
    let comparison = comparison.filter(|(operand, word)| {
        **word != "gt" || operand.matches('<').count() <= operand.matches('>').count()
    });
    match comparison {
        Some((operand, word)) if !operand.is_empty() && !operand.ends_with(['<', '>', '=', '!']) => {
            format!("{start}{}_{word}", operand.trim_end_matches(['[', '(', '_', ' ']))
        }
        _ => format!("{start}{body}"),
    }
}

/// Returns a key with all signs that have names as words.
pub(crate) fn spell_signs(key: &str) -> String {
    let key = spell_comparisons(key);
    let mut out = String::with_capacity(key.len());
    for char in key.chars() {
        match sign_word(char) {
            // `-` is a separator, except at the start.
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
pub(crate) fn sign_word(char: char) -> Option<&'static str> {
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
