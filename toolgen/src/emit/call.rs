//! [`ExecutionPlan`] as a constant expression; see [`spec`](super::spec) for the rules.
//!
//! A new kind of plan or a new field is a compile error here, so that no tool is silently lost.

mod command;
mod local;
mod mcp;
mod template;
mod xml;

use toolgen_core::internal::{CallKind, kind_of_call};
use toolgen_core::spec::plan::{
    Body, BodyField, BodySource, Codec, Encoding, Location, NextPage, Pagination, Parameter, Part, Placement,
    SecurityRequirement, SecurityScheme, Server, ServerVariable, Style,
};
use toolgen_core::{ExecutionPlan, RequestPlan, Text};

use super::expr::Expr;
use super::fields::{Fields, list_of, some, texts};
use super::pool::Pool;

pub(super) fn call(call: &ExecutionPlan, pool: &mut Pool) -> Expr {
    match kind_of_call(call) {
        CallKind::Http(plan) => Expr::Call("ExecutionPlan::Http", vec![request(plan, pool)]),
        CallKind::Command(plan) => Expr::Call("ExecutionPlan::Command", vec![command::command(plan)]),
        CallKind::Compose(plan) => Expr::Call("ExecutionPlan::Compose", vec![local::compose(plan)]),
        CallKind::Mcp(plan) => Expr::Call("ExecutionPlan::Mcp", vec![mcp::mcp(plan, pool)]),
        CallKind::Complete(plan) => Expr::Call("ExecutionPlan::Complete", vec![local::complete(plan)]),
        CallKind::Effect(plan) => Expr::Call("ExecutionPlan::Effect", vec![local::effect(plan)]),
        CallKind::Agent(plan) => Expr::Call("ExecutionPlan::Agent", vec![local::agent(plan)]),
        CallKind::Function => Expr::atom("ExecutionPlan::Function"),
    }
}

fn request(plan: &RequestPlan, pool: &mut Pool) -> Expr {
    let RequestPlan {
        method,
        path,
        query,
        servers,
        parameters,
        body,
        security,
        accept,
        xml_response: response,
        headers,
        redirects,
        derived,
        defaults,
        idempotency_key,
        pagination,
    } = plan;
    let base = &RequestPlan::EMPTY;
    let mut fields = Fields::default();
    fields.text("method", method, &base.method);
    fields.text("path", path, &base.path);
    fields.put("query", query, &base.query, |list| list_of(list, pair));
    fields.put("servers", servers, &base.servers, |list| {
        pool.list("SERVERS", "__private::prelude::Server", list.iter().map(server).collect())
    });
    fields.put("parameters", parameters, &base.parameters, |list| list_of(list, parameter));
    fields.set_optional("body", body.as_ref().map(|body| some(self::body(body))));
    fields.put("security", security, &base.security, |list| {
        let items = list.iter().map(requirement).collect();
        pool.list("SECURITY", "__private::prelude::SecurityRequirement", items)
    });
    fields.text("accept", accept, &base.accept);
    fields.put("xml_response", response, &base.xml_response, |response| {
        response.as_ref().map_or_else(|| Expr::atom("None"), |response| some(xml::xml(response)))
    });
    fields.put("headers", headers, &base.headers, texts);
    fields.put("redirects", redirects, &base.redirects, |list| {
        list_of(list, |status| Expr::atom(status.to_string()))
    });
    fields.put("derived", derived, &base.derived, |list| list_of(list, template::member));
    fields.put("defaults", defaults, &base.defaults, |defaults| Expr::atom(defaults.to_string()));
    fields.text("idempotency_key", idempotency_key, &base.idempotency_key);
    fields.set_optional("pagination", pagination.as_ref().map(|pages| some(self::pagination(pages))));
    fields.literal("RequestPlan", "RequestPlan::EMPTY")
}

fn pagination(pagination: &Pagination) -> Expr {
    let Pagination { next, items, has_more, total, size, max_items_argument } = pagination;
    let pair = |head, argument, pointer| {
        let fields = vec![("argument", Expr::text(argument)), ("pointer", Expr::text(pointer))];
        Expr::Struct { head, fields, base: None }
    };
    let next = match next {
        NextPage::Link => Expr::atom("NextPage::Link"),
        NextPage::Url(pointer) => Expr::Call("NextPage::Url", vec![Expr::text(pointer)]),
        NextPage::Cursor { argument, pointer } => pair("NextPage::Cursor", argument, pointer),
        NextPage::Last { argument, pointer } => pair("NextPage::Last", argument, pointer),
        NextPage::Page { argument, first } => {
            let fields = vec![("argument", Expr::text(argument)), ("first", Expr::atom(first.to_string()))];
            Expr::Struct { head: "NextPage::Page", fields, base: None }
        }
        NextPage::Offset(argument) => Expr::Call("NextPage::Offset", vec![Expr::text(argument)]),
    };
    let members = [
        ("items", items),
        ("has_more", has_more),
        ("total", total),
        ("size", size),
        ("max_items_argument", max_items_argument),
    ];
    let members = members.map(|(name, value)| (name, Expr::text(value)));
    let fields = [("next", next)].into_iter().chain(members).collect();
    Expr::Struct { head: "Pagination", fields, base: None }
}

fn pair((name, value): &(Text, Text)) -> Expr {
    Expr::Call("", vec![Expr::text(name), Expr::text(value)])
}

