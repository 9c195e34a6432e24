//! Credentials from environment variables.

use std::collections::BTreeMap;

use reqwest::Url;

use super::credentials::{CredentialRequest, Credentials, with_suggestion};
use super::secret::Secret;

/// Credentials from environment variables: the variable configured for the scheme, or else the variable that the plan
/// names, or else the variable derived from the [prefix](Self::prefix).
///
/// No other code reads the environment. An empty variable counts as unset. White space around a value is removed.
#[derive(Clone, Debug)]
pub struct EnvCredentials {
    variables: BTreeMap<String, String>,
    prefix: String,
    help: fn(&str, &str) -> String,
}

impl Default for EnvCredentials {
    fn default() -> EnvCredentials {
        EnvCredentials { variables: BTreeMap::new(), prefix: String::new(), help: default_help }
    }
}

/// Describes how a program configures the variable of a scheme.
fn default_help(scheme: &str, variable: &str) -> String {
    format!(
        "`EnvCredentials::variable({scheme:?}, {variable:?})`, or `Options::credential({scheme:?}, {variable:?})` where \
         the tools are compiled"
    )
}

impl EnvCredentials {
    /// Uses the variables that the plans name.
    #[must_use]
    pub fn new() -> EnvCredentials {
        EnvCredentials::default()
    }

    /// Reads the credential of this scheme from this variable, regardless of the plan.
    #[must_use]
    pub fn variable(mut self, scheme: impl Into<String>, variable: impl Into<String>) -> EnvCredentials {
        self.variables.insert(scheme.into(), variable.into());
        self
    }

    /// Reads the credential of each scheme without a configured variable from `{PREFIX}_{SCHEME}`, in upper case:
    /// `PETSTORE_API_KEY` for the scheme `api_key` and the prefix `petstore`.
    ///
    /// A document chooses the names of its schemes, so use a prefix that only variables of this service have.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> EnvCredentials {
        self.prefix = prefix.into();
        self
    }

    /// Sets the sentence in errors that says how to configure the variable of a scheme, for programs whose users do
    /// not write Rust. The function gets the scheme and a variable; the default sentence names
    /// [`variable`](Self::variable).
    #[must_use]
    pub fn variable_help(mut self, help: fn(&str, &str) -> String) -> EnvCredentials {
        self.help = help;
        self
    }

    fn variable_of(&self, request: &CredentialRequest<'_>) -> String {
        match self.variables.get(request.scheme) {
            Some(variable) => variable.clone(),
            None if request.env.is_empty() && !self.prefix.is_empty() => {
                variable_name(&self.prefix, request.scheme)
            }
            None => request.env.to_owned(),
        }
    }
}

impl Credentials for EnvCredentials {
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
        secret_from_env(&self.variable_of(request))
    }

    fn source(&self, request: &CredentialRequest<'_>) -> String {
        format!("the environment variable {}", self.variable_of(request))
    }

    fn help(&self, request: &CredentialRequest<'_>) -> String {
        let help = match self.variable_of(request).as_str() {
            "" => {
                let variable = suggested_variable(request);
                let instruction = (self.help)(request.scheme, &variable);
                format!("set an environment variable, such as {variable}, and name it: {instruction}")
            }
            // The name may be the secret itself.
            variable if !is_name(variable) => format!(
                "the environment variable of `{}` has an invalid name, which is not repeated: set a variable, and \
                 configure its name",
                request.scheme
            ),
            variable => match std::env::var(variable) {
                Ok(value) if value.trim().is_empty() => {
                    format!("set the environment variable {variable}, which is empty")
                }
                Ok(value) if value.trim().chars().any(char::is_control) => {
                    format!(
                        "set the environment variable {variable} to a credential in one line: it contains a control character"
                    )
                }
                Ok(_) | Err(std::env::VarError::NotPresent) => {
                    format!("set the environment variable {variable}")
                }
                Err(std::env::VarError::NotUnicode(_)) => {
                    format!("set the environment variable {variable} to a valid value: it is not UTF-8")
                }
            },
        };
        with_suggestion(help, request.scheme, self.variables.keys().map(String::as_str))
    }
}

