//! Placeholders in strings: `{name}`, `{name.member.0}`, `{name?}`, `{names*}`. `{{` and `}}` are literal braces.

/// A segment of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplateSegment {
    /// Literal text.
    Literal(String),
    /// A placeholder.
    Place(Placeholder),
}

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// The name, followed by members and indices.
    pub(super) path: Vec<String>,
    /// Whether the value may be missing.
    pub(super) optional: bool,
    /// Whether it is replaced by each item of an array.
    pub(super) each: bool,
}

impl Placeholder {
    /// Returns the path in the manifest's syntax: `name.member.0`.
    pub(super) fn written(&self) -> String {
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
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = rest.split_at(at);
        literal.push_str(before);
        if let Some(after) = brace.strip_prefix("{{").or_else(|| brace.strip_prefix("}}")) {
            literal.push_str(&brace[..1]);
            rest = after;
            continue;
        }
        let inside = brace.strip_prefix('{').ok_or_else(|| {
            let message = "this `}` does not close a placeholder".to_owned();
            (message, "write `}}` for a brace, or `{` before the name of an argument".to_owned())
        })?;
        let Some((inside, after)) = inside.split_once('}') else {
            let message = format!("the placeholder `{{{}` is not closed", short(inside));
            return Err((message, "write `}` after the name, or `{{` for a brace".to_owned()));
        };
        let place = placeholder(inside).ok_or_else(|| {
            let message = format!("`{{{}}}` is not a placeholder", short(inside));
            let help =
                "a placeholder is `{name}`, `{name.member}` or `{name?}`; write `{{` and `}}` for braces";
            (message, help.to_owned())
        })?;
        if !literal.is_empty() {
            pieces.push(TemplateSegment::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(TemplateSegment::Place(place));
        rest = after;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(TemplateSegment::Literal(literal));
    }
    Ok(pieces)
}

/// Parses the content between the braces of a placeholder.
pub(super) fn placeholder(inside: &str) -> Option<Placeholder> {
    let inside = inside.trim();
    let (inside, each) = inside.strip_suffix('*').map_or((inside, false), |rest| (rest, true));
    let (inside, optional) = inside.strip_suffix('?').map_or((inside, false), |rest| (rest, true));
    let (inside, each) = inside.strip_suffix('*').map_or((inside, each), |rest| (rest, true));
    let path: Vec<String> = inside.split('.').map(str::to_owned).collect();
    let fine = |name: &String| {
        !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$'))
    };
    path.iter().all(fine).then_some(Placeholder { path, optional, each })
}

/// Truncates a string for a message.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut: String = line.chars().take(30).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}
