//! Prompts at a terminal for a tool and its arguments.

use std::io::{self, BufRead, Write};

use toolgen::Tool;
use toolgen_core::internal::object_in;
use toolgen_runtime::printable;
use toolgen_runtime::schema::shape::Field;

/// Maximum number of tools to list.
const MAX_TOOLS_SHOWN: usize = 20;

/// Prompts for a tool by number, name, or a word of its name or description. `None` if the user enters nothing.
pub(super) fn tool<'t>(
    tools: &[&'t Tool],
    input: &mut impl BufRead,
    screen: &mut impl Write,
) -> io::Result<Option<&'t Tool>> {
    let mut visible: Vec<&Tool> = tools.to_vec();
    loop {
        show(&visible, screen)?;
        let Some(entry) =
            read_entry("tool (a number, a name or part of a name; empty to quit)", input, screen)?
        else {
            return Ok(None);
        };
        let by_number = entry.parse::<usize>().ok().and_then(|number| visible.get(number.checked_sub(1)?));
        let by_name = || tools.iter().find(|tool| tool.spec.name.as_str() == entry);
        if let Some(tool) = by_number.or_else(by_name) {
            return Ok(Some(tool));
        }
        let words: Vec<String> = entry.split_whitespace().map(str::to_lowercase).collect();
        let matches = |tool: &&&Tool| {
            let text = format!("{} {} {}", tool.spec.name.as_str(), tool.origin.title, tool.spec.description);
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let matching: Vec<&Tool> = tools.iter().filter(matches).copied().collect();
        match matching.as_slice() {
            [] => writeln!(screen, "no tool has `{}` in its name or description", printable(&entry))?,
            [only] => return Ok(Some(only)),
            _ => visible = matching,
        }
    }
}

fn show(tools: &[&Tool], screen: &mut impl Write) -> io::Result<()> {
    let visible = tools.get(..MAX_TOOLS_SHOWN).unwrap_or(tools);
    let width = visible.iter().map(|tool| tool.spec.name.as_str().len()).max().unwrap_or(0);
    for (index, tool) in visible.iter().enumerate() {
        let description = tool.spec.description.lines().next().unwrap_or_default();
        let description: String = description.chars().take(60).collect();
        let row = format!("{:3}  {:width$}  {description}", index + 1, tool.spec.name.as_str());
        writeln!(screen, "{}", printable(row.trim_end()))?;
    }
    match tools.len() - visible.len() {
        0 => Ok(()),
        more => writeln!(screen, "     and {more} more; type a word to find them"),
    }
}

/// Prompts for the required arguments of a tool. Returns `NAME=VALUE` pairs, as written in a shell.
pub(super) fn arguments(
    tool: &Tool,
    input: &mut impl BufRead,
    screen: &mut impl Write,
) -> io::Result<Vec<String>> {
    let Some(rules) = object_in(&tool.spec.input, &tool.spec.defs) else { return Ok(Vec::new()) };
    let mut pairs = Vec::new();
    for Field { name, shape, .. } in rules.fields.iter().filter(|field| field.required) {
        let description = shape.description.lines().next().unwrap_or_default();
        let text = read_entry(&format!("{name} ({description})"), input, screen)?.unwrap_or_default();
        pairs.push(format!("{name}={text}"));
    }
    Ok(pairs)
}

/// Returns a line of input; `None` if it is empty, and at the end of the input.
fn read_entry(prompt: &str, input: &mut impl BufRead, screen: &mut impl Write) -> io::Result<Option<String>> {
    write!(screen, "{}: ", printable(prompt).trim_end_matches(" ()"))?;
    screen.flush()?;
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        writeln!(screen)?;
    }
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::path::Path;

    use toolgen::{Document, Options, Problems, compile};

    use super::*;

    const MANIFEST: &str = "toolgen: 1
tools:
  greet:
    description: Greets a person.
    parameters: {name: string - Who is greeted., loud: boolean? - How.}
    command: {argv: [printf, '{name}']}
  leave: {description: Says goodbye., command: {argv: [printf, bye]}}
  wave: {description: Waves at a person., command: {argv: [printf, wave]}}
";

    /// Returns the choice for these lines of input, and the content of the screen.
    fn chosen(lines: &str) -> (Option<String>, String) {
        let mut problems = Problems::new();
        let document = Document::parse(Path::new("tools.yaml"), MANIFEST, &mut problems).unwrap();
        let program = compile(&document, &Options::default(), &mut problems).unwrap();
        let (mut input, mut screen) = (lines.as_bytes(), Vec::new());
        let tool = tool(&program.all_tools(), &mut input, &mut screen).unwrap();
        let words = tool.map(|tool| {
            let mut words = vec![tool.spec.name.to_string()];
            words.extend(arguments(tool, &mut input, &mut screen).unwrap());
            words.join(" ")
        });
        (words, String::from_utf8(screen).unwrap())
    }

    #[test]
    fn tool_is_chosen_by_number_name_or_search() {
        assert_eq!(chosen("1\nAda\n").0.as_deref(), Some("greet name=Ada"));
        assert_eq!(chosen("leave\n").0.as_deref(), Some("leave"));
        assert_eq!(chosen("GOODBYE\n").0.as_deref(), Some("leave"));
        // The number refers to the filtered list.
        assert_eq!(chosen("person\n2\n").0.as_deref(), Some("wave"));
        let (none, screen) = chosen("fly\n9\n\n");
        assert_eq!(none, None);
        assert!(screen.starts_with("  1  greet  Greets a person.\n  2  leave"), "{screen}");
        assert!(screen.contains("no tool has `fly` in its name or description"), "{screen}");
        assert_eq!(chosen("").0, None);
        assert!(chosen("greet\nAda\n").1.ends_with("name (Who is greeted.): "));
    }
}
