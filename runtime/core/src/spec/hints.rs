//! Properties of a tool for the tool interfaces of vendors and of MCP, in addition to its schema.

use serde_json::{Map, Value, json};

use super::ToolSpec;
use super::strict_reader::{LockProblem, Reader};
use crate::base::frozen::{List, Text};
use crate::schema::shape::{Kind, object_in};

/// Properties of a tool for the tool interfaces of vendors and of MCP, in addition to its schema.
///
/// They are written where an interface has them. They never change what a call does, or who may make it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hints {
    /// Who is offered the tool, if a vendor runs programs of the model.
    pub callers: Callers,
    /// Whether the vendor sends arguments while the model writes them, unchecked. Useful for long texts.
    pub eager_input: bool,
    /// The form of the arguments.
    pub input_format: InputFormat,
    /// The icons, for people.
    pub icons: List<Icon>,
    /// Additional data for MCP clients, as a JSON object: the member `_meta` of the tool. Empty for none.
    pub meta: Text,
}

impl Hints {
    /// No hints.
    pub const NONE: Hints = Hints {
        callers: Callers::Model,
        eager_input: false,
        input_format: InputFormat::Json,
        icons: List::EMPTY,
        meta: Text::EMPTY,
    };
}

/// Who is offered a tool, if the vendor runs programs that the model writes. Otherwise, the model is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Callers {
    /// The model.
    #[default]
    Model,
    /// Programs. The program sees the results, and the model sees what the program prints.
    Programs,
    /// Both.
    Both,
}

impl Callers {
    /// All values.
    pub const ALL: [Callers; 3] = [Callers::Model, Callers::Programs, Callers::Both];

    /// Returns `model`, `programs` or `both`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Callers::Model => "model",
            Callers::Programs => "programs",
            Callers::Both => "both",
        }
    }
}

/// The form in which a model writes the arguments of a tool.
///
/// Some vendors let a model write plain text instead of JSON, for a tool whose only argument is a required string with
/// the name `input`: that text. For the other vendors, it is an ordinary argument, and the description
/// states the grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputFormat {
    /// A JSON object that matches the schema.
    #[default]
    Json,
    /// Any text.
    Text,
    /// A text in this Lark grammar.
    Lark(Text),
    /// A text that matches this regular expression.
    Regex(Text),
}

/// An icon of a tool, as MCP describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// The URL: `https:` or `data:`.
    pub src: Text,
    /// The media type, such as `image/png`. Empty if the server of the icon states it.
    pub mime_type: Text,
    /// The sizes, such as `48x48` or `any`.
    pub sizes: List<Text>,
    /// The background that it is for: `light` or `dark`. Empty for both.
    pub theme: Text,
}

impl Icon {
    /// Returns the icon as MCP writes it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = json!({ "src": self.src.as_str() });
        for (key, text) in [("mimeType", &self.mime_type), ("theme", &self.theme)] {
            if !text.is_empty() {
                out[key] = text.as_str().into();
            }
        }
        if !self.sizes.is_empty() {
            out["sizes"] = self.sizes.iter().map(|size| Value::from(size.as_str())).collect();
        }
        out
    }
}

/// The keys of hints.
const KEYS: [&str; 5] = ["callers", "eager_input", "input_format", "icons", "meta"];

/// What a manifest and a lock must contain.
const HELP: &str = "hints are `callers`, `eager_input`, `input_format`, `icons` and `meta`";

impl Hints {
    /// Returns the additional data for MCP clients, if there is any.
    #[must_use]
    pub fn meta(&self) -> Option<Value> {
        let meta: Value = serde_json::from_str(&self.meta).ok()?;
        meta.as_object().is_some_and(|members| !members.is_empty()).then_some(meta)
    }

    /// Returns the hints as an object without defaults, or `None` if there are none.
    #[must_use]
    pub fn to_json(&self) -> Option<Value> {
        let Hints { callers, eager_input, input_format, icons, meta: _ } = self;
        let mut out = Map::new();
        let mut add =
            |key: &str, value: Option<Value>| out.extend(value.map(|value| (key.to_owned(), value)));
        add("callers", (*callers != Callers::Model).then(|| callers.as_str().into()));
        add("eager_input", eager_input.then_some(true.into()));
        add(
            "input_format",
            match input_format {
                InputFormat::Json => None,
                InputFormat::Text => Some("text".into()),
                InputFormat::Lark(grammar) => Some(json!({ "lark": grammar.as_str() })),
                InputFormat::Regex(pattern) => Some(json!({ "regex": pattern.as_str() })),
            },
        );
        add("icons", (!icons.is_empty()).then(|| icons.iter().map(Icon::to_json).collect()));
        add("meta", self.meta());
        (!out.is_empty()).then_some(Value::Object(out))
    }

