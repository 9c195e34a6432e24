//! [`ToolSpec`] as a constant expression.
//!
//! Every struct is destructured exhaustively, so a field that is added to the runtime is a compile error here and not
//! a value that is silently lost. Fields that equal the base of the literal are omitted.

use toolgen_core::spec::hints::{Callers, Hints, Icon, InputFormat};
use toolgen_core::spec::{
    Completion, Effects, Example, Files, Network, Requirement, RequirementKind, Timeout,
};
use toolgen_core::{Def, Schema, ToolSpec};

use super::expr::Expr;
use super::fields::{Fields, list_of, some, texts};
use super::pool::Pool;
use super::size;

pub(super) fn spec(spec: &ToolSpec, pool: &mut Pool) -> Expr {
    let ToolSpec {
        name,
        label,
        description,
        returns,
        use_for,
        documentation,
        examples,
        input,
        output,
        output_may_differ,
        string_arguments,
        defs,
        slim,
        exact,
        effects,
        category,
        scopes,
        timeout,
        exclusive,
        service,
        reads,
        writes,
        result_limit,
        requires,
        projection,
        completion,
        sub_agent,
        hints,
        deprecated,
    } = spec;
    let base = &ToolSpec::EMPTY;
    let mut fields = Fields::default();
    fields.set("name", Expr::Call("ToolName::new", vec![Expr::string(name.as_str())]));
    fields.text("label", label, &base.label);
    fields.text("description", description, &base.description);
    fields.text("returns", returns, &base.returns);
    fields.text("use_for", use_for, &base.use_for);
    fields.text("documentation", documentation, &base.documentation);
    fields.put("examples", examples, &base.examples, |list| list_of(list, example));
    fields.put("input", input, &base.input, schema);
    fields.set_optional("output", output.as_ref().map(|output| some(schema(output))));
    fields.set_optional("output_may_differ", output_may_differ.then(|| Expr::atom("true")));
    fields.put("string_arguments", string_arguments, &base.string_arguments, texts);
    fields.set_optional("defs", (!defs.is_empty()).then(|| pool.defs(defs, def)));
    fields.put("slim", slim, &base.slim, size::slim);
    fields.set_optional("exact", exact.then(|| Expr::atom("true")));
    fields.put("effects", effects, &base.effects, |value| self::effects(value, pool));
    fields.text("category", category, &base.category);
    fields.put("scopes", scopes, &base.scopes, texts);
    fields.put("timeout", timeout, &base.timeout, self::timeout);
    fields.set_optional("exclusive", exclusive.then(|| Expr::atom("true")));
    fields.text("service", service, &base.service);
    fields.put("reads", reads, &base.reads, texts);
    fields.put("writes", writes, &base.writes, texts);
    fields.set_optional("result_limit", result_limit.map(|bytes| some(Expr::atom(bytes.to_string()))));
    fields.put("requires", requires, &base.requires, |list| list_of(list, requirement));
    fields.text("projection", projection, &base.projection);
    fields.set_optional("completion", completion.as_ref().map(self::completion));
    fields.set_optional("sub_agent", sub_agent.then(|| Expr::atom("true")));
    fields.put("hints", hints, &base.hints, self::hints);
    fields.set_optional("deprecated", deprecated.as_ref().map(|text| some(Expr::text(text))));
    fields.literal("ToolSpec", "ToolSpec::EMPTY")
}

fn hints(hints: &Hints) -> Expr {
    let Hints { callers, eager_input, input_format, icons, meta } = hints;
    let base = &Hints::NONE;
    let mut fields = Fields::default();
    fields.put("callers", callers, &base.callers, |callers| {
        Expr::atom(match callers {
            Callers::Model => "Callers::Model",
            Callers::Programs => "Callers::Programs",
            Callers::Both => "Callers::Both",
        })
    });
    fields.set_optional("eager_input", eager_input.then(|| Expr::atom("true")));
    fields.put("input_format", input_format, &base.input_format, |format| match format {
        InputFormat::Json => Expr::atom("InputFormat::Json"),
        InputFormat::Text => Expr::atom("InputFormat::Text"),
        InputFormat::Lark(grammar) => Expr::Call("InputFormat::Lark", vec![Expr::text(grammar)]),
        InputFormat::Regex(pattern) => Expr::Call("InputFormat::Regex", vec![Expr::text(pattern)]),
    });
    fields.put("icons", icons, &base.icons, |icons| list_of(icons, icon));
    fields.text("meta", meta, &base.meta);
    fields.literal("Hints", "Hints::NONE")
}

