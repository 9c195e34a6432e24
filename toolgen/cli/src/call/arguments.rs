//! Parses the arguments of a call on the command line.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;
use toolgen::Tool;
use toolgen_core::internal::object_in;
use toolgen_runtime::List;
use toolgen_runtime::schema::shape::{Def, Shape};
use toolgen_runtime::spec::plan::{BodySource, Codec, Part};

use super::value::{AcceptedTypes, field};

/// The arguments before they are typed by the schema.
#[derive(Debug)]
pub(super) enum ArgumentInput {
    /// All arguments, as JSON text.
    Json(String),
    /// One argument that is neither JSON nor `NAME=VALUE`, or JSON that is not an object.
    Word(String),
    /// Names and values.
    Pairs(Vec<(String, String)>),
}

/// Parses the arguments of the command line.
///
/// # Errors
///
/// Returns a message if an argument is neither JSON nor `NAME=VALUE`, or if a file cannot be read.
pub(super) fn read(words: &[String]) -> Result<ArgumentInput, String> {
    if let [word] = words {
        if word == "-" || word.starts_with('@') {
            let path = word.strip_prefix('@').unwrap_or(word);
            return String::from_utf8(bytes(path, u64::MAX)?)
                .map(ArgumentInput::Json)
                .map_err(|_| not_utf8(path));
        }
        if pair(word).is_none() {
            let is_json = word.trim().is_empty() || word.trim_start().starts_with(['{', '[', '"']);
            return Ok(if is_json {
                ArgumentInput::Json(word.clone())
            } else {
                ArgumentInput::Word(word.clone())
            });
        }
    }
    let pairs = words.iter().map(|word| match pair(word) {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None if word.trim_start().starts_with('{') => Err(format!(
            "`{word}` holds all arguments as one JSON object; add the others to it, or write each as NAME=VALUE"
        )),
        None if word == "-" || word.starts_with('@') => {
            Err(format!("`{word}` holds all arguments, so no other may follow; for one argument, write NAME={word}"))
        }
        None => Err(format!("`{word}` is neither a JSON object nor of the form NAME=VALUE")),
    });
    Ok(ArgumentInput::Pairs(pairs.collect::<Result<_, _>>()?))
}

/// Splits `NAME=VALUE`.
pub(super) fn pair(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name =
        !name.is_empty() && !name.starts_with(['{', '[', '"']) && !name.contains(char::is_whitespace);
    is_name.then_some((name, value))
}

/// Reads a file of at most `limit` bytes; `-` is standard input.
pub(super) fn bytes(path: &str, limit: u64) -> Result<Vec<u8>, String> {
    let (mut bytes, max_bytes) = (Vec::new(), limit.saturating_add(1));
    let result = match path {
        "-" => {
            let result = io::stdin().take(max_bytes).read_to_end(&mut bytes);
            result.map_err(|error| format!("the standard input cannot be read: {error}"))
        }
        path => {
            let result = fs::File::open(path).and_then(|file| file.take(max_bytes).read_to_end(&mut bytes));
            result.map_err(|error| format!("{path}: {error}"))
        }
    };
    match result?.try_into().unwrap_or(u64::MAX) > limit {
        true => Err(format!("{path}: the file is larger than {limit} bytes (`--max-file`)")),
        false => Ok(bytes),
    }
}

fn not_utf8(path: &str) -> String {
    format!("{path}: not valid UTF-8")
}

impl ArgumentInput {
    /// Returns the arguments for a tool as JSON text, with numbers verbatim. Values are typed by the schema; invalid
    /// values are reported by the validation of arguments, whose messages use the terms of the schema.
    ///
    /// # Errors
    ///
    /// Returns a message about an invalid argument, a repeated name that is not an array, or an unreadable file.
    pub(super) fn for_tool(self, tool: &Tool, max: u64) -> Result<Value, String> {
        let pairs = match self {
            ArgumentInput::Json(text) => return Ok(Value::String(text)),
            ArgumentInput::Word(word) => return Err(invalid_word(&word, tool)),
            ArgumentInput::Pairs(pairs) => pairs,
        };
        let mut arguments = Members::default();
        for (name, value) in pairs {
            let (path, shape) = resolve_path(tool.spec.input.shape(), &name, &tool.spec.defs);
            if is_file(tool, &path) {
                let accepted = AcceptedTypes::of(shape, &tool.spec.defs);
                if let Some(file) = file_of(&name, &value, accepted.text, max)? {
                    arguments.put_file(&path, &name, file, accepted.is_list_only())?;
                    continue;
                }
            }
            arguments.put(&path, &name, &value, shape, &tool.spec.defs)?;
        }
        Ok(Value::String(arguments.json()))
    }
}

