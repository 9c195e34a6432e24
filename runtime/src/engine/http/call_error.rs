//! Why a call from Rust returned no value.

use std::fmt;

use crate::base::printable::printable;
use crate::base::truncate::cut;
use crate::call::error::ToolError;

/// Why a call from Rust returned no value. No model reads it, so `Display` has the
/// [text for operators](ToolError::operator_text), and of a refusing answer the beginning. `Debug` has the same text,
/// which is what a `main` that returns an error prints.
#[non_exhaustive]
pub enum CallError {
    /// There was no response, or no request: the network, the time limit, a credential or an argument failed.
    Transport(ToolError),
    /// The service answered with a status other than success.
    Status {
        /// The status.
        status: u16,
        /// The body, as text.
        body: String,
    },
    /// The service answered with success, but not with a value of the expected type.
    Decode {
        /// What does not fit.
        source: serde_json::Error,
        /// The body, as text.
        body: String,
    },
    /// The service answered with more than the engine accepts.
    TooLarge {
        /// The number of bytes that the engine accepts.
        limit: usize,
    },
}

impl CallError {
    /// Returns the status of the answer, unless it was a success or there was none.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            CallError::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Reads the body of an answer other than success as a type: a generated one, or one's own. `None` if there was no
    /// such answer, or its body is not of the type.
    ///
    /// ```ignore
    /// let Err(error) = engine.call(petstore::GetPet::new(7)).await else { return };
    /// match (error.status(), error.body::<petstore::Problem>()) {
    ///     (Some(404), _) => println!("there is no such pet"),
    ///     (_, Some(problem)) => println!("{}", problem.message),
    ///     (_, None) => println!("{error}"),
    /// }
    /// ```
    #[must_use]
    pub fn body<T: serde_core::de::DeserializeOwned>(&self) -> Option<T> {
        match self {
            CallError::Status { body, .. } => serde_json::from_str(body).ok(),
            _ => None,
        }
    }
}

/// How many characters of an answer's body are part of the text of an error.
const SHOWN: usize = 300;

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Transport(error) => f.write_str(&error.operator_text()),
            CallError::Status { status, body } => {
                write!(f, "the service answered with status {status}")?;
                match cut(printable(body).trim(), SHOWN) {
                    start if start.is_empty() => Ok(()),
                    start => write!(f, ": {start}"),
                }
            }
            CallError::Decode { source, .. } => write!(f, "the answer is not of the expected type: {source}"),
            CallError::TooLarge { limit } => write!(f, "the answer has more than {limit} bytes"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CallError::Transport(error) => Some(error),
            CallError::Decode { source, .. } => Some(source),
            _ => None,
        }
    }
}
