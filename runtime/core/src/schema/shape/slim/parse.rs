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

/// Parses levers that are separated by commas, based on [`Slim::DEFAULT`]; later levers win.
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
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let Some((lever, value)) =
                entry.split_once('=').map(|(lever, value)| (lever.trim(), value.trim()))
            else {
                slim = match entry {
                    "none" => Slim::NONE,
                    "default" => Slim::DEFAULT,
                    "compact" => Slim::COMPACT,
                    _ => return Err(SlimError(format!("unknown lever `{entry}`; expected one of {LEVERS}"))),
                };
                continue;
            };
            match lever {
                "description" => slim.description = parse_limit(entry, value)?,
                "parameters" => slim.parameters = parse_limit(entry, value)?,
                "nested" => slim.nested = parse_limit(entry, value)?,
                "examples" => slim.drop_examples = parse_flag(entry, value, ["drop", "keep"])?,
                "closed" => slim.drop_closed = parse_flag(entry, value, ["drop", "keep"])?,
                "optional" => slim.optional = parse_optional(value),
                "depth" => slim.depth = parse_number(entry, value)?,
                "inline" => slim.inline = parse_flag(entry, value, ["on", "off"])?,
                "ceiling" if value == "on" => slim.ceiling = Some(DEFAULT_CEILING_BYTES),
                "ceiling" => slim.ceiling = parse_number(entry, value)?,
                _ => return Err(SlimError(format!("unknown lever `{lever}`; expected one of {LEVERS}"))),
            }
        }
        Ok(slim)
    }
}

fn parse_limit(entry: &str, value: &str) -> Result<DescriptionLimit, SlimError> {
    let count = |text: &str| {
        let help = "write `all`, `none`, a number of characters, `sentence` or `sentence:80`";
        text.parse().map_err(|_| SlimError(format!("`{entry}`: {help}")))
    };
    match value.split_once(':') {
        Some(("sentence", limit)) => Ok(DescriptionLimit::Sentence(count(limit)?)),
        _ if value == "all" => Ok(DescriptionLimit::All),
        _ if value == "none" => Ok(DescriptionLimit::None),
        _ if value == "sentence" => Ok(DescriptionLimit::Sentence(usize::MAX)),
        _ => Ok(DescriptionLimit::Characters(count(value)?)),
    }
}

fn parse_flag(entry: &str, value: &str, [yes, no]: [&str; 2]) -> Result<bool, SlimError> {
    match value {
        _ if value == yes => Ok(true),
        _ if value == no => Ok(false),
        _ => Err(SlimError(format!("`{entry}`: write `{yes}` or `{no}`"))),
    }
}

fn parse_number(entry: &str, value: &str) -> Result<Option<usize>, SlimError> {
    match value {
        "off" => Ok(None),
        _ => match value.parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(SlimError(format!("`{entry}`: write a number above 0, or `off`"))),
        },
    }
}

fn parse_optional(value: &str) -> Option<List<Text>> {
    match value {
        "keep" => None,
        "drop" => Some(List::EMPTY),
        names => Some(names.split('+').map(Text::copy_of).collect()),
    }
}

/// Writes the levers that differ from [`Slim::DEFAULT`], or `default` if no lever differs. Parsing the result gives
/// the same value.
impl fmt::Display for Slim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag_text = |is_set: bool, names: [&'static str; 2]| names[usize::from(!is_set)].to_owned();
        let number_text =
            |value: &Option<usize>| value.map_or_else(|| "off".to_owned(), |value| value.to_string());
        let names_text = |names: &Option<List<Text>>| match names.as_deref() {
            None => "keep".to_owned(),
            Some([]) => "drop".to_owned(),
            Some(names) => names.iter().map(Text::as_str).collect::<Vec<_>>().join("+"),
        };
        let levers = |slim: &Slim| {
            [
                ("description", slim.description.to_string()),
                ("parameters", slim.parameters.to_string()),
                ("nested", slim.nested.to_string()),
                ("examples", flag_text(slim.drop_examples, ["drop", "keep"])),
                ("closed", flag_text(slim.drop_closed, ["drop", "keep"])),
                ("optional", names_text(&slim.optional)),
                ("depth", number_text(&slim.depth)),
                ("inline", flag_text(slim.inline, ["on", "off"])),
                ("ceiling", number_text(&slim.ceiling)),
            ]
        };
        let default = levers(&Slim::DEFAULT);
        let changed = levers(self).into_iter().filter(|lever| !default.contains(lever));
        let changed: Vec<String> = changed.map(|(lever, value)| format!("{lever}={value}")).collect();
        f.write_str(if changed.is_empty() { "default" } else { "" })?;
        f.write_str(&changed.join(", "))
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
