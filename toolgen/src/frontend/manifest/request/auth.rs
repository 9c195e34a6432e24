//! Compiles the authentication of a request: `auth`.

use toolgen_core::spec::plan::{Placement, SecurityRequirement, SecurityScheme};
use toolgen_core::{List, Text};

use super::super::codes;
use super::super::context::Context;
use super::super::keys;
use super::super::node::Node;
use super::Request;
use super::duplicate_names::NameKind;

impl<'a> Context<'a> {
    /// Reads `auth`. The name of the scheme is the environment variable that holds its credential.
    pub(super) fn auth(&mut self, node: &Node<'a>, request: &mut Request) -> List<SecurityRequirement> {
        let Some(auth) = node.get("auth") else { return List::EMPTY };
        let Some(scheme) = self.scheme(&auth) else { return List::EMPTY };
        match &scheme.placement {
            Placement::Header(name) => self.record_name(NameKind::Header, name, &auth.pointer, request),
            Placement::Query(name) => self.record_name(NameKind::Query, name, &auth.pointer, request),
            _ => {}
        }
        if !self.schemes.contains(&scheme.id.to_string()) {
            self.schemes.push(scheme.id.to_string());
        }
        vec![SecurityRequirement { schemes: vec![scheme].into() }].into()
    }

    fn scheme(&mut self, node: &Node<'a>) -> Option<SecurityScheme> {
        const HELP: &str = "write `{bearer: VARIABLE}`, `{basic: VARIABLE}`, `{header: X-Key, env: VARIABLE}` or `{query: key, env: VARIABLE}`";
        if !self.object(node, &keys::AUTH) {
            return None;
        }
        let methods: Vec<&str> = ["bearer", "basic", "header", "query"]
            .into_iter()
            .filter(|key| node.get(key).is_some())
            .collect();
        let [key] = methods.as_slice() else {
            let message = "`auth` needs exactly one of `bearer`, `basic`, `header` and `query`";
            self.report(codes::AUTH, &node.pointer, message, HELP);
            return None;
        };
        let member = node.get(key)?;
        let name = self.text_of(&member)?;
        let (variable, variable_node) = if matches!(*key, "bearer" | "basic") {
            if let Some(env) = node.get("env") {
                let message = format!("`{key}` names the variable itself");
                self.report(codes::AUTH, &env.pointer, message, HELP);
            }
            (name, member)
        } else {
            let env = self.required(
                node,
                "env",
                "`auth`",
                "name the environment variable that holds the credential",
            )?;
            (self.text_of(&env)?, env)
        };
        self.check_variable(variable, &variable_node);
        let placement = match *key {
            "bearer" => Placement::Bearer,
            "basic" => Placement::Basic,
            "header" => Placement::Header(Text::from(name.to_owned())),
            _ => Placement::Query(Text::from(name.to_owned())),
        };
        let variable = Text::from(variable.to_owned());
        Some(SecurityScheme { id: variable.clone(), placement, scopes: List::EMPTY, env: variable })
    }
}