/// Whether an argument of a tool is an uploaded file or an array of them.
pub(super) fn is_file(tool: &Tool, path: &[&str]) -> bool {
    let Some(body) = tool.call.http().and_then(|plan| plan.body.as_ref()) else { return false };
    match (&body.codec, &body.source, path) {
        (Codec::Binary, BodySource::Argument(argument), [name]) => argument == *name,
        (Codec::Multipart(parts), source, path) => {
            let part = match (source, path) {
                (BodySource::Fields(fields), [name]) => {
                    // The document may use a different name.
                    let field = fields.iter().find(|field| field.argument == *name || field.name == *name);
                    field.map(|field| field.name.as_str())
                }
                (BodySource::Argument(argument), [first, part]) if argument == *first => Some(*part),
                _ => None,
            };
            part.and_then(|name| Part::of(parts, name)).is_some_and(|part| part.file)
        }
        _ => false,
    }
}

/// Returns the members of a file argument, or `None` if the value is JSON, or a string that the argument also accepts.
///
/// # Errors
///
/// Returns a message if the value or the file is invalid.
fn file_of(name: &str, word: &str, is_text: bool, max: u64) -> Result<Option<Members>, String> {
    let Some(path) = word.strip_prefix('@').filter(|path| !path.starts_with('@')) else {
        let is_json =
            serde_json::from_str::<Value>(word).is_ok_and(|value| !value.is_string() && !value.is_number());
        return match is_json || is_text {
            true => Ok(None),
            false => Err(format!("`{name}` is a file; pass its path: {name}=@{word}")),
        };
    };
    let bytes = bytes(path, max).map_err(|error| format!("`{name}`: {error}"))?;
    let string = |text: String| Member::Value(Value::String(text).to_string());
    let content = STANDARD.encode(bytes);
    let mut fields = vec![("base64".to_owned(), string(content))];
    if let Some(file_name) = Path::new(path).file_name().filter(|_| path != "-") {
        fields.push(("filename".to_owned(), string(file_name.to_string_lossy().into_owned())));
    }
    Ok(Some(Members(fields)))
}

/// Returns the error for an invalid argument, with a suggestion.
fn invalid_word(word: &str, tool: &Tool) -> String {
    let suggestion = if Path::new(word).is_file() {
        format!("; `@{word}` reads the file")
    } else {
        let fields = object_in(&tool.spec.input, &tool.spec.defs).map_or(&[][..], |rules| &*rules.fields);
        let first = fields.iter().find(|field| field.required).or(fields.first());
        first.map_or_else(String::new, |field| format!(", such as {}={word}", field.name))
    };
    format!("`{word}` is neither a JSON object nor of the form NAME=VALUE{suggestion}")
}

/// Returns the path to the field `a.b.c`, and its shape. Names of fields may also contain dots: the longest existing
/// name is used.
fn resolve_path<'n, 's>(
    root: &'s Shape,
    name: &'n str,
    defs: &'s List<Def>,
) -> (Vec<&'n str>, Option<&'s Shape>) {
    let (mut path, mut remaining, mut shape) = (Vec::new(), name, root);
    loop {
        if let Some(field_shape) = field(shape, remaining, defs) {
            path.push(remaining);
            return (path, field_shape);
        }
        let dots = remaining.match_indices('.').map(|(index, _)| index).rev();
        let mut parents = dots
            .filter(|index| *index > 0)
            .filter_map(|index| Some((index, field(shape, remaining.get(..index)?, defs)??)));
        let Some((index, parent)) = parents.next() else {
            path.push(remaining);
            return (path, None);
        };
        let (head, tail) = remaining.split_at(index);
        path.push(head);
        (remaining, shape) = (tail.trim_start_matches('.'), parent);
    }
}