fn parameter(parameter: &Parameter) -> Expr {
    let Parameter { argument, name, location, encoding } = parameter;
    // Each location has a base in the runtime's prelude, with its default encoding.
    let (base, default_encoding) = match location {
        Location::Path => ("PATH", Encoding::SIMPLE),
        Location::Query => ("QUERY", Encoding::FORM),
        Location::Header => ("HEADER", Encoding::SIMPLE),
        Location::Cookie => ("COOKIE", Encoding::FORM),
    };
    let mut fields = Fields::default();
    fields.set("argument", Expr::text(argument));
    fields.set("name", Expr::text(name));
    fields.set_optional("location", None);
    fields.put("encoding", encoding, &default_encoding, self::encoding);
    fields.literal("Parameter", base)
}

fn encoding(encoding: &Encoding) -> Expr {
    let (style, explode, allow_reserved) = match encoding {
        encoding if *encoding == Encoding::SIMPLE => return Expr::atom("Encoding::SIMPLE"),
        encoding if *encoding == Encoding::FORM => return Expr::atom("Encoding::FORM"),
        Encoding::Content(media) => return Expr::Call("Encoding::Content", vec![Expr::text(media)]),
        Encoding::Xml(xml) => return Expr::Call("Encoding::Xml", vec![xml::xml(xml)]),
        Encoding::Style { style, explode, allow_reserved } => (style, explode, allow_reserved),
    };
    let style = match style {
        Style::Matrix => "Style::Matrix",
        Style::Label => "Style::Label",
        Style::Simple => "Style::Simple",
        Style::Form => "Style::Form",
        Style::SpaceDelimited => "Style::SpaceDelimited",
        Style::PipeDelimited => "Style::PipeDelimited",
        Style::TabDelimited => "Style::TabDelimited",
        Style::DeepObject => "Style::DeepObject",
    };
    let fields = vec![
        ("style", Expr::atom(style)),
        ("explode", Expr::atom(explode.to_string())),
        ("allow_reserved", Expr::atom(allow_reserved.to_string())),
    ];
    Expr::Struct { head: "Encoding::Style", fields, base: None }
}

fn body(body: &Body) -> Expr {
    let Body { required, media_type, codec, source } = body;
    let codec = match codec {
        Codec::Json => Expr::atom("Codec::Json"),
        Codec::JsonLines => Expr::atom("Codec::JsonLines"),
        Codec::Form(parts) => Expr::Call("Codec::Form", vec![list_of(parts, part)]),
        Codec::Multipart(parts) => Expr::Call("Codec::Multipart", vec![list_of(parts, part)]),
        Codec::Xml(xml) => Expr::Call("Codec::Xml", vec![xml::xml(xml)]),
        Codec::Text => Expr::atom("Codec::Text"),
        Codec::Binary => Expr::atom("Codec::Binary"),
    };
    let source = match source {
        BodySource::Argument(name) => Expr::Call("BodySource::Argument", vec![Expr::text(name)]),
        BodySource::Fields(fields) => Expr::Call("BodySource::Fields", vec![list_of(fields, body_field)]),
    };
    let fields = vec![
        ("required", Expr::atom(required.to_string())),
        ("media_type", Expr::text(media_type)),
        ("codec", codec),
        ("source", source),
    ];
    Expr::Struct { head: "Body", fields, base: None }
}

fn body_field(field: &BodyField) -> Expr {
    let BodyField { argument, name } = field;
    let fields = vec![("argument", Expr::text(argument)), ("name", Expr::text(name))];
    Expr::Struct { head: "BodyField", fields, base: None }
}

fn part(part: &Part) -> Expr {
    let Part { name, file, content_type, encoding } = part;
    let encoding = match encoding {
        None => Expr::atom("None"),
        Some(encoding) => some(self::encoding(encoding)),
    };
    let fields = vec![
        ("name", Expr::text(name)),
        ("file", Expr::atom(file.to_string())),
        ("content_type", Expr::text(content_type)),
        ("encoding", encoding),
    ];
    Expr::Struct { head: "Part", fields, base: None }
}

fn server(server: &Server) -> Expr {
    let Server { url, variables } = server;
    let fields = vec![("url", Expr::text(url)), ("variables", list_of(variables, variable))];
    Expr::Struct { head: "Server", fields, base: None }
}

fn variable(variable: &ServerVariable) -> Expr {
    let ServerVariable { name, default, allowed } = variable;
    let fields =
        vec![("name", Expr::text(name)), ("default", Expr::text(default)), ("allowed", texts(allowed))];
    Expr::Struct { head: "ServerVariable", fields, base: None }
}

fn requirement(requirement: &SecurityRequirement) -> Expr {
    let SecurityRequirement { schemes } = requirement;
    let fields = vec![("schemes", list_of(schemes, scheme))];
    Expr::Struct { head: "SecurityRequirement", fields, base: None }
}

fn scheme(scheme: &SecurityScheme) -> Expr {
    let SecurityScheme { id, placement, scopes, env } = scheme;
    let placement = match placement {
        Placement::Header(name) => Expr::Call("Placement::Header", vec![Expr::text(name)]),
        Placement::Query(name) => Expr::Call("Placement::Query", vec![Expr::text(name)]),
        Placement::Cookie(name) => Expr::Call("Placement::Cookie", vec![Expr::text(name)]),
        Placement::Basic => Expr::atom("Placement::Basic"),
        Placement::Bearer => Expr::atom("Placement::Bearer"),
        Placement::MutualTls => Expr::atom("Placement::MutualTls"),
        Placement::Other(name) => Expr::Call("Placement::Other", vec![Expr::text(name)]),
    };
    let fields = vec![
        ("id", Expr::text(id)),
        ("placement", placement),
        ("scopes", texts(scopes)),
        ("env", Expr::text(env)),
    ];
    Expr::Struct { head: "SecurityScheme", fields, base: None }
}
