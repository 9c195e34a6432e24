//! The variables of a program's environment.

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
const DECISIVE: [&str; 62] = [
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
/// Prefixes of the names of such variables.
const DECISIVE_STARTS: [&str; 17] = [
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
/// Variables that only contain data, for any program.
const DATA: [&str; 7] = ["COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE", "LINES", "NO_COLOR", "TZ"];
const DATA_STARTS: [&str; 3] = ["GIT_AUTHOR_", "GIT_COMMITTER_", "LC_"];

/// Whether a variable determines which code a program runs.
pub(super) fn is_decisive(name: &str) -> bool {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    DECISIVE.contains(&name) || (starts(&DECISIVE_STARTS) && !starts(&DATA_STARTS))
}

impl<'a> Context<'a> {
    pub(super) fn variables(&mut self, node: &Node<'a>, scope: &mut Scope) -> List<(Text, Template)> {
        let mut variables = Vec::new();
        for (name, value) in self.object_members(node, "env", "strings") {
            self.check_variable(name, &value);
            let (mut value, mut stated) = (value, false);
            if let Value::Object(_) = value.value {
                self.object(&value, &keys::VARIABLE);
                stated = self.flag(&value, "code").is_some();
                let help = "write `{arg: \"{name}\", code: false}`";
                let Some(arg) = self.required(&value, "arg", "a variable", help) else { continue };
                value = arg;
            }
            let Some(template) = self.scalar_template(&value, scope) else { continue };
            if !matches!(template, Template::Constant(_)) {
                self.check_given(name, &value, node, stated, scope);
            }
            variables.push((Text::from(name.to_owned()), template));
        }
        variables.into()
    }

    /// Reports a variable that an argument sets, if it may determine which code runs.
    fn check_given(
        &mut self,
        name: &str,
        value: &Node<'a>,
        command: &Node<'a>,
        stated: bool,
        scope: &mut Scope,
    ) {
        if is_decisive(name) {
            let message = format!("`{name}` determines which code runs, so no argument can set it");
            self.report(codes::VARIABLE, &value.pointer, message, "give it a constant value");
            return;
        }
        let is_data = DATA.contains(&name) || DATA_STARTS.iter().any(|start| name.starts_with(start));
        let texts = ["script", "argv"].map(|key| command.get(key));
        let is_mentioned = texts.iter().flatten().any(|text| mentions(text.value, name));
        let text = value.value.as_str().unwrap_or_default();
        let pieces = self.pieces(text, &value.pointer).unwrap_or_default();
        let is_free = pieces.iter().any(|piece| match piece {
            TemplateSegment::Place(placeholder) => !self.is_fixed(placeholder, &value.pointer, scope),
            _ => false,
        });
        if is_free && !is_data && !stated && !is_mentioned {
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

    pub(in super::super) fn inherited(&mut self, node: &Node<'a>) -> List<Text> {
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

/// Whether a string of a command contains the name of a variable, as a word.
fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text.match_indices(name).any(|(at, _)| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
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
        let text = |text: &str| Value::from(text);
        assert!(mentions(&text("grep \"$WORD\""), "WORD") && mentions(&text("ENVIRON[\"WORD\"]"), "WORD"));
        assert!(!mentions(&text("$WORDS $MY_WORD"), "WORD"));
    }
}
