//! Inserts a tool into the text of a manifest, and changes nothing else.

/// Returns the text with a tool at the end of `tools`, or `None` if `tools` is not a YAML block. `tool` starts with its
/// name, and is indented by two spaces per level.
pub(super) fn with_tool(text: &str, tool: &str) -> Option<String> {
    if text.trim_start().starts_with('{') {
        return None;
    }
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let key = match lines.iter().position(|line| line.starts_with("tools:")) {
        Some(key) => key,
        None => {
            lines.push("tools:".to_owned());
            lines.len() - 1
        }
    };
    let value =
        lines[key].strip_prefix("tools:").map(|rest| rest.split(" #").next().unwrap_or_default().trim());
    match value {
        Some("") => {}
        Some("{}" | "~" | "null") => lines[key] = "tools:".to_owned(),
        _ => return None,
    }
    let following = &lines[key + 1..];
    let is_inside = |line: &&String| line.trim().is_empty() || line.starts_with([' ', '#']);
    let length = following.iter().take_while(is_inside).count();
    let block = &following[..length];
    let has_text = |line: &&String| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let indent = block.iter().find(has_text).map_or(2, |line| line.len() - line.trim_start().len());
    // Comments after the last tool belong to the next key.
    let end = block
        .iter()
        .rposition(|line| !line.trim().is_empty() && line.starts_with(' '))
        .map_or(0, |index| index + 1);
    let indented = tool.lines().map(|line| format!("{}{line}", " ".repeat(indent)).trim_end().to_owned());
    let index = key + 1 + end;
    let gap = (end > 0 && block[..end].iter().any(|line| line.trim().is_empty())).then(String::new);
    lines.splice(index..index, gap.into_iter().chain(indented));
    Some(lines.join(line_break) + line_break)
}

#[cfg(test)]
mod tests {
    use super::with_tool;

    const TOOL: &str = "b:\n  command: {argv: [b]}\n";

    #[test]
    fn new_tool_is_appended_to_the_tools() {
        let new = "  b:\n    command: {argv: [b]}\n";
        for (text, expected) in [
            ("toolgen: 1\n", format!("toolgen: 1\ntools:\n{new}")),
            ("toolgen: 1\ntools: {} # none\n", format!("toolgen: 1\ntools:\n{new}")),
            ("tools: # all\n  a: x # y\n", format!("tools: # all\n  a: x # y\n{new}")),
            ("tools:\n  a: x", format!("tools:\n  a: x\n{new}")),
            (
                "tools:\n  a: |\n    x\n\n    y\n  # end\n\n# next\nschemas: {}\n",
                format!("tools:\n  a: |\n    x\n\n    y\n  # end\n\n{new}\n# next\nschemas: {{}}\n"),
            ),
            ("tools:\n    a: x\n", "tools:\n    a: x\n    b:\n      command: {argv: [b]}\n".to_owned()),
            ("tools:\r\n  a: x\r\n", format!("tools:\n  a: x\n{new}").replace('\n', "\r\n")),
        ] {
            assert_eq!(with_tool(text, TOOL).as_deref(), Some(expected.as_str()), "{text}");
        }
    }

    #[test]
    fn non_block_yaml_is_not_edited() {
        for text in ["{\"toolgen\": 1}", "tools: {a: x}\n", "tools: &all\n  a: x\n"] {
            assert_eq!(with_tool(text, TOOL), None, "{text}");
        }
    }
}
