//! Tests of hostile values in every part of a tool's data: each arrives unchanged as one value, or is rejected.

use std::collections::BTreeMap;

use serde_json::Map;
use toolgen_runtime::engine::command::CommandEngine;

use crate::engines::{command, one, spec, text, toolbox_in};
use crate::prelude::*;

/// Number of generated values.
pub(crate) const VALUES: usize = 10_000;
/// Number of values per process.
const BATCH: usize = 100;

const PIECES: &[&str] = &[
    "'",
    "\"",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    ";",
    "&&",
    "||",
    "|",
    "&",
    ">",
    "<",
    "$(id)",
    "`id`",
    "$HOME",
    "${IFS}",
    "-",
    "--",
    "-rf",
    "--help",
    "..",
    "../",
    "/",
    "/etc/passwd",
    "~",
    "*",
    "?",
    "!",
    "\\",
    "\\0",
    "\\n",
    "%00",
    "%2e%2e",
    "%s",
    "%n",
    "{v0}",
    "{v1?}",
    "{{",
    "}}",
    "@file",
    "=",
    "#",
    "+",
    ",",
    ":",
    "\0",
    "\u{1b}[31m",
    "\u{7f}",
    "\u{85}",
    "\u{202e}",
    "\u{200f}",
    "\u{2066}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{301}",
    "é",
    "日本",
    "😀",
    "a",
    "name",
    "0",
    "null",
    "true",
    "sh",
    "-c",
];

/// The values, the same in every run.
pub(crate) fn values() -> Vec<String> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = move |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit as u64).unwrap()
    };
    let mut values = vec![String::new()];
    values.extend(PIECES.iter().map(ToString::to_string));
    while values.len() < VALUES {
        let count = 1 + below(7);
        let value: String = (0..count).map(|_| PIECES[below(PIECES.len())]).collect();
        let times = if below(200) == 0 { 1 + below(5_000) / value.len() } else { 1 };
        values.push(value.repeat(times));
    }
    values
}

/// A part of a command, with the values in it and the report that its program must print.
struct Place {
    name: &'static str,
    plan: CommandPlan,
    /// Whether all values form one array.
    list: bool,
    is_refused: fn(&str) -> bool,
    /// The report of a value, each part terminated by U+0000.
    reported: fn(&str) -> String,
}

fn has_nul(value: &str) -> bool {
    value.contains('\0')
}

fn is_bare(value: &str) -> bool {
    has_nul(value) || value.starts_with('-')
}

/// A program that prints its arguments, each terminated by U+0000.
fn prints(words: impl Iterator<Item = ArgvTemplate>) -> CommandPlan {
    let argv = [one("printf"), one("%s\\0")].into_iter().chain(words).collect();
    CommandPlan { argv, max_output: 16 << 20, ..CommandPlan::EMPTY }
}

fn each(word: impl Fn(usize) -> ArgvTemplate) -> impl Iterator<Item = ArgvTemplate> {
    (0..BATCH).map(word)
}

fn variables() -> List<(Text, toolgen_runtime::spec::template::Template)> {
    let variable = |index| (Text::from(format!("V{index}")), text(&format!("{{v{index}}}")));
    (0..BATCH).map(variable).collect()
}

fn places() -> Vec<Place> {
    let location = |name, plan| Place {
        name,
        plan,
        list: false,
        is_refused: is_bare,
        reported: |value| format!("{value}\0"),
    };
    let whole = |index| one(&format!("{{v{index}}}"));
    let optional = |index| ArgvTemplate::Group {
        condition: None,
        words: vec![one("-o"), one(&format!("{{v{index}?}}"))].into(),
    };
    let after = || [one("printf"), one("--"), one("%s\\0")].into_iter();
    let script = |script: String, argv: List<ArgvTemplate>| CommandPlan {
        script: script.into(),
        argv,
        ..prints([].into_iter())
    };
    let named: String = (0..BATCH).map(|index| format!(" \"$V{index}\"")).collect();
    let separated: String = (0..BATCH).map(|index| format!("{{v{index}}}\0")).collect();
    vec![
        location("whole argument", prints(each(whole))),
        Place {
            is_refused: has_nul,
            reported: |value| format!("x={value}.txt\0"),
            ..location("part of an argument", prints(each(|index| one(&format!("x={{v{index}}}.txt")))))
        },
        Place {
            reported: |value| format!("{value}.txt\0"),
            ..location("start of an argument", prints(each(|index| one(&format!("{{v{index}}}.txt")))))
        },
        Place {
            is_refused: has_nul,
            ..location(
                "after --",
                CommandPlan { argv: after().chain(each(whole)).collect(), ..prints([].into_iter()) },
            )
        },
        Place { reported: |value| format!("-o\0{value}\0"), ..location("group", prints(each(optional))) },
        Place {
            list: true,
            ..location(
                "spread",
                prints([ArgvTemplate::Each { list: text("{all}"), allow_leading_dash: false }].into_iter()),
            )
        },
        Place {
            is_refused: has_nul,
            ..location(
                "variable",
                CommandPlan { env: variables(), max_output: 16 << 20, ..command(&["env", "-0"]) },
            )
        },
        Place {
            is_refused: has_nul,
            ..location(
                "variable of a script",
                CommandPlan { env: variables(), ..script(format!("printf '%s\\0'{named}"), List::EMPTY) },
            )
        },
        location("position of a script", script("printf '%s\\0' \"$@\"".to_owned(), each(whole).collect())),
        Place {
            // It is allowed in this place, but separates the values of this test.
            is_refused: |_| false,
            ..location(
                "input",
                CommandPlan {
                    stdin: Stdin::Text(text(&separated)),
                    max_output: 16 << 20,
                    ..command(&["cat"])
                },
            )
        },
    ]
}

