//! Compiles the environment variables of a program.

use serde_json::Value;
use toolgen_core::spec::template::Template;
use toolgen_core::{List, Text};

use super::super::codes;
use super::super::context::Context;
use super::super::keys;
use super::super::node::Node;
use super::super::placeholder::TemplateSegment;
use super::super::template::Scope;
use crate::selection::is_variable;

/// Variables that determine which code a program runs.
const CODE_VARIABLES: [&str; 62] = [
    "AWKLIBPATH",
    "AWKPATH",
    "AWS_CONFIG_FILE",
    "BROWSER",
    "CC",
    "CLASSPATH",
    "CXX",
    "DOCKER_HOST",
    "EDITOR",
    "ENV",
    "EXINIT",
    "GCONV_PATH",
    "GETCONF_DIR",
    "GOFLAGS",
    "GRADLE_OPTS",
    "GTK_MODULES",
    "GTK_PATH",
    "HOME",
    "IFS",
    "KUBECONFIG",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "LUA_CPATH",
    "LUA_INIT",
    "LUA_PATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "MAVEN_OPTS",
    "NLSPATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PAGER",
    "PATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "QT_PLUGIN_PATH",
    "RSYNC_RSH",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "R_PROFILE",
    "R_PROFILE_USER",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SYSTEMD_EDITOR",
    "TAR_OPTIONS",
    "TERMCAP",
    "TERMINFO",
    "VIMINIT",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];
/// Prefixes of the names of variables that determine which code a program runs.
const CODE_PREFIXES: [&str; 17] = [
    "BASH_",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "GLIBC_",
    "JAVA_",
    "JDK_",
    "LD_",
    "MALLOC_",
    "NODE_",
    "NPM_CONFIG_",
    "PERL",
    "PYTHON",
    "RUBY",
    "BUNDLE_",
    "GEM_",
    "npm_config_",
];
/// Variables that are only data to any program.
const DATA_VARIABLES: [&str; 7] = ["COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "TZ"];
const DATA_PREFIXES: [&str; 3] = ["GIT_AUTHOR_", "GIT_COMMITTER_", "LC_"];

/// Whether a variable determines which code a program runs.
pub(super) fn determines_code(name: &str) -> bool {
    let has_prefix = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    CODE_VARIABLES.contains(&name) || (has_prefix(&CODE_PREFIXES) && !has_prefix(&DATA_PREFIXES))
}

impl<'a> Context<'a> {
    pub(super) fn variables(&mut self, node: &Node<'a>, scope: &mut Scope) -> List<(Text, Template)> {
        let mut variables = Vec::new();
        for (name, value) in self.object_members(node, "env", "strings") {
            self.check_variable(name, &value);
            let (mut value, mut is_declared) = (value, false);
            if let Value::Object(_) = value.value {
                self.object(&value, &keys::VARIABLE);
                is_declared = self.flag(&value, "code").is_some();
                let help = "write `{arg: \"{name}\", code: false}`";
                let Some(arg) = self.required(&value, "arg", "a variable", help) else { continue };
                value = arg;
            }
            let Some(template) = self.scalar_template(&value, scope) else { continue };
            if !matches!(template, Template::Constant(_)) {
                self.check_argument_variable(name, &value, node, is_declared, scope);
            }
            variables.push((Text::from(name.to_owned()), template));
        }
        variables.into()
    }

    /// Reports a variable that an argument sets if the variable may determine which code runs.
    fn check_argument_variable(
        &mut self,
        name: &str,
        value: &Node<'a>,
        command: &Node<'a>,
        is_declared: bool,
        scope: &mut Scope,
    ) {
        if determines_code(name) {
            let message = format!("`{name}` determines which code runs, so no argument can set it");
            self.report(codes::VARIABLE, &value.pointer, message, "give it a constant value");
            return;
        }
        let is_data =
            DATA_VARIABLES.contains(&name) || DATA_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let parts = ["script", "argv"].map(|key| command.get(key));
        let is_mentioned = parts.iter().flatten().any(|part| mentions(part.value, name));
        let text = value.value.as_str().unwrap_or_default();
        let pieces = self.pieces(text, &value.pointer).unwrap_or_default();
        let is_unrestricted = pieces.iter().any(|piece| match piece {
            TemplateSegment::Placeholder(placeholder) => !self.is_fixed(placeholder, &value.pointer, scope),
            _ => false,
        });
        if is_unrestricted && !is_data && !is_declared && !is_mentioned {
            let message = format!(
                "an argument sets `{name}`, which the command does not mention: nothing declares that it is only \
                 data to the program"
            );
            let text = text.replace('"', "\\\"");
            let help = format!(
                "write `{name}: {{arg: \"{text}\", code: false}}` if no value makes the program run other code"
            );
            self.report(codes::VARIABLE, &value.pointer, message, help);
        }
    }

    pub(in super::super) fn inherited_variables(&mut self, node: &Node<'a>) -> List<Text> {
        let mut names = Vec::new();
        for item in self.list(node, "inherit").unwrap_or_default() {
            if let Some(name) = self.text_of(&item) {
                self.check_variable(name, &item);
                names.push(Text::from(name.to_owned()));
            }
        }
        names.into()
    }

    /// Reports a string that is not the name of an environment variable.
    pub(in super::super) fn check_variable(&mut self, name: &str, node: &Node<'a>) {
        if !is_variable(name) {
            let message = format!("`{name}` is not a valid name of an environment variable");
            self.report(
                codes::VARIABLE,
                &node.pointer,
                message,
                "use letters, digits and `_`, as in `API_KEY`",
            );
        }
    }
}

/// Whether a string of a command contains the name of a variable as a whole word.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text.match_indices(name).any(|(index, _)| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !text[..index].ends_with(is_part) && !text[index + name.len()..].starts_with(is_part)
        }),
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        Value::Object(members) => members.values().any(|member| mentions(member, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_name_is_matched_as_a_whole_word() {
        let string = |text: &str| Value::from(text);
        assert!(
            mentions(&string("grep \"$WORD\""), "WORD") && mentions(&string("ENVIRON[\"WORD\"]"), "WORD")
        );
        assert!(!mentions(&string("$WORDS $MY_WORD"), "WORD"));
    }
}
