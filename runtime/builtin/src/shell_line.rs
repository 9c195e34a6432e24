//! Parses shell commands to find the programs that they start.
//!
//! It handles quotes, separators, substitutions and programs that start other programs, but it is not a shell: a
//! command can hide a program from it deliberately. It prevents accidents without rejecting text that only looks like
//! a command.

mod lexer;

use std::collections::BTreeMap;

use lexer::Lexer;
use toolgen_exec::LAUNCHER_PROGRAMS;

/// Maximum nesting depth of commands; deeper commands are not inspected.
const MAX_NESTING: usize = 8;
/// Maximum size of nested commands that are inspected, in bytes. Words that start other commands in several ways
/// could multiply the text at every level. Top-level commands are always inspected.
const MAX_INNER_BYTES: usize = 1 << 20;
/// Reserved words before the name of a program.
const RESERVED_WORDS: &[&str] =
    &["!", "{", "}", "builtin", "command", "do", "elif", "else", "if", "then", "time", "until", "while"];

/// The parsed commands of a shell script.
#[derive(Debug)]
pub(super) struct Script {
    /// The commands: programs and their arguments, without quotes.
    pub(super) commands: Vec<Vec<String>>,
    /// All unquoted text, without white space.
    unquoted: String,
    /// The remaining part of [`MAX_INNER_BYTES`].
    remaining_bytes: usize,
}

impl Script {
    /// Parses a script.
    pub(super) fn parse(text: &str) -> Script {
        let mut script =
            Script { commands: Vec::new(), unquoted: String::new(), remaining_bytes: MAX_INNER_BYTES };
        let mut variables = BTreeMap::new();
        script.add_script(text, &mut variables, 0);
        script
    }

    /// Returns the first program of this list that the script starts.
    pub(super) fn find_program<'p>(&self, programs: &[&'p str]) -> Option<&'p str> {
        let names: Vec<String> = self.commands.iter().map(|command| program_name(&command[0])).collect();
        programs.iter().copied().find(|program| names.iter().any(|name| name == program))
    }

    /// Returns the first of these patterns that matches a command, see [`Bash::deny`](super::Bash::deny).
    pub(super) fn find_pattern<'p>(&self, patterns: &'p [impl AsRef<str>]) -> Option<&'p str> {
        let matches = |pattern: &&str| {
            if pattern.contains("(){") {
                return self.unquoted.contains(pattern);
            }
            let words: Vec<&str> = pattern.split_whitespace().collect();
            self.commands.iter().any(|command| command_matches(command, &words))
        };
        patterns.iter().map(AsRef::as_ref).find(matches)
    }

    fn add_script(&mut self, text: &str, variables: &mut BTreeMap<String, String>, depth: usize) {
        if depth > MAX_NESTING {
            return;
        }
        let mut lexer = Lexer::new(text, variables);
        lexer.run();
        let Lexer { commands, substitutions, unquoted, .. } = lexer;
        if depth == 0 {
            self.unquoted = unquoted;
        }
        for command in commands {
            self.add_command(&command, variables, depth);
        }
        for text in substitutions {
            self.add_script(&text, variables, depth + 1);
        }
    }

    /// Adds a command, and the commands that it starts.
    fn add_command(&mut self, words: &[String], variables: &mut BTreeMap<String, String>, depth: usize) {
        if depth > MAX_NESTING {
            return;
        }
        let is_prefix = |word: &&String| RESERVED_WORDS.contains(&word.as_str()) || is_assignment(word);
        let words = &words[words.iter().take_while(is_prefix).count()..];
        let Some((program, arguments)) = words.split_first() else { return };
        if depth > 0 {
            let length = words.iter().map(|word| word.len() + 1).sum();
            let Some(remaining) = self.remaining_bytes.checked_sub(length) else { return };
            self.remaining_bytes = remaining;
        }
        self.commands.push(words.to_vec());
        let program = program_name(program);
        if program == "eval" {
            return self.add_script(&arguments.join(" "), variables, depth + 1);
        }
        if let Some(index) =
            arguments.iter().position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok"))
        {
            self.add_command(&arguments[index + 1..], variables, depth + 1);
        }
        if !LAUNCHER_PROGRAMS.contains(&program.as_str()) {
            return;
        }
        let is_script =
            |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        if program.ends_with("sh")
            && let Some(index) = arguments.iter().position(is_script)
        {
            let script = arguments.get(index + 1).cloned().unwrap_or_default();
            return self.add_script(&script, variables, depth + 1);
        }
        let is_option = |word: &String| word.starts_with('-') || is_assignment(word) || is_number(word);
        let Some(first) = arguments.iter().position(|word| !is_option(word)) else { return };
        self.add_command(&arguments[first..], variables, depth + 1);
        // The word may be the value of a preceding option: the next word is then the program.
        if first > 0 {
            self.add_command(&arguments[first + 1..], variables, depth + 1);
        }
    }
}

