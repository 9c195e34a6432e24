//! Tests of the command-line arguments, and of the pages that document them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;

use clap::Arg;

use super::*;

#[test]
fn every_command_has_a_group_and_valid_examples() {
    let command = command();
    let mut grouped: Vec<&str> = help::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).chain(["help"]).collect();
    grouped.sort_unstable();
    known.sort_unstable();
    assert_eq!(grouped, known);
    for name in known.into_iter().filter(|name| *name != "help") {
        let (_, examples) = help::EXAMPLES.iter().find(|(of, _)| *of == name).unwrap();
        assert!(!examples.is_empty(), "{name}");
        for example in *examples {
            let line = example.split('|').next_back().unwrap().split('>').next().unwrap();
            let words: Vec<OsString> = words(line);
            assert_eq!(words[2], name, "{example}");
            let read = parse([&["cargo-toolgen".into()][..], &words[1..]].concat());
            assert!(read.is_ok(), "{example}: {}", read.unwrap_err());
        }
    }
}

#[test]
fn invalid_value_error_shows_the_usage_of_its_command() {
    for (line, usage) in [
        ("x call api.yaml --base-url 127.0.0.1:80", "Usage: cargo toolgen call "),
        ("x check api.yaml --deny nonsense", "Usage: cargo toolgen check "),
        ("x gen api.yaml --out out --auth token", "Usage: cargo toolgen gen "),
    ] {
        let reason = parse(words(line)).unwrap_err().to_string();
        assert!(reason.contains(usage), "{line}: {reason}");
    }
}

/// Splits a shell command into words; a part in single quotes is one word.
fn words(line: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.into());
        } else {
            words.extend(part.split_whitespace().map(OsString::from));
        }
    }
    words
}

#[test]
fn likeliest_suggestion_comes_first() {
    let messages =
        |words: &[&str]| parse(words.iter().map(OsString::from).collect()).unwrap_err().to_string();
    assert!(messages(&["x", "chek"]).contains("'check', 'schema'"), "{}", messages(&["x", "chek"]));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    assert!(messages(&["x", file]).contains("a command comes first"), "{}", messages(&["x", file]));
    assert!(
        messages(&["x", "https://example.com/api"]).contains("cargo toolgen check https://example.com/api")
    );
}

/// The lines around the generated part of the page; `TOOLGEN_UPDATE=1` rewrites it.
const MARKS: (&str, &str) = ("<!-- generated from the help texts -->\n", "<!-- end -->\n");

#[test]
fn cli_page_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(MARKS.0).unwrap();
    let (_, after) = rest.split_once(MARKS.1).unwrap();
    let written = format!("{before}{}{}{}{after}", MARKS.0, reference(), MARKS.1);
    if std::env::var_os("TOOLGEN_UPDATE").is_some_and(|value| value != "0") {
        std::fs::write(&page, &written).unwrap();
    } else {
        assert!(text == written, "docs/cli.md is out of date; set TOOLGEN_UPDATE=1 to rewrite it");
    }
    for (code, _) in exit_codes() {
        assert!(before.contains(&format!("| {code} |")), "the exit code {code} has no row");
    }
}

/// Returns the exit codes that `--help` lists, with their descriptions.
fn exit_codes() -> Vec<(&'static str, &'static str)> {
    let lines = help::EXIT_CODES.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split_once("  ")).collect()
}

/// Returns the commands with their arguments, in Markdown.
fn reference() -> String {
    let mut program = command();
    program.build();
    let find = |name: &str| program.find_subcommand(name).filter(|_| name != "help");
    let mut text = String::new();
    for (heading, names) in help::GROUPS {
        text.push_str(&format!("**{heading}**\n\n| command | description |\n|---|---|\n"));
        for sub in names.iter().filter_map(|name| find(name)) {
            text.push_str(&format!(
                "| `{}` | {} |\n",
                sub.get_name(),
                cell(&sub.get_about().unwrap().to_string())
            ));
        }
        text.push('\n');
    }
    let graph = find("graph").unwrap();
    let shared: Vec<&Arg> =
        graph.get_arguments().filter(|arg| arg.get_id() != "format" && is_option(arg)).collect();
    text.push_str("### Options of all commands that compile documents\n\n");
    text.push_str(&table(&shared));
    let is_shared = |arg: &Arg| {
        shared.iter().any(|known| {
            known.get_id() == arg.get_id()
                && known.get_help().map(ToString::to_string) == arg.get_help().map(ToString::to_string)
        })
    };
    for sub in help::GROUPS.iter().flat_map(|(_, names)| *names).filter_map(|name| find(name)) {
        let nested: Vec<&Command> = sub.get_subcommands().filter(|sub| sub.get_name() != "help").collect();
        let all = if nested.is_empty() { vec![sub] } else { nested };
        for one in all {
            let mut one = one.clone();
            let usage = one.render_usage().to_string();
            text.push_str(&format!("### `{}`\n\n", usage.trim_start_matches("Usage: ")));
            let compiles = one.get_arguments().any(|arg| is_shared(arg) && arg.get_id() == "quiet");
            let own: Vec<&Arg> = one.get_arguments().filter(|arg| !compiles || !is_shared(arg)).collect();
            text.push_str(&table(&own));
            if compiles {
                text.push_str("Also accepts the options of all commands that compile documents.\n\n");
            }
        }
    }
    text
}

fn is_option(arg: &Arg) -> bool {
    arg.get_long().is_some() && arg.get_id() != "help"
}

/// Returns a table with a row for each argument and option.
fn table(args: &[&Arg]) -> String {
    let args: Vec<&&Arg> = args.iter().filter(|arg| arg.get_id() != "help").collect();
    if args.is_empty() {
        return String::new();
    }
    let mut text = String::from("| argument | description |\n|---|---|\n");
    for arg in args {
        let values = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
        let values = if arg.get_action().takes_values() {
            values.collect::<Vec<_>>().join(" ")
        } else {
            String::new()
        };
        let word = match (arg.get_short(), arg.get_long()) {
            (Some(short), Some(long)) => format!("-{short}, --{long} {values}"),
            (None, Some(long)) if arg.is_require_equals_set() => format!("--{long}[={values}]"),
            (None, Some(long)) => format!("--{long} {values}"),
            _ => values,
        };
        let mut message = arg.get_help().map(ToString::to_string).unwrap_or_default();
        if arg.get_action().takes_values() {
            let possible: Vec<String> =
                arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
            if !possible.is_empty() && !arg.is_hide_possible_values_set() {
                message.push_str(&format!(" ({})", possible.join(", ")));
            }
            let defaults: Vec<String> = arg
                .get_default_values()
                .iter()
                .map(|value| format!("`{}`", value.to_string_lossy()))
                .collect();
            if !defaults.is_empty() {
                message.push_str(&format!(" [default: {}]", defaults.join(" ")));
            }
        }
        text.push_str(&format!("| `{}` | {} |\n", cell(word.trim()), cell(&message)));
    }
    text + "\n"
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
