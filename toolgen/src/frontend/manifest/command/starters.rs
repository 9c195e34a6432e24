//! Programs that start another one and that do not recognise `--` as the end of its options.

use serde_json::Value;
use toolgen_core::spec::plan::ArgvTemplate;
use toolgen_core::spec::template::Template;

/// Programs that start another one, with the subcommands that do so; an empty list means any.
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

/// Returns the program that starts another one, if values follow a `--` that belongs to the other one: they may be
/// its options, or choose it.
pub(super) fn starter(words: &[ArgvTemplate]) -> Option<&'static str> {
    let words = flat(words);
    let program = constant(words.first()?)?;
    let program = program.rsplit('/').next().unwrap_or_default();
    let (name, commands) = STARTERS.iter().find(|(name, _)| *name == program)?;
    let end = words.iter().position(|word| constant(word).as_deref() == Some("--"))?;
    let (before, after) = (words.get(1..end)?, words.get(end + 1..)?);
    let starts = |word: &&ArgvTemplate| constant(word).is_some_and(|word| commands.contains(&word.as_str()));
    if !commands.is_empty() && !before.iter().any(starts) {
        return None;
    }
    let value = after.iter().position(|word| {
        matches!(
            word,
            ArgvTemplate::One { allow_leading_dash: false, .. }
                | ArgvTemplate::Each { allow_leading_dash: false, .. }
        ) && constant(word).is_none()
    })?;
    let own = after.iter().take(value).any(|word| constant(word).as_deref() == Some("--"));
    (!own).then_some(name)
}

/// Returns the words, including those in groups.
fn flat<'w>(words: &'w [ArgvTemplate]) -> Vec<&'w ArgvTemplate> {
    let of = |word: &'w ArgvTemplate| match word {
        ArgvTemplate::Group { words, .. } => flat(words),
        word => vec![word],
    };
    words.iter().flat_map(of).collect()
}

/// Returns the string of a word without placeholders.
fn constant(word: &ArgvTemplate) -> Option<String> {
    match word {
        ArgvTemplate::One { text: Template::Constant(text), .. } => match serde_json::from_str(text) {
            Ok(Value::String(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