fn icon(icon: &Icon) -> Expr {
    let Icon { src, mime_type, sizes, theme } = icon;
    let fields = vec![
        ("src", Expr::text(src)),
        ("mime_type", Expr::text(mime_type)),
        ("sizes", texts(sizes)),
        ("theme", Expr::text(theme)),
    ];
    Expr::Struct { head: "Icon", fields, base: None }
}

fn completion(completion: &Completion) -> Expr {
    let Completion { next_state } = completion;
    let fields = vec![("next_state", Expr::text(next_state))];
    some(Expr::Struct { head: "Completion", fields, base: None })
}

/// Returns a schema as its canonical text: reviewers can read it, and unlike constants it costs rustc nothing.
fn schema(schema: &Schema) -> Expr {
    Expr::Call("Schema::text", vec![schema_text(schema)])
}

fn def(Def { name, schema }: &Def) -> Expr {
    Expr::Call("def", vec![Expr::string(name), schema_text(schema)])
}

fn schema_text(schema: &Schema) -> Expr {
    Expr::string(&toolgen_core::schema::shape::render::canonical(schema.shape()))
}

fn effects(effects: &Effects, pool: &mut Pool) -> Expr {
    let Effects { read_only, destructive, idempotent, open_world, network, files, spawns } = effects;
    let differs = |base: &Effects| {
        [
            *read_only != base.read_only,
            *destructive != base.destructive,
            *idempotent != base.idempotent,
            *open_world != base.open_world,
            *network != base.network,
            *files != base.files,
            *spawns != base.spawns,
        ]
        .into_iter()
        .filter(|differs| *differs)
        .count()
    };
    let (base, name) = if differs(&Effects::NONE) < differs(&Effects::UNDECLARED) {
        (&Effects::NONE, "Effects::NONE")
    } else {
        (&Effects::UNDECLARED, "Effects::UNDECLARED")
    };
    let bool = |value: &bool| Expr::atom(value.to_string());
    let mut fields = Fields::default();
    fields.put("read_only", read_only, &base.read_only, bool);
    fields.put("destructive", destructive, &base.destructive, bool);
    fields.put("idempotent", idempotent, &base.idempotent, bool);
    fields.put("open_world", open_world, &base.open_world, bool);
    fields.put("network", network, &base.network, |network| match network {
        Network::None => Expr::atom("Network::None"),
        Network::Hosts(hosts) => {
            let hosts = hosts.iter().map(|host| Expr::text(host)).collect();
            Expr::Call("Network::Hosts", vec![pool.list("HOSTS", "Text", hosts)])
        }
        Network::Any => Expr::atom("Network::Any"),
    });
    fields.put("files", files, &base.files, self::files);
    fields.put("spawns", spawns, &base.spawns, bool);
    fields.literal("Effects", name)
}

pub(super) fn files(files: &Files) -> Expr {
    Expr::atom(match files {
        Files::None => "Files::None",
        Files::Read => "Files::Read",
        Files::Write => "Files::Write",
    })
}

fn example(example: &Example) -> Expr {
    let Example { summary, arguments } = example;
    let fields = vec![("summary", Expr::text(summary)), ("arguments", Expr::text(arguments))];
    Expr::Struct { head: "Example", fields, base: None }
}

fn timeout(timeout: &Timeout) -> Expr {
    match timeout {
        Timeout::Default => Expr::atom("Timeout::Default"),
        Timeout::Millis(millis) => Expr::Call("Timeout::Millis", vec![Expr::atom(millis.to_string())]),
        Timeout::Never => Expr::atom("Timeout::Never"),
    }
}

fn requirement(requirement: &Requirement) -> Expr {
    let Requirement { kind, name, argument, message, optional } = requirement;
    let kind = match kind {
        RequirementKind::Context => "RequirementKind::Context",
        RequirementKind::Session => "RequirementKind::Session",
        RequirementKind::Entity => "RequirementKind::Entity",
        RequirementKind::Tool => "RequirementKind::Tool",
        RequirementKind::Service => "RequirementKind::Service",
        RequirementKind::Custom => "RequirementKind::Custom",
    };
    let fields = vec![
        ("kind", Expr::atom(kind)),
        ("name", Expr::text(name)),
        ("argument", Expr::text(argument)),
        ("message", Expr::text(message)),
        ("optional", Expr::atom(optional.to_string())),
    ];
    Expr::Struct { head: "Requirement", fields, base: None }
}
