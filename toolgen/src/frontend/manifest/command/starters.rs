//! Programs that start another program and that consume the `--` before its options.

use serde_json::Value;
use toolgen_core::spec::plan::ArgvTemplate;
use toolgen_core::spec::template::Template;

/// Programs that start another program, with the subcommands that do so; an empty list means all subcommands.
pub(super) const STARTERS: [(&str, &[&str]); 26] = [
    ("bash", &[]),
    ("bunx", &[]),
    ("cargo", &["bench", "nextest", "run", "test"]),
    ("dash", &[]),
    ("doas", &[]),
    ("docker", &["compose", "exec", "run"]),
    ("env", &[]),
    ("kubectl", &["debug", "exec", "run"]),
    ("ksh", &[]),
    ("nice", &[]),
    ("nohup", &[]),
    ("npm", &["exec", "run", "test", "x"]),
    ("npx", &[]),
    ("pnpm", &["dlx", "exec", "run"]),
    ("podman", &["exec", "run"]),
    ("setsid", &[]),
    ("sh", &[]),
    ("ssh", &[]),
    ("stdbuf", &[]),
    ("sudo", &[]),
    ("timeout", &[]),
    ("uv", &["run", "tool"]),
    ("uvx", &[]),
    ("xargs", &[]),
    ("yarn", &["dlx", "exec", "run"]),
    ("zsh", &[]),
];

/// Returns the program that starts another program, if values follow a `--` that it consumes: they may be options of
/// the other program, or choose that program.
pub(super) fn starter(words: &[ArgvTemplate]) -> Option<&'static str> {
    let words = flatten(words);
    let program = constant(words.first()?)?;
    let program = program.rsplit('/').next().unwrap_or_default();
    let (name, commands) = STARTERS.iter().find(|(name, _)| *name == program)?;
    let separator = words.iter().position(|word| constant(word).as_deref() == Some("--"))?;
    let (launcher_args, remaining) = (words.get(1..separator)?, words.get(separator + 1..)?);
    let is_start_command =
        |word: &&ArgvTemplate| constant(word).is_some_and(|word| commands.contains(&word.as_str()));
    if !commands.is_empty() && !launcher_args.iter().any(is_start_command) {
        return None;
    }
    let value = remaining.iter().position(|word| {
        matches!(
            word,
            ArgvTemplate::One { allow_leading_dash: false, .. }
                | ArgvTemplate::Each { allow_leading_dash: false, .. }
        ) && constant(word).is_none()
    })?;
    let has_second_separator =
        remaining.iter().take(value).any(|word| constant(word).as_deref() == Some("--"));
    (!has_second_separator).then_some(name)
}

/// Returns the words, including words in groups.
fn flatten<'w>(words: &'w [ArgvTemplate]) -> Vec<&'w ArgvTemplate> {
    let words_of = |word: &'w ArgvTemplate| match word {
        ArgvTemplate::Group { words, .. } => flatten(words),
        word => vec![word],
    };
    words.iter().flat_map(words_of).collect()
}

/// Returns the string of a word that has no placeholders.
fn constant(word: &ArgvTemplate) -> Option<String> {
    match word {
        ArgvTemplate::One { text: Template::Constant(text), .. } => match serde_json::from_str(text) {
            Ok(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