    /// Parses hints from an object.
    ///
    /// # Errors
    ///
    /// Returns all errors, with their locations in the object.
    pub fn from_json(value: &Value) -> Result<Hints, Vec<LockProblem>> {
        let mut reader = Reader::new(HELP);
        let hints = reader.read_hints(value, "");
        if reader.problems.is_empty() { Ok(hints) } else { Err(reader.problems) }
    }
}

impl ToolSpec {
    /// Whether a model can write the arguments as plain text: the only one is a required string with the name `input`.
    #[must_use]
    pub fn takes_text(&self) -> bool {
        object_in(&self.input, &self.defs).is_some_and(|rules| {
            matches!(&*rules.fields, [field] if field.required
                && field.wire_name() == "input"
                && matches!(field.shape.kind, Kind::String(_)))
        })
    }
}

impl Reader {
    /// Parses the member `hints` of a tool.
    pub(super) fn read_hints(&mut self, value: &Value, pointer: &str) -> Hints {
        self.keys(value, pointer, &KEYS);
        let mut hints = Hints::NONE;
        if value.get("callers").is_some() {
            let word = self.text(value, pointer, "callers");
            match Callers::ALL.into_iter().find(|callers| callers.as_str() == word) {
                Some(callers) => hints.callers = callers,
                None => self.fail(
                    format!("{pointer}/callers"),
                    "`callers` is neither `model`, `programs` nor `both`",
                ),
            }
        }
        hints.eager_input = self.read_flag(value, pointer, "eager_input").unwrap_or_default();
        if let Some(format) = value.get("input_format") {
            hints.input_format = self.read_input_format(format, &format!("{pointer}/input_format"));
        }
        hints.icons = self.read_objects(value, pointer, "icons", Reader::read_icon);
        match value.get("meta") {
            None => {}
            Some(meta @ Value::Object(_)) => hints.meta = meta.to_string().into(),
            Some(_) => self.fail(format!("{pointer}/meta"), "`meta` is not an object"),
        }
        hints
    }

    fn read_input_format(&mut self, format: &Value, pointer: &str) -> InputFormat {
        match format {
            Value::String(word) if word == "json" => return InputFormat::Json,
            Value::String(word) if word == "text" => return InputFormat::Text,
            Value::Object(members) if members.len() == 1 => {
                for (key, wrap) in
                    [("lark", InputFormat::Lark as fn(Text) -> _), ("regex", InputFormat::Regex)]
                {
                    if members.contains_key(key) {
                        return wrap(self.text(format, pointer, key).into());
                    }
                }
            }
            _ => {}
        }
        self.fail(
            pointer,
            "`input_format` is neither `json`, `text`, `{\"lark\": GRAMMAR}` nor `{\"regex\": PATTERN}`",
        );
        InputFormat::Json
    }

    fn read_icon(&mut self, icon: &Value, pointer: &str) -> Icon {
        self.keys(icon, pointer, &["src", "mimeType", "sizes", "theme"]);
        let src = self.text(icon, pointer, "src");
        if !["https://", "http://", "data:"].iter().any(|scheme| src.starts_with(scheme)) {
            self.fail(format!("{pointer}/src"), "`src` is not a URL of `https` or `data`");
        }
        let theme = self.optional_text(icon, pointer, "theme");
        if !matches!(theme.as_str(), "" | "light" | "dark") {
            self.fail(format!("{pointer}/theme"), "`theme` is neither `light` nor `dark`");
        }
        Icon {
            src: src.into(),
            mime_type: self.optional_text(icon, pointer, "mimeType"),
            sizes: self.optional_texts(icon, pointer, "sizes"),
            theme,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_survive_json() {
        let json = json!({
            "callers": "both", "eager_input": true, "input_format": {"lark": "start: /[a-z]+/"},
            "icons": [{"src": "https://example.com/a.png", "mimeType": "image/png", "theme": "dark", "sizes": ["48x48"]}],
            "meta": {"example.com/team": "pets"},
        });
        let hints = Hints::from_json(&json).unwrap();
        assert_eq!(hints.to_json(), Some(json));
        assert_eq!(Hints::NONE.to_json(), None);
        assert_eq!(Hints::from_json(&json!({})), Ok(Hints::NONE));
    }

    #[test]
    fn all_errors_of_hints_are_returned() {
        let json = json!({
            "callers": "me", "eager_input": 1, "input_format": {"ebnf": ""}, "meta": [], "extra": 1,
            "icons": [{"src": "javascript:1", "theme": "red"}],
        });
        let problems = Hints::from_json(&json).unwrap_err();
        let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [
                "/extra",
                "/callers",
                "/eager_input",
                "/input_format",
                "/icons/0/src",
                "/icons/0/theme",
                "/meta"
            ]
        );
    }
}