/// Whether a string is a usual name of a variable.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Suggests a variable for a scheme: the name of the service and that of the scheme.
fn suggested_variable(request: &CredentialRequest<'_>) -> String {
    let url = Url::parse(request.origin).ok();
    let host = url.as_ref().and_then(|url| url.domain()).unwrap_or_default();
    // The service is `example` for `api.example.com` and for `api.example.co.uk`; `localhost` has no service.
    let mut labels = host.rsplit('.');
    let country = labels.next().is_some_and(|last| last.len() == 2);
    let shared = |label: &&str| country && SECOND_LEVEL.contains(label);
    let service = labels.find(|label| !shared(label)).unwrap_or_default();
    variable_name(service, request.scheme)
}

/// Second-level labels under which anyone can register a name.
const SECOND_LEVEL: [&str; 17] = [
    "ac", "co", "com", "edu", "gob", "gouv", "gov", "go", "id", "info", "mil", "ne", "net", "nom", "or",
    "org", "plc",
];

/// Returns the name of a variable: the prefix and the scheme in upper case, or only the scheme if it begins with the
/// prefix.
fn variable_name(prefix: &str, scheme: &str) -> String {
    let upper = |text: &str| -> String {
        let upper_char = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        text.trim_matches('_').chars().map(upper_char).collect()
    };
    let (prefix, scheme) = (upper(prefix), upper(scheme));
    let has_prefix =
        scheme.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    if prefix.is_empty() || has_prefix { scheme } else { format!("{prefix}_{scheme}") }
}

/// Returns the credential in an environment variable, without surrounding white space.
#[doc(hidden)]
pub fn secret_from_env(variable: &str) -> Option<Secret> {
    if variable.is_empty() || variable.contains(['=', '\0']) {
        return None;
    }
    let value = std::env::var(variable).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| Secret::new(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::spec::plan::Placement;

    fn help_of(credentials: &EnvCredentials, scheme: &str, origin: &str) -> String {
        let placement = Placement::Bearer;
        let request = CredentialRequest { scheme, placement: &placement, scopes: &[], env: "", origin };
        assert_eq!(credentials.credential(&request), None);
        credentials.help(&request)
    }

    #[test]
    fn unset_scheme_error_names_the_variable() {
        let unset = EnvCredentials::new();
        for (scheme, origin, variable) in [
            ("api_key", "https://api.petstore.com", "PETSTORE_API_KEY"),
            ("petstore-auth", "https://petstore.io:8443", "PETSTORE_AUTH"),
            ("bearerAuth", "http://localhost:1", "BEARERAUTH"),
            ("key", "https://10.0.0.1", "KEY"),
            ("bearer_auth", "https://api.up.com.au/api", "UP_BEARER_AUTH"),
            ("key", "https://example.co.uk", "EXAMPLE_KEY"),
            ("key", "https://api.com.com", "COM_KEY"),
            ("key", "https://com.au", "KEY"),
        ] {
            let message = help_of(&unset, scheme, origin);
            assert!(
                message.contains(&format!("`EnvCredentials::variable({scheme:?}, {variable:?})`")),
                "{message}"
            );
            assert!(
                message.starts_with(&format!("set an environment variable, such as {variable}, ")),
                "{message}"
            );
        }
        let prefixed = EnvCredentials::new().prefix("toolgen test pets");
        assert_eq!(
            help_of(&prefixed, "api_key", ""),
            "set the environment variable TOOLGEN_TEST_PETS_API_KEY"
        );
        let secret = help_of(&EnvCredentials::new().variable("api_key", "sk-12345"), "api_key", "");
        assert!(secret.contains("is not repeated") && !secret.contains("sk-12345"), "{secret}");
    }

    #[test]
    fn misspelled_scheme_gets_a_suggestion() {
        let misspelled = EnvCredentials::new().variable("petstore_aut", "X").variable("other", "Y");
        let message = help_of(&misspelled, "petstore_auth", "https://h.example");
        assert!(
            message.ends_with(". A credential is set for `petstore_aut`; did you mean `petstore_auth`?"),
            "{message}"
        );
    }
}