fn toolbox(place: &Place, engine: CommandEngine) -> Toolbox {
    let arguments: Vec<String> =
        (0..BATCH).map(|index| format!("v{index}?")).chain(["all?".to_owned()]).collect();
    let names: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let tool = Tool { spec: spec("run", &names), call: ExecutionPlan::Command(place.plan.clone()) };
    toolbox_in(Engines::new().with(engine).tools_from([tool]).unwrap(), ToolboxContext::new())
}

async fn call(toolbox: &Toolbox, place: &Place, values: &[&str]) -> ToolResponse {
    let arguments = if place.list {
        json!({ "all": values })
    } else {
        let by_name =
            values.iter().enumerate().map(|(index, value)| (format!("v{index}"), Value::from(*value)));
        Value::Object(by_name.collect::<Map<_, _>>())
    };
    toolbox.run(ToolCall::new("1", "run", arguments), &Turn::new("turn")).await
}

/// Returns the report of the values.
fn told(place: &Place, text: &str) -> String {
    if place.name != "variable" {
        return text.to_owned();
    }
    let set: BTreeMap<&str, &str> = text.split('\0').filter_map(|line| line.split_once('=')).collect();
    (0..BATCH).map(|index| format!("{}\0", set[format!("V{index}").as_str()])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_value_is_passed_whole_or_rejected() {
    let values: Arc<Vec<String>> = Arc::new(values());
    let mut running = tokio::task::JoinSet::new();
    for place in places() {
        let values = Arc::clone(&values);
        running.spawn(async move {
            let (refused, accepted): (Vec<&str>, Vec<&str>) =
                values.iter().map(String::as_str).partition(|value| (place.is_refused)(value));
            assert!(accepted.len() > VALUES / 2, "{}: {}", place.name, accepted.len());
            let real = toolbox(&place, CommandEngine::new().executor(LocalExecutor::new()));
            for batch in accepted.chunks(BATCH) {
                let mut batch = batch.to_vec();
                batch.resize(BATCH, "x");
                let response = call(&real, &place, &batch).await;
                assert!(!response.is_error(), "{}: {}", place.name, response.text());
                let expected: String = batch.iter().map(|value| (place.reported)(value)).collect();
                assert!(told(&place, &response.text()) == expected, "{}: {batch:?}", place.name);
            }
            let executor = Arc::new(ScriptedExecutor::default());
            let none = toolbox(&place, CommandEngine::new().executor(Arc::clone(&executor)));
            for value in refused {
                let mut batch = vec!["x"; BATCH];
                batch[BATCH / 2] = value;
                let error = call(&none, &place, &batch).await.outcome.unwrap_err();
                assert_eq!(error.code(), "INVALID_PARAMS", "{}: {value:?}", place.name);
            }
            assert!(executor.commands().is_empty(), "{}", place.name);
        });
    }
    while let Some(place) = running.join_next().await {
        place.unwrap();
    }
}

/// Records the options of a program and runs nothing.
#[derive(Default)]
struct Asked(Mutex<Option<ExecOptions>>);

impl Executor for Asked {
    fn run<'a>(
        &'a self,
        _: &'a [String],
        options: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        *self.0.lock().unwrap() = Some(options.clone());
        Box::pin(std::future::ready(Ok(ExecOutput::default())))
    }
}

#[tokio::test]
async fn directory_argument_stays_below_the_work_dir() {
    let root = std::env::temp_dir().join(format!("toolgen-injection-{}", std::process::id()));
    fs::create_dir_all(&root).unwrap();
    let root = root.canonicalize().unwrap();
    let plan = CommandPlan { work_dir: Some(text("{v0}")), ..command(&["pwd"]) };
    let executor = Arc::new(Asked::default());
    let context = || ToolboxContext::new().with_work_dir(&root);
    let tools = |engine| {
        let tool = Tool { spec: spec("run", &["v0"]), call: ExecutionPlan::Command(plan.clone()) };
        toolbox_in(Engines::new().with(engine).tools_from([tool]).unwrap(), context())
    };
    let dry = tools(CommandEngine::new().executor(Arc::clone(&executor)));
    let real = tools(CommandEngine::new().executor(LocalExecutor::new()));
    let mut made = 0;
    for value in values() {
        let asked = async |toolbox: &Toolbox| {
            let call = ToolCall::new("1", "run", json!({ "v0": value }));
            toolbox.run(call, &Turn::new("turn")).await
        };
        let refused = asked(&dry).await.is_error();
        let options = executor.0.lock().unwrap().take();
        match options {
            None => assert!(refused, "{value:?}"),
            Some(options) => {
                let inside = root.join(&value);
                assert_eq!(options.work_dir.as_ref(), Some(&inside), "{value:?}");
                assert!(inside.components().all(|part| part != std::path::Component::ParentDir), "{value:?}");
                if made < 200 && !value.contains('/') && fs::create_dir_all(&inside).is_ok() {
                    made += 1;
                    let expected = format!("{}\n", inside.display());
                    let expected = if value.is_empty() { format!("{}\n", root.display()) } else { expected };
                    assert_eq!(asked(&real).await.text(), expected, "{value:?}");
                }
            }
        }
    }
    assert_eq!(made, 200);
    fs::remove_dir_all(&root).unwrap();
}
