//! Test scripts: files with cases of commands, and their reviewed output in lines that start with `> `.
//!
//! `== NAME` starts a case, and `#` a comment. Any other line is a command and its argument; lines after it that start
//! with a space continue the argument. `TOOLGEN_UPDATE=1` rewrites the output.

use std::path::Path;

use serde_json::Value;

use crate::golden;

/// One case of a script: its name, and its lines.
struct Case<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases = vec![Case { name: "", lines: Vec::new() }];
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            cases.push(Case { name, lines: Vec::new() });
        }
        if let Some(case) = cases.last_mut() {
            case.lines.push(line);
        }
    }
    cases
}

/// Runs a case, and returns its lines with the actual output.
fn replayed(case: &Case<'_>, act: &mut dyn FnMut(&str, &str) -> Vec<String>) -> Vec<String> {
    let mut lines = case.lines.iter().filter(|line| !line.starts_with('>')).peekable();
    let mut out = Vec::new();
    while let Some(line) = lines.next() {
        out.push((*line).to_owned());
        if line.is_empty() || line.starts_with(['#', '=']) {
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut rest = rest.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with(' ')) {
            out.push((*more).to_owned());
            rest.push('\n');
            rest.push_str(more);
        }
        let found = act(word, &rest);
        out.extend(found.iter().flat_map(|text| text.split('\n')).map(marked));
    }
    out
}

/// Returns a line of output. A trailing space is marked, so that it is visible.
fn marked(line: &str) -> String {
    match line {
        "" => ">".to_owned(),
        line if line.ends_with(char::is_whitespace) => format!("> {line}¶"),
        line => format!("> {line}"),
    }
}

/// Runs all cases of a script, each with a new `act`, which takes a command and its argument and returns the output.
///
/// # Panics
///
/// Panics if the output of a case differs, with the names of all such cases, or if there are no cases.
#[track_caller]
pub fn replay<Act: FnMut(&str, &str) -> Vec<String>>(file: &Path, mut begin: impl FnMut() -> Act) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (mut whole, mut wrong, mut done) = (String::new(), String::new(), 0);
    for case in cases(&text) {
        let mut act = begin();
        let found = replayed(&case, &mut |word, rest| {
            done += 1;
            act(word, rest)
        });
        if found != case.lines {
            let difference = golden::difference(&case.lines.join("\n"), &found.join("\n"));
            wrong.push_str(&format!("== {}: {difference}\n", case.name));
        }
        whole.extend(found.iter().flat_map(|line| [line.as_str(), "\n"]));
    }
    assert!(done > 0, "{} says nothing to do", file.display());
    if !wrong.is_empty() && !golden::updating() {
        panic!("{}\n{wrong}TOOLGEN_UPDATE=1 accepts it; read the difference.", file.display());
    }
    golden::assert_golden(file, &whole);
}

/// Parses the JSON values in a text.
///
/// # Panics
///
/// Panics if the text contains anything else.
#[track_caller]
pub fn values(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    values.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns a value after `set` with a JSON pointer and a new value, or after `remove` with the pointer of a member.
///
/// # Panics
///
/// Panics if the parent of the pointer, or the member to remove, does not exist.
#[track_caller]
pub fn changed(value: &Value, word: &str, rest: &str) -> Value {
    let mut value = value.clone();
    let arguments = values(rest);
    let (parent, key) = arguments[0].as_str().and_then(|pointer| pointer.rsplit_once('/')).unwrap();
    let parent = value.pointer_mut(parent).unwrap_or_else(|| panic!("{rest}: there is no such place"));
    match word {
        "set" => match parent.as_array_mut() {
            Some(items) => items[key.parse::<usize>().unwrap()] = arguments[1].clone(),
            None => parent[key] = arguments[1].clone(),
        },
        "remove" => {
            let removed = parent.as_object_mut().unwrap().shift_remove(key);
            drop(removed.unwrap_or_else(|| panic!("{rest}: there is no such member")));
        }
        other => panic!("there is no word `{other}`"),
    }
    value
}
