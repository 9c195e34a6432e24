//! The text form of levers: `compact, parameters=80, ceiling=off`.

use std::fmt;
use std::str::FromStr;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{DEFAULT_CEILING_BYTES, DescriptionLimit, Slim};
use crate::base::frozen::{List, Text};

/// An invalid list of levers.
#[derive(Clone, PartialEq, Eq)]
pub struct SlimError(String);

impl fmt::Display for SlimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

__readable_debug!(SlimError);

impl std::error::Error for SlimError {}

const LEVERS: &str = "`none`, `default`, `compact`, `description=`, `parameters=`, `nested=`, `examples=`, \
                      `closed=`, `optional=`, `depth=`, `inline=`, `ceiling=`";

/// Parses levers that are separated by commas, based on [`Slim::DEFAULT`]; later ones win.
///
/// | lever | value |
/// |---|---|
/// | `none`, `default`, `compact` | all levers as in that constant |
/// | `description`, `parameters`, `nested` | `all`, `none`, a number of characters, `sentence`, or `sentence:N` for its first N characters |
/// | `examples`, `closed` | `keep` or `drop` |
/// | `optional` | `keep`, `drop`, or the names to be kept, as `a+b+c` |
/// | `depth`, `ceiling` | a number, or `off`; `ceiling=on` is the default ceiling |
/// | `inline` | `on` or `off` |
impl FromStr for Slim {
    type Err = SlimError;

    fn from_str(text: &str) -> Result<Slim, SlimError> {
        let mut slim = Slim::DEFAULT;
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let Some((lever, value)) =
                word.split_once('=').map(|(lever, value)| (lever.trim(), value.trim()))
            else {
                slim = match word {
                    "none" => Slim::NONE,
                    "default" => Slim::DEFAULT,
                    "compact" => Slim::COMPACT,
                    _ => return Err(SlimError(format!("unknown lever `{word}`; expected one of {LEVERS}"))),
                };
                continue;
            };
            match lever {
                "description" => slim.description = words(word, value)?,
                "parameters" => slim.parameters = words(word, value)?,
                "nested" => slim.nested = words(word, value)?,
                "examples" => slim.drop_examples = flag(word, value, ["drop", "keep"])?,
                "closed" => slim.drop_closed = flag(word, value, ["drop", "keep"])?,
                "optional" => slim.optional = optional(value),
                "depth" => slim.depth = number(word, value)?,
                "inline" => slim.inline = flag(word, value, ["on", "off"])?,
                "ceiling" if value == "on" => slim.ceiling = Some(DEFAULT_CEILING_BYTES),
                "ceiling" => slim.ceiling = number(word, value)?,
                _ => return Err(SlimError(format!("unknown lever `{lever}`; expected one of {LEVERS}"))),
            }
        }
        Ok(slim)
    }
}

fn words(word: &str, value: &str) -> Result<DescriptionLimit, SlimError> {
    let count = |text: &str| {
        let help = "write `all`, `none`, a number of characters, `sentence` or `sentence:80`";
        text.parse().map_err(|_| SlimError(format!("`{word}`: {help}")))
    };
    match value.split_once(':') {
        Some(("sentence", limit)) => Ok(DescriptionLimit::Sentence(count(limit)?)),
        _ if value == "all" => Ok(DescriptionLimit::All),
        _ if value == "none" => Ok(DescriptionLimit::None),
        _ if value == "sentence" => Ok(DescriptionLimit::Sentence(usize::MAX)),
        _ => Ok(DescriptionLimit::Characters(count(value)?)),
    }
}

fn flag(word: &str, value: &str, [yes, no]: [&str; 2]) -> Result<bool, SlimError> {
    match value {
        _ if value == yes => Ok(true),
        _ if value == no => Ok(false),
        _ => Err(SlimError(format!("`{word}`: write `{yes}` or `{no}`"))),
    }
}

fn number(word: &str, value: &str) -> Result<Option<usize>, SlimError> {
    match value {
        "off" => Ok(None),
        _ => match value.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(SlimError(format!("`{word}`: write a number above 0, or `off`"))),
        },
    }
}

fn optional(value: &str) -> Option<List<Text>> {
    match value {
        "keep" => None,
        "drop" => Some(List::EMPTY),
        names => Some(names.split('+').map(Text::copy_of).collect()),
    }
}

/// Writes the levers that differ from [`Slim::DEFAULT`]; `default` if none does. Parsing the result gives the same
/// value.
impl fmt::Display for Slim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |yes: bool, names: [&'static str; 2]| names[usize::from(!yes)].to_owned();
        let number =
            |value: &Option<usize>| value.map_or_else(|| "off".to_owned(), |value| value.to_string());
        let optional = |kept: &Option<List<Text>>| match kept.as_deref() {
            None => "keep".to_owned(),
            Some([]) => "drop".to_owned(),
            Some(names) => names.iter().map(Text::as_str).collect::<Vec<_>>().join("+"),
        };
        let levers = |slim: &Slim| {
            [
                ("description", slim.description.to_string()),
                ("parameters", slim.parameters.to_string()),
                ("nested", slim.nested.to_string()),
                ("examples", flag(slim.drop_examples, ["drop", "keep"])),
                ("closed", flag(slim.drop_closed, ["drop", "keep"])),
                ("optional", optional(&slim.optional)),
                ("depth", number(&slim.depth)),
                ("inline", flag(slim.inline, ["on", "off"])),
                ("ceiling", number(&slim.ceiling)),
            ]
        };
        let default = levers(&Slim::DEFAULT);
        let own = levers(self).into_iter().filter(|lever| !default.contains(lever));
        let own: Vec<String> = own.map(|(lever, value)| format!("{lever}={value}")).collect();
        f.write_str(if own.is_empty() { "default" } else { "" })?;
        f.write_str(&own.join(", "))
    }
}

impl fmt::Display for DescriptionLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DescriptionLimit::All => f.write_str("all"),
            DescriptionLimit::None => f.write_str("none"),
            DescriptionLimit::Characters(limit) => limit.fmt(f),
            DescriptionLimit::Sentence(usize::MAX) => f.write_str("sentence"),
            DescriptionLimit::Sentence(limit) => write!(f, "sentence:{limit}"),
        }
    }
}

impl Serialize for Slim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Slim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Slim, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
