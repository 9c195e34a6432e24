//! Placeholders in strings: `{name}`, `{name.member.0}`, `{name?}`, `{names*}`. `{{` and `}}` are literal braces.

/// A segment of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplateSegment {
    /// Literal text.
    Literal(String),
    /// A placeholder.
    Placeholder(Placeholder),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// The name of the root, followed by members and indices.
    pub(super) path: Vec<String>,
    /// Whether the value may be missing.
    pub(super) optional: bool,
    /// Whether the placeholder is replaced by each item of an array.
    pub(super) each: bool,
}

impl Placeholder {
    /// Returns the path in the manifest's syntax: `name.member.0`.
    pub(super) fn path_text(&self) -> String {
        self.path.join(".")
    }
}

/// Splits a string into its segments.
///
/// # Errors
///
/// Returns the message and the help for the first brace that is neither part of a placeholder nor doubled.
pub(super) fn pieces(text: &str) -> Result<Vec<TemplateSegment>, (String, String)> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut remaining = text;
    while let Some(index) = remaining.find(['{', '}']) {
        let (before, brace) = remaining.split_at(index);
        literal.push_str(before);
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            literal.push_str(&brace[..1]);
            remaining = after;
            continue;
        }
        let content = brace.strip_prefix('{').ok_or_else(|| {
            let message = "this `}` does not close a placeholder".to_owned();
            (message, "write `}}` for a brace, or `{` before the name of an argument".to_owned())
        })?;
        let Some((content, after)) = content.split_once('}') else {
            let message = format!("the placeholder `{{{}` is not closed", truncated(content));
            return Err((message, "write `}` after the name, or `{{` for a brace".to_owned()));
        };
        let placeholder = placeholder(content).ok_or_else(|| {
            let message = format!("`{{{}}}` is not a placeholder", truncated(content));
            let help =
                "a placeholder is `{name}`, `{name.member}` or `{name?}`; write `{{` and `}}` for braces";
            (message, help.to_owned())
        })?;
        if !literal.is_empty() {
            pieces.push(TemplateSegment::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(TemplateSegment::Placeholder(placeholder));
        remaining = after;
    }
    literal.push_str(remaining);
    if !literal.is_empty() {
        pieces.push(TemplateSegment::Literal(literal));
    }
    Ok(pieces)
}

/// Parses the content between the braces of a placeholder.
pub(super) fn placeholder(content: &str) -> Option<Placeholder> {
    let content = content.trim();
    let (content, each) = content.strip_suffix('*').map_or((content, false), |rest| (rest, true));
    let (content, optional) = content.strip_suffix('?').map_or((content, false), |rest| (rest, true));
    let (content, each) = content.strip_suffix('*').map_or((content, each), |rest| (rest, true));
    let path: Vec<String> = content.split('.').map(str::to_owned).collect();
    let is_valid = |name: &String| {
        !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$'))
    };
    path.iter().all(is_valid).then_some(Placeholder { path, optional, each })
}

/// Truncates a string for a message.
fn truncated(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let prefix: String = line.chars().take(30).collect();
    if prefix.len() < text.len() { format!("{prefix}…") } else { prefix }
}