/// Whether a command matches a pattern.
fn command_matches(command: &[String], pattern: &[&str]) -> bool {
    let Some((program, arguments)) = pattern.split_first() else { return false };
    let name = program_name(&command[0]);
    let is_named = name == *program || name.strip_prefix(program).is_some_and(|rest| rest.starts_with('.'));
    let is_flag_word = |word: &str| word.len() > 1 && word.starts_with('-') && !word.starts_with("--");
    is_named
        && arguments.iter().all(|argument| {
            if is_flag_word(argument) {
                let flags = command
                    .iter()
                    .filter(|word| is_flag_word(word))
                    .flat_map(|word| word.chars())
                    .collect::<String>();
                return argument.chars().all(|flag| flags.contains(flag));
            }
            command[1..]
                .iter()
                .any(|word| word == argument || (argument.ends_with('=') && word.starts_with(argument)))
        })
}

/// Returns the name of a program without its directory.
fn program_name(program: &str) -> String {
    program.rsplit('/').next().unwrap_or(program).to_ascii_lowercase()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use toolgen_exec::BANNED_PROGRAMS;
    use toolgen_test_support::{cpu_time, script};

    #[test]
    fn command_lines_match_the_script() {
        let patterns = ["rm -rf /", "rm -rf /*", "mkfs", "dd if=", ":(){:|:&};:"];
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/shell_line/tests/lines.txt");
        script::replay(&file, || {
            |word, rest| {
                let script = Script::parse(&serde_json::from_str::<String>(rest).unwrap());
                let found = match word {
                    "starts" => script.find_program(BANNED_PROGRAMS),
                    "matches" => script.find_pattern(&patterns),
                    other => panic!("there is no word `{other}`"),
                };
                vec![found.unwrap_or("nothing").to_owned()]
            }
        });
    }

    proptest! {
        #[test]
        fn command_on_its_own_line_is_found_after_any_text(
            text in r"[a-z0-9 =./-]{0,20}",
            any in r#"[a $(){}`'"\\<>|&;#=\n\t!-]{0,60}"#,
        ) {
            let _ = Script::parse(&any);
            let script = format!("echo {text}\ncurl x");
            prop_assert_eq!(Script::parse(&script).find_program(&["curl"]), Some("curl"));
            let quoted = format!("echo '{text}; curl x'");
            prop_assert_eq!(Script::parse(&quoted).find_program(&["curl"]), None);
        }
    }

    #[test]
    fn long_or_deep_command_line_parses_quickly() {
        let deep = "$(".repeat(50_000);
        let nested = "bash -c ".repeat(20_000);
        let starters = "sudo -u ".repeat(20_000);
        for script in [deep, nested, starters, "'".repeat(100_001), "a=$a$a; ".repeat(60)] {
            let (_, elapsed) = cpu_time(|| Script::parse(&script));
            assert!(elapsed.as_secs() < 5, "{script:.20}: {elapsed:?}");
        }
    }

    #[test]
    fn nested_launchers_do_not_multiply() {
        for bomb in ["env -exec env ", "env -u env env ", "env -exec eval env -u eval "] {
            let text = format!("{}; curl x", bomb.repeat(1_000));
            let (script, elapsed) = cpu_time(|| Script::parse(&text));
            let size: usize = script.commands.iter().flatten().map(|word| word.len() + 1).sum();
            assert!(
                size <= MAX_INNER_BYTES + text.len() && elapsed.as_secs() < 5,
                "{bomb}: {size}, {elapsed:?}"
            );
            assert_eq!(script.find_program(&["curl"]), Some("curl"), "{bomb}");
        }
    }
}
