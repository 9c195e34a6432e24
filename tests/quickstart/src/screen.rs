//! Output for a screen of 100 columns.
#![allow(clippy::print_stdout, reason = "what it prints is the purpose of this program")]

use std::fmt::Display;

use serde_json::Value;

const WIDTH: usize = 100;
const INDENT: usize = 13;

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    println!("\n{text}");
}

/// Prints a text next to its label, wrapped at spaces.
pub(crate) fn show(label: impl Display, text: impl Display) {
    let mut label = format!("  {label}");
    for line in wrapped(&text.to_string()) {
        println!("{label:INDENT$}{line}");
        label.clear();
    }
}

/// Prints JSON, indented.
pub(crate) fn details(value: &Value) {
    println!("{value:#}");
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for given in text.lines().filter(|line| !line.trim().is_empty()) {
        lines.push(String::new());
        for word in given.split(' ') {
            match lines.last_mut() {
                Some(line) if line.is_empty() => line.push_str(word),
                Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
    }
    lines
}