/// An object whose members are JSON texts, growing arrays, or objects.
#[derive(Debug, Default)]
pub(super) struct Members(pub(super) Vec<(String, Member)>);

#[derive(Debug)]
pub(super) enum Member {
    Value(String),
    List(Vec<String>),
    Object(Members),
}

impl Members {
    fn put(
        &mut self,
        path: &[&str],
        name: &str,
        word: &str,
        shape: Option<&Shape>,
        defs: &List<Def>,
    ) -> Result<(), String> {
        let Some((first, rest)) = path.split_first() else { return Ok(()) };
        let existing = self.0.iter_mut().find(|(key, _)| key == first).map(|(_, member)| member);
        if !rest.is_empty() {
            return match existing {
                Some(Member::Object(members)) => members.put(rest, name, word, shape, defs),
                Some(_) => Err(format!("`{first}` is set as a whole, and again by `{name}`")),
                None => {
                    let mut members = Members::default();
                    members.put(rest, name, word, shape, defs)?;
                    self.0.push(((*first).to_owned(), Member::Object(members)));
                    Ok(())
                }
            };
        }
        let accepted = AcceptedTypes::of(shape, defs);
        let word = &content(name, word, &accepted)?;
        match existing {
            Some(Member::List(items)) => items.extend(accepted.items(word, defs)),
            Some(_) => {
                return Err(format!("`{name}` is given twice; write an array as {name}='[\"a\", \"b\"]'"));
            }
            None => {
                let null = accepted.is_list_only() && accepted.json(word, defs) == "null";
                let member = match accepted.is_list_only() && !null {
                    true => Member::List(accepted.items(word, defs)),
                    false => Member::Value(accepted.json(word, defs)),
                };
                self.0.push(((*first).to_owned(), member));
            }
        }
        Ok(())
    }

    /// Adds the members of a file, next to members that were set separately, or as another item of an array.
    fn put_file(&mut self, path: &[&str], name: &str, file: Members, is_list: bool) -> Result<(), String> {
        let Some((first, rest)) = path.split_first() else { return Ok(()) };
        let index = self.0.iter().position(|(key, _)| key == first).unwrap_or(self.0.len());
        if index == self.0.len() {
            let empty = match is_list && rest.is_empty() {
                true => Member::List(Vec::new()),
                false => Member::Object(Members::default()),
            };
            self.0.push(((*first).to_owned(), empty));
        }
        match &mut self.0[index].1 {
            Member::Object(members) if !rest.is_empty() => members.put_file(rest, name, file, is_list),
            Member::List(files) if rest.is_empty() => {
                files.push(file.json());
                Ok(())
            }
            Member::Object(members)
                if members.0.iter().all(|(key, _)| file.0.iter().all(|(new, _)| key != new)) =>
            {
                members.0.extend(file.0);
                Ok(())
            }
            _ => Err(format!("`{name}` is given twice")),
        }
    }

    fn json(&self) -> String {
        let members = self.0.iter().map(|(name, member)| {
            let value = match member {
                Member::Value(text) => text.clone(),
                Member::List(items) => format!("[{}]", items.join(",")),
                Member::Object(members) => members.json(),
            };
            format!("{}:{value}", Value::String(name.clone()))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// Returns the value of an argument: `@FILE` is the content of the file, and `@@` starts a string with `@`.
fn content(name: &str, word: &str, accepted: &AcceptedTypes<'_>) -> Result<String, String> {
    let Some(path) = word.strip_prefix('@') else { return Ok(word.to_owned()) };
    if path.starts_with('@') {
        return Ok(path.to_owned());
    }
    let message =
        |reason| format!("`{name}`: {reason}; write a string that begins with `@` as {name}=@{word}");
    let bytes = bytes(path, u64::MAX).map_err(message)?;
    if accepted.base64 {
        return Ok(if accepted.url_safe { URL_SAFE_NO_PAD.encode(bytes) } else { STANDARD.encode(bytes) });
    }
    let text = String::from_utf8(bytes).map_err(|_| message(not_utf8(path)))?;
    Ok(if accepted.text { text } else { text.trim().to_owned() })
}
