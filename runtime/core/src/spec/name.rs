//! The names of tools.

use std::fmt;

use crate::base::frozen::Text;

/// A tool name that every vendor accepts: `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`.
///
/// The rule is the intersection of the rules of OpenAI, Anthropic, Gemini, Bedrock and MCP.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolName(pub(super) Text);

/// Maximum length of a name that every vendor accepts, in bytes.
pub const MAX_NAME: usize = 64;

impl ToolName {
    /// Creates a name from a literal.
    ///
    /// # Panics
    ///
    /// Panics if the name is invalid. In a constant, that is a compile error at the caller's literal.
    #[track_caller]
    #[must_use]
    #[expect(clippy::panic, reason = "an invalid literal is a compile error at the literal")]
    pub const fn new(name: &'static str) -> ToolName {
        match check_name(name) {
            Ok(()) => ToolName(Text::Static(name)),
            Err(problem) => panic!("{}", problem.message()),
        }
    }

    /// Creates a name at run time.
    ///
    /// # Errors
    ///
    /// Returns the rule that the name violates.
    pub fn parse(name: impl Into<Text>) -> Result<ToolName, NameError> {
        let name = name.into();
        check_name(&name).map(|()| ToolName(name))
    }

    /// Returns the name as a `Text` that shares its memory.
    #[must_use]
    pub fn to_text(&self) -> Text {
        self.0.clone()
    }

    /// Returns the name as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for ToolName {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for ToolName {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a string is not a valid tool name.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    Empty,
    /// The name does not start with an ASCII letter.
    Start,
    /// The name contains a character other than an ASCII letter, a digit, `_` or `-`.
    Character,
    /// The name is longer than [`MAX_NAME`].
    TooLong,
}

impl NameError {
    const fn message(self) -> &'static str {
        match self {
            NameError::Empty => "a tool name must not be empty",
            NameError::Start => "a tool name must start with an ASCII letter",
            NameError::Character => "a tool name may contain only ASCII letters, digits, `_` and `-`",
            NameError::TooLong => "a tool name may have at most 64 characters",
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

__readable_debug!(NameError);

impl std::error::Error for NameError {}

const fn check_name(name: &str) -> Result<(), NameError> {
    let bytes = name.as_bytes();
    if bytes.is_empty() {
        return Err(NameError::Empty);
    }
    if !bytes[0].is_ascii_alphabetic() {
        return Err(NameError::Start);
    }
    if bytes.len() > MAX_NAME {
        return Err(NameError::TooLong);
    }
    let mut index = 0;
    while index < bytes.len() {
        let byte = bytes[index];
        if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            return Err(NameError::Character);
        }
        index += 1;
    }
    Ok(())
}
