//! The report as text.

use std::fmt;

use super::{GroupTokens, Parts, Report, Saving, ToolTokens, trimmed};

/// Maximum number of groups and tools that are listed.
const MAX_ROWS: usize = 20;

pub(super) fn write(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let total = report.total();
    let (tokenizer, count) = (report.tokenizer, report.tools.len());
    writeln!(
        f,
        "{} {}, {} tokens ({}, {}, {}_base)",
        grouped(count),
        if count == 1 { "tool" } else { "tools" },
        grouped(total),
        report.dialect,
        report.rendering.name(),
        tokenizer.name(),
    )?;
    let [median, p95, max] = [50, 95, 100].map(|percent| grouped(report.percentile(percent)));
    writeln!(f, "a tool: median {median}, 95 % up to {p95}, largest {max}")?;
    writeln!(f, "{}", tokenizer.exactness())?;
    writeln!(f, "\nwhere they go")?;
    for (name, tokens) in Parts::NAMES.into_iter().zip(report.parts().numbers()) {
        if tokens > 0 {
            row(f, tokens, total, name)?;
        }
    }
    let groups = report.groups();
    if groups.len() > 1 {
        writeln!(f, "\ngroups")?;
        for GroupTokens { name, tools, tokens } in groups.iter().take(MAX_ROWS) {
            let name = if name.is_empty() { "(none)" } else { name };
            row(f, *tokens, total, &format!("{name} ({tools})"))?;
        }
        more(f, groups.len(), "groups")?;
    }
    writeln!(f, "\nlargest tools")?;
    for tool in report.tools.iter().take(MAX_ROWS) {
        row(f, tool.tokens, total, &tool_row(tool))?;
    }
    more(f, report.tools.len(), "tools")?;
    let refused: Vec<&ToolTokens> = report.tools.iter().filter(|tool| tool.refused.is_some()).collect();
    if !refused.is_empty() {
        writeln!(f, "\nnot counted: {} that {} cannot express", grouped(refused.len()), report.dialect)?;
    }
    if !report.savings.is_empty() {
        writeln!(f, "\nwhat would save most, each alone (`--slim LEVERS`)")?;
        for Saving { levers, tokens } in &report.savings {
            row(f, *tokens, total, levers)?;
        }
    }
    Ok(())
}

fn tool_row(tool: &ToolTokens) -> String {
    let trimmed = trimmed(tool).map_or_else(String::new, |trimmed| format!("  [{trimmed}]"));
    format!("{}{trimmed}", tool.name)
}

fn row(f: &mut fmt::Formatter<'_>, tokens: usize, total: usize, what: &str) -> fmt::Result {
    let share = (tokens * 1_000).checked_div(total).unwrap_or(0);
    writeln!(f, "{:>11}  {:>3}.{} %  {what}", grouped(tokens), share / 10, share % 10)
}

fn more(f: &mut fmt::Formatter<'_>, count: usize, what: &str) -> fmt::Result {
    match count.checked_sub(MAX_ROWS) {
        Some(rest) if rest > 0 => writeln!(f, "             … and {} more {what}", grouped(rest)),
        _ => Ok(()),
    }
}

/// Formats a number with thousands separators: `12,345`.
pub(super) fn grouped(number: usize) -> String {
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
