//! The report as text.

use std::fmt;

use super::{GroupTokens, Parts, Report, Saving, ToolTokens, describe_trims};

/// Maximum number of groups and tools that are listed.
const MAX_ROWS: usize = 20;

pub(super) fn write(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let total = report.total();
    let (tokenizer, count) = (report.tokenizer, report.tools.len());
    writeln!(
        f,
        "{} {}, {} tokens ({}, {}, {}_base)",
        with_separators(count),
        if count == 1 { "tool" } else { "tools" },
        with_separators(total),
        report.dialect,
        report.rendering.name(),
        tokenizer.name(),
    )?;
    let [median, p95, max] = [50, 95, 100].map(|percent| with_separators(report.percentile(percent)));
    writeln!(f, "a tool: median {median}, 95 % up to {p95}, largest {max}")?;
    writeln!(f, "{}", tokenizer.exactness())?;
    writeln!(f, "\nwhere they go")?;
    for (name, tokens) in Parts::NAMES.into_iter().zip(report.parts().numbers()) {
        if tokens > 0 {
            write_row(f, tokens, total, name)?;
        }
    }
    let groups = report.groups();
    if groups.len() > 1 {
        writeln!(f, "\ngroups")?;
        for GroupTokens { name, tools, tokens } in groups.iter().take(MAX_ROWS) {
            let name = if name.is_empty() { "(none)" } else { name };
            write_row(f, *tokens, total, &format!("{name} ({tools})"))?;
        }
        write_more(f, groups.len(), "groups")?;
    }
    writeln!(f, "\nlargest tools")?;
    for tool in report.tools.iter().take(MAX_ROWS) {
        write_row(f, tool.tokens, total, &tool_row(tool))?;
    }
    write_more(f, report.tools.len(), "tools")?;
    let refused: Vec<&ToolTokens> = report.tools.iter().filter(|tool| tool.refused.is_some()).collect();
    if !refused.is_empty() {
        writeln!(
            f,
            "\nnot counted: {} that {} cannot express",
            with_separators(refused.len()),
            report.dialect
        )?;
    }
    if !report.savings.is_empty() {
        writeln!(f, "\nwhat would save most, each alone (`--slim LEVERS`)")?;
        for Saving { levers, tokens } in &report.savings {
            write_row(f, *tokens, total, levers)?;
        }
    }
    Ok(())
}

fn tool_row(tool: &ToolTokens) -> String {
    let trims = describe_trims(tool).map_or_else(String::new, |trims| format!("  [{trims}]"));
    format!("{}{trims}", tool.name)
}

fn write_row(f: &mut fmt::Formatter<'_>, tokens: usize, total: usize, label: &str) -> fmt::Result {
    let share = (tokens * 1_000).checked_div(total).unwrap_or(0);
    writeln!(f, "{:>11}  {:>3}.{} %  {label}", with_separators(tokens), share / 10, share % 10)
}

fn write_more(f: &mut fmt::Formatter<'_>, count: usize, label: &str) -> fmt::Result {
    match count.checked_sub(MAX_ROWS) {
        Some(hidden) if hidden > 0 => {
            writeln!(f, "             … and {} more {label}", with_separators(hidden))
        }
        _ => Ok(()),
    }
}

/// Formats a number with thousands separators: `12,345`.
pub(super) fn with_separators(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
