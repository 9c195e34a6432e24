//! Prints toolsets and contexts.

use std::fmt::Write as _;

use toolgen_core::spec::Network;
use toolgen_core::spec::limits::EffectLimits;
use toolgen_core::spec::toolset::{ContextSpec, Toolset};

use super::expr::Expr;
use super::fields::{Fields, duration, some, texts};
use super::idents::{Names, screaming};
use super::literal::visible;
use super::spec;
use super::{ModuleStyle, write_module};
use crate::tool::Program;

/// Writes a constant for the name of each toolset, the toolsets, and the contexts. `constants` are the names of the
/// constants, in the order of the sets.
pub(super) fn write(program: &Program, constants: &[String], style: &ModuleStyle, out: &mut String) {
    let Program { toolsets, contexts, .. } = program;
    let runtime = &style.runtime;
    let mut names = Names::default();
    let contexts: Vec<(String, &ContextSpec)> =
        contexts.iter().map(|context| (names.take(&screaming(&context.name)), context)).collect();
    let mut names = Names::reserving(&["TOOLSETS"]);
    let sets: Vec<(String, &Toolset)> =
        toolsets.iter().map(|set| (names.take(&screaming(&set.name)), set)).collect();
    for (constant, (ident, set)) in constants.iter().zip(&sets) {
        let name = Expr::string(&set.name).flat();
        let _ = write!(
            out,
            "\n/// The name of [`{ident}`](toolsets::{ident}).\n\
             pub const {constant}: &::core::primitive::str = {name};\n"
        );
    }
    if !sets.is_empty() {
        let mut body = String::new();
        let list = sets.iter().map(|(ident, _)| Expr::atom(format!("&{ident}"))).collect();
        let list = Expr::Borrow(Box::new(Expr::Array(list))).flat();
        let _ = writeln!(
            body,
            "/// All sets, sorted by name.\npub static TOOLSETS: &[&{runtime}::spec::toolset::Toolset] = {list};"
        );
        for (ident, set) in &sets {
            write_static(ident, "Toolset", &set.name, &toolset(set, &contexts), style, &mut body);
        }
        write_module("The sets of tools.", "toolsets", &body, out);
    }
    if !contexts.is_empty() {
        let mut body = String::new();
        for (ident, spec) in &contexts {
            write_static(ident, "ContextSpec", &spec.name, &context(spec), style, &mut body);
        }
        write_module("The contexts that tools run in.", "contexts", &body, out);
    }
}

fn write_static(ident: &str, ty: &str, name: &str, value: &Expr, style: &ModuleStyle, out: &mut String) {
    let runtime = &style.runtime;
    let _ = write!(
        out,
        "\n/// `{}`\npub static {ident}: {runtime}::spec::toolset::{ty} = {{\n    \
         use {runtime}::__private::prelude::*;\n    ",
        visible(name),
    );
    value.write(4, 4, 0, out);
    out.push_str("\n};\n");
}

fn toolset(set: &Toolset, contexts: &[(String, &ContextSpec)]) -> Expr {
    let Toolset { name, description, members, overlay, context } = set;
    let base = &Toolset::EMPTY;
    let mut fields = Fields::default();
    fields.set("name", Expr::text(name));
    fields.text("description", description, &base.description);
    fields.put("members", members, &base.members, texts);
    fields.put("overlay", overlay, &base.overlay, limits);
    let definition =
        context.as_ref().map(|context| contexts.iter().find(|(_, spec)| spec.name == context.name));
    let context =
        definition.flatten().map(|(ident, _)| some(Expr::named_list(&format!("super::contexts::{ident}"))));
    fields.set_optional("context", context);
    fields.literal("Toolset", "Toolset::EMPTY")
}

fn context(context: &ContextSpec) -> Expr {
    let ContextSpec { name, limits: allowed, work_dir, scopes, timeout } = context;
    let base = &ContextSpec::ANY;
    let mut fields = Fields::default();
    fields.set("name", Expr::text(name));
    fields.put("limits", allowed, &base.limits, limits);
    fields.text("work_dir", work_dir, &base.work_dir);
    fields.set_optional("scopes", scopes.as_ref().map(|scopes| some(texts(scopes))));
    fields.set_optional("timeout", timeout.as_ref().map(|timeout| some(duration(timeout))));
    fields.literal("ContextSpec", "ContextSpec::ANY")
}

fn limits(limits: &EffectLimits) -> Expr {
    let EffectLimits { read_only, destructive, network, files, spawns } = limits;
    let base = &EffectLimits::ANY;
    let bool = |value: &bool| Expr::atom(value.to_string());
    let mut fields = Fields::default();
    fields.put("read_only", read_only, &base.read_only, bool);
    fields.put("destructive", destructive, &base.destructive, bool);
    fields.put("network", network, &base.network, |network| match network {
        Network::None => Expr::atom("Network::None"),
        Network::Hosts(hosts) => Expr::Call("Network::Hosts", vec![texts(hosts)]),
        Network::Any => Expr::atom("Network::Any"),
    });
    fields.put("files", files, &base.files, spec::files);
    fields.put("spawns", spawns, &base.spawns, bool);
    fields.literal("EffectLimits", "EffectLimits::ANY")
}
