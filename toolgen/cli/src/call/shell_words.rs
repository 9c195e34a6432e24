//! Words of a POSIX shell: text that a shell reads as exactly one argument, and that survives being pasted into a
//! terminal.

use toolgen_runtime::printable;

/// Words that a shell reads as syntax if they are not quoted.
const RESERVED: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "time", "until", "while",
];

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// The value of an environment variable, by its name.
    Variable(String),
}

/// Whether text can be pasted as it is: a terminal acts on control characters, and does not show others.
pub(super) fn can_be_pasted(text: &str) -> bool {
    text.chars().all(|char| char == '\n' || !char.is_control()) && printable(text) == text
}

/// Returns text as one word.
pub(super) fn word(text: &str) -> String {
    // `a=b` is an assignment before a command, and `=a` a path in zsh.
    let is_plain = |char: char| {
        char.is_ascii_alphanumeric() || "_-./:@%+,".contains(char) || char == '=' && text.starts_with('-')
    };
    if !text.is_empty() && text.chars().all(is_plain) && !RESERVED.contains(&text) {
        return text.to_owned();
    }
    if can_be_pasted(text) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    // A substitution drops the line breaks at its end.
    let start = text.trim_end_matches('\n');
    let breaks = text.get(start.len()..).unwrap_or_default();
    let breaks = if breaks.is_empty() { String::new() } else { format!("'{breaks}'") };
    format!("\"$({})\"{breaks}", print(start.as_bytes()))
}

/// Returns parts as one word.
pub(super) fn word_of(parts: &[Part]) -> String {
    let is_safe = |text: &str| can_be_pasted(text) && !text.contains(['"', '$', '`', '\\', '!', '\n']);
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        let text: String = parts.iter().map(text_of).collect();
        return word(&text);
    }
    if !parts.iter().all(|part| is_safe(text_of(part))) {
        return parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => word(text),
                Part::Variable(name) => format!("\"{}\"", value_of(name, "")),
            })
            .collect();
    }
    let mut out = String::from("\"");
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable(name) => {
                out.push_str(&value_of(name, parts.get(index + 1).map_or("", text_of)));
            }
        }
    }
    out + "\""
}

/// Returns the text of a part; empty for a variable.
fn text_of(part: &Part) -> &str {
    match part {
        Part::Text(text) => text,
        Part::Variable(_) => "",
    }
}

/// Returns the value of a variable within double quotes, before some text.
fn value_of(name: &str, next: &str) -> String {
    let is_name_char = |char: char| char.is_ascii_alphanumeric() || char == '_';
    if !name.chars().all(is_name_char) || name.starts_with(|char: char| char.is_ascii_digit()) {
        // A shell has no syntax for a variable of another name.
        return format!("$(printenv {})", word(name));
    }
    if next.starts_with(is_name_char) { format!("${{{name}}}") } else { format!("${name}") }
}

/// Returns a command that prints these bytes.
pub(super) fn print(bytes: &[u8]) -> String {
    let mut format = String::with_capacity(bytes.len());
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'%' => format.push_str("%%"),
            b'\\' => format.push_str("\\\\"),
            b'\n' => format.push_str("\\n"),
            // `'` ends the format, `!` is expanded by interactive shells, and `-` starts an option.
            b'\'' | b'!' => format.push_str(&format!("\\{byte:03o}")),
            b'-' if index == 0 => format.push_str("\\055"),
            b' '..=b'~' => format.push(char::from(*byte)),
            _ => format.push_str(&format!("\\{byte:03o}")),
        }
    }
    format!("printf '{format}'")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Returns what a shell passes to a command, or `None` without a shell.
    fn read_by_shell(shell: &str, words: &str) -> Option<Vec<u8>> {
        let script = format!("show() {{ printf '%s\\0' \"$@\"; }}\nshow {words}");
        let output = Command::new(shell).args(["-c", &script]).env("NAME", "a $b \"c\"\n").output().ok()?;
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        Some(output.stdout)
    }

    const TEXTS: [&str; 24] = [
        "",
        "plain",
        "-n",
        "--limit=5",
        "a=b",
        "=ls",
        "~",
        "time",
        "two words",
        "it's",
        "''",
        "$HOME `id` \\",
        "a\nb\n",
        "\n\n",
        "tab\there",
        "bell\u{7}\n\n",
        "\u{1b}[2J",
        "-\r\n",
        "100% \\n %s\r",
        "!! \"x\"",
        "é \u{202e}",
        "*?[a]",
        "#no comment",
        "'\u{1}!'",
    ];

    #[test]
    fn shells_read_each_word_as_its_text() {
        let words: Vec<String> = TEXTS.iter().map(|text| word(text)).collect();
        let expected: Vec<u8> = TEXTS.iter().flat_map(|text| [text.as_bytes(), b"\0"].concat()).collect();
        let shells = ["sh", "bash", "zsh"].iter().filter_map(|shell| read_by_shell(shell, &words.join(" ")));
        let read: Vec<Vec<u8>> = shells.collect();
        assert!(!read.is_empty(), "there is a shell");
        for bytes in read {
            assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&expected));
        }
        for word in words {
            assert!(can_be_pasted(&word), "{word:?}");
        }
    }

    #[test]
    fn shells_insert_variables_into_words() {
        let text = |text: &str| Part::Text(text.to_owned());
        let variable = || Part::Variable("NAME".to_owned());
        let value = "a $b \"c\"\n";
        let pairs = TEXTS.iter().flat_map(|before| TEXTS.iter().map(move |after| (before, after)));
        let words = pairs.clone().map(|(before, after)| word_of(&[text(before), variable(), text(after)]));
        let words: Vec<String> = words.collect();
        let expected: String = pairs.map(|(before, after)| format!("{before}{value}{after}\0")).collect();
        if let Some(read) = read_by_shell("sh", &words.join(" ")) {
            assert_eq!(String::from_utf8_lossy(&read), expected);
        }
        assert_eq!(word_of(&[text("Authorization: Bearer "), variable()]), "\"Authorization: Bearer $NAME\"");
        assert_eq!(word_of(&[variable(), text("s")]), "\"${NAME}s\"");
        assert_eq!(word_of(&[Part::Variable("my-key".to_owned())]), "\"$(printenv my-key)\"");
    }

    #[test]
    fn printed_bytes_are_those_given() {
        let bytes: Vec<u8> = (0..=255).chain(*b"-x").collect();
        for bytes in [&bytes[..], b"-n", b"%d\\055", b""] {
            for shell in ["sh", "bash", "zsh"] {
                if let Ok(output) = Command::new(shell).args(["-c", &print(bytes)]).output() {
                    assert_eq!(output.stdout, bytes, "{shell}");
                }
            }
        }
    }
}
