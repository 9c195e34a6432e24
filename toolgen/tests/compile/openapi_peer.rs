//! Compares what the front end compiled with what another reader of OpenAPI, the crate `openapiv3`, sees of a document.
//!
//! Of every 3.0 document of the corpus and of `specs/` that the other reader takes, each operation must have a tool, with the
//! same parameters, written the same way, the same body and the same alternatives of authentication. The rules of OpenAPI
//! that no reader applies by itself (which parameter replaces which, which header is none) stand here, once more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use openapiv3::{APIKeyLocation, ReferenceOr, Schema, SchemaKind, Type};
use openapiv3::{
    OpenAPI, Operation, Parameter, ParameterSchemaOrContent, PathItem, RequestBody, SecurityScheme,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgen::{Document, Options, Pointer, Problems, Tool};
use toolgen_runtime::schema::shape::Kind;
use toolgen_runtime::spec::plan::{
    BodySource, Encoding, HeaderOwner, Location, Placement, RequestPlan, Style,
};

use toolgen_test_support::{needs, pages::root};

/// Where the two readers differ for a reason, in its own words. Nothing else may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// A parameter or a scheme in another document, which is outside of the folder that may be read: it is left out, and a
    /// problem says so.
    OutsideOfFolder,
    /// A parameter of the path that the path has no place for, or a place that nothing declares: the path counts.
    PathTemplate,
    /// A header or another parameter that holds a credential: the security schemes send it, not a model.
    Credential,
    /// The header by which a service recognises a repeated request, which the engine makes.
    IdempotencyKey,
}

/// What is sent where: the place, the name, whether it must be given, and how it is written.
type Params = BTreeMap<(Location, String), (bool, String)>;

/// Alternatives of schemes, each with its place and its scopes.
type Security = Vec<BTreeMap<String, (String, Vec<String>)>>;

/// A document as the other reader sees it.
struct Peer<'d> {
    api: OpenAPI,
    root: &'d Value,
}

impl Peer<'_> {
    /// Follows references: the other reader leaves them as they are.
    fn resolved<T: Clone + DeserializeOwned>(&self, item: &ReferenceOr<T>) -> Option<T> {
        let mut item = item.clone();
        for _ in 0..32 {
            match item {
                ReferenceOr::Item(item) => return Some(item),
                ReferenceOr::Reference { reference } => {
                    let found = Pointer::from_fragment(reference.strip_prefix('#')?)?;
                    item = serde_json::from_value(found.resolve(self.root)?.clone()).ok()?;
                }
            }
        }
        None
    }

    /// The parameters of an operation and those of its path that it does not replace.
    fn params(&self, item: &PathItem, operation: &Operation) -> Params {
        let mut params = Params::new();
        for list in [&item.parameters, &operation.parameters] {
            let mut own = Params::new();
            for parameter in list.iter().filter_map(|parameter| self.resolved(parameter)) {
                let (location, style) = place(&parameter);
                let data = parameter.parameter_data_ref();
                let written = match &data.format {
                    ParameterSchemaOrContent::Content(content) => {
                        format!("as {}", content.keys().next().map_or("", String::as_str))
                    }
                    ParameterSchemaOrContent::Schema(_) => {
                        let reserved = matches!(parameter, Parameter::Query { allow_reserved: true, .. });
                        let explode = data.explode.unwrap_or(style == Style::Form);
                        format!("{style:?} {} {reserved}", explode || style == Style::DeepObject)
                    }
                };
                let name = match location {
                    Location::Header => data.name.to_ascii_lowercase(),
                    _ => data.name.clone(),
                };
                let value = (data.required || location == Location::Path, written);
                own.entry((location, name)).or_insert(value);
            }
            params.extend(own);
        }
        params
    }

    /// What an operation asks for; `None` if a scheme is not declared.
    fn security(&self, operation: &Operation) -> Option<Security> {
        let asked = operation.security.as_ref().or(self.api.security.as_ref());
        let declared = self.api.components.as_ref().map(|components| &components.security_schemes);
        let location = |id: &String| Some(sent(&self.resolved(declared?.get(id)?)?));
        let alternatives = asked.into_iter().flatten().map(|alternative| {
            alternative
                .iter()
                .map(|(id, scopes)| Some((id.clone(), (location(id)?, scopes.clone()))))
                .collect()
        });
        let alternatives: Option<Security> = alternatives.collect();
        Some(alternatives?.into_iter().flat_map(one_of_each_place).collect())
    }

    /// The properties of a schema of objects, and whether each must be given; `None` if they depend on the value.
    fn properties(&self, schema: &ReferenceOr<Schema>, depth: usize) -> Option<BTreeMap<String, bool>> {
        let Schema { schema_kind, schema_data } = self.resolved(schema)?;
        let (properties, required, all) = match schema_kind {
            SchemaKind::Type(Type::Object(object)) => (object.properties, object.required, Vec::new()),
            SchemaKind::AllOf { all_of } => (Default::default(), Vec::new(), all_of),
            SchemaKind::Any(any) if any.one_of.is_empty() && any.any_of.is_empty() && any.not.is_none() => {
                (any.properties, any.required, any.all_of)
            }
            _ => return None,
        };
        if schema_data.discriminator.is_some() || depth == 0 {
            return None;
        }
        let mut found = BTreeMap::new();
        let mut needed: BTreeSet<String> = required.into_iter().collect();
        for (name, property) in properties {
            let plain = self.resolved(&property.unbox())?;
            if !plain.schema_data.read_only {
                found.insert(name, false);
            }
        }
        for part in all {
            for (name, required) in self.properties(&part, depth - 1)? {
                needed.extend(required.then(|| name.clone()));
                found.insert(name, false);
            }
        }
        found.iter_mut().for_each(|(name, required)| *required = needed.contains(name));
        Some(found)
    }
}

/// A place of a request holds one credential: of schemes that are all sent there, each is an alternative.
fn one_of_each_place(alternative: BTreeMap<String, (String, Vec<String>)>) -> Security {
    let mut places: BTreeMap<String, Security> = BTreeMap::new();
    for (id, scheme) in alternative {
        places.entry(scheme.0.clone()).or_default().push([(id, scheme)].into());
    }
    places.into_values().fold(vec![BTreeMap::new()], |known, here| {
        let with = |one: &BTreeMap<_, _>| {
            here.iter().map(|more| one.clone().into_iter().chain(more.clone()).collect()).collect::<Vec<_>>()
        };
        known.iter().flat_map(with).collect()
    })
}

/// Where a parameter goes, and its style.
fn place(parameter: &Parameter) -> (Location, Style) {
    use openapiv3::{PathStyle, QueryStyle};
    match parameter {
        Parameter::Path { style: PathStyle::Matrix, .. } => (Location::Path, Style::Matrix),
        Parameter::Path { style: PathStyle::Label, .. } => (Location::Path, Style::Label),
        Parameter::Path { .. } => (Location::Path, Style::Simple),
        Parameter::Query { style: QueryStyle::Form, .. } => (Location::Query, Style::Form),
        Parameter::Query { style: QueryStyle::SpaceDelimited, .. } => {
            (Location::Query, Style::SpaceDelimited)
        }
        Parameter::Query { style: QueryStyle::PipeDelimited, .. } => (Location::Query, Style::PipeDelimited),
        Parameter::Query { .. } => (Location::Query, Style::DeepObject),
        Parameter::Header { .. } => (Location::Header, Style::Simple),
        Parameter::Cookie { .. } => (Location::Cookie, Style::Form),
    }
}

/// How a scheme's credential is sent.
fn sent(scheme: &SecurityScheme) -> String {
    match scheme {
        SecurityScheme::APIKey { location: APIKeyLocation::Query, name, .. } => format!("query {name}"),
        SecurityScheme::APIKey { location: APIKeyLocation::Header, name, .. } => format!("header {name}"),
        SecurityScheme::APIKey { location: APIKeyLocation::Cookie, name, .. } => format!("cookie {name}"),
        SecurityScheme::HTTP { scheme, .. } => scheme.to_ascii_lowercase(),
        SecurityScheme::OAuth2 { .. } | SecurityScheme::OpenIDConnect { .. } => "bearer".to_owned(),
    }
}

fn our_sent(placement: &Placement) -> String {
    match placement {
        Placement::Header(name) => format!("header {name}"),
        Placement::Query(name) => format!("query {name}"),
        Placement::Cookie(name) => format!("cookie {name}"),
        Placement::Basic => "basic".to_owned(),
        Placement::Bearer => "bearer".to_owned(),
        Placement::MutualTls => "mutual TLS".to_owned(),
        Placement::Other(name) => name.to_string(),
    }
}

fn our_security(plan: &RequestPlan) -> Security {
    let scopes = |scopes: &[toolgen_runtime::Text]| scopes.iter().map(ToString::to_string).collect();
    let alternatives = plan.security.iter().map(|alternative| {
        let schemes = alternative.schemes.iter();
        schemes.map(|one| (one.id.to_string(), (our_sent(&one.placement), scopes(&one.scopes)))).collect()
    });
    alternatives.collect()
}

/// Whether the arguments of a tool must be given.
fn required_arguments(tool: &Tool) -> BTreeMap<&str, bool> {
    let Kind::Object(rules) = &tool.spec.input.shape().kind else { panic!("{}", tool.spec.name) };
    rules.fields.iter().map(|field| (field.name.as_str(), field.required)).collect()
}

fn our_params(tool: &Tool, plan: &RequestPlan) -> Params {
    let required = required_arguments(tool);
    let params = plan.parameters.iter().map(|parameter| {
        let written = match &parameter.encoding {
            Encoding::Style { style, explode, allow_reserved } => {
                format!("{style:?} {explode} {allow_reserved}")
            }
            Encoding::Content(media_type) => format!("as {media_type}"),
            Encoding::Xml(_) => "as application/xml".to_owned(),
        };
        let name = match parameter.location {
            Location::Header => parameter.name.to_ascii_lowercase(),
            _ => parameter.name.to_string(),
        };
        ((parameter.location, name), (required[parameter.argument.as_str()], written))
    });
    params.collect()
}

/// What is left of two lists of parameters, once the known differences are taken out.
fn compare_params(
    plan: &RequestPlan,
    mut theirs: Params,
    mut ours: Params,
    known: &mut Vec<Known>,
) -> Option<String> {
    let sent_by_scheme = |location: Location, name: &str| {
        let mut schemes = plan.security.iter().flat_map(|alternative| &alternative.schemes);
        schemes.any(|scheme| match (&scheme.placement, location) {
            (Placement::Header(at), Location::Header) => at.eq_ignore_ascii_case(name),
            (Placement::Query(at), Location::Query) | (Placement::Cookie(at), Location::Cookie) => {
                *at == *name
            }
            _ => false,
        })
    };
    theirs.retain(|(location, name), _| {
        let owner = HeaderOwner::of(name).filter(|_| *location == Location::Header);
        match (location, owner) {
            // OpenAPI has such parameters ignored.
            (_, Some(HeaderOwner::Media | HeaderOwner::Client)) => {}
            (_, Some(HeaderOwner::Security)) => known.push(Known::Credential),
            _ if sent_by_scheme(*location, name) => known.push(Known::Credential),
            (Location::Header, _) if plan.idempotency_key.eq_ignore_ascii_case(name) => {
                known.push(Known::IdempotencyKey);
            }
            (Location::Path, _) if !plan.path.contains(&format!("{{{name}}}")) => {
                known.push(Known::PathTemplate);
            }
            _ => return true,
        }
        false
    });
    ours.retain(|key, _| {
        let undeclared = key.0 == Location::Path && !theirs.contains_key(key);
        known.extend(undeclared.then_some(Known::PathTemplate));
        !undeclared
    });
    (theirs != ours).then(|| format!("parameters: they have {theirs:?}, we have {ours:?}"))
}

fn compare_body(
    peer: &Peer<'_>,
    tool: &Tool,
    plan: &RequestPlan,
    theirs: Option<RequestBody>,
) -> Option<String> {
    let (theirs, ours) = match (theirs.filter(|body| !body.content.is_empty()), &plan.body) {
        (None, None) => return None,
        (Some(theirs), Some(ours)) => (theirs, ours),
        (theirs, ours) => return Some(format!("they have the body {theirs:?}, we have {ours:?}")),
    };
    if ours.required != theirs.required {
        return Some(format!("the body is required: they say {}, we say {}", theirs.required, ours.required));
    }
    let plain = |text: &str| text.trim().to_ascii_lowercase();
    // Of a range of types, the one that is sent is ours to choose.
    let ours_too = |declared: &str| ours.media_type.split(',').any(|one| plain(one) == plain(declared));
    let fits = |declared: &String| ours_too(declared) || declared.contains('*');
    let Some((_, media)) = theirs.content.iter().find(|(declared, _)| fits(declared)) else {
        let types: Vec<_> = theirs.content.keys().collect();
        return Some(format!("they have the media types {types:?}, we have {}", ours.media_type));
    };
    let required = required_arguments(tool);
    let (given, declared): (BTreeMap<String, bool>, _) = match &ours.source {
        BodySource::Argument(argument) => {
            let whole = |required| BTreeMap::from([(String::new(), required)]);
            (whole(required[argument.as_str()]), Some(whole(theirs.required)))
        }
        BodySource::Fields(fields) => {
            let given =
                fields.iter().map(|field| (field.name.to_string(), required[field.argument.as_str()]));
            (given.collect(), media.schema.as_ref().and_then(|schema| peer.properties(schema, 16)))
        }
    };
    let declared = declared.unwrap_or_else(|| given.clone());
    (given != declared).then(|| format!("fields of the body: they have {declared:?}, we have {given:?}"))
}

/// What the documents give: how many are 3.0, how many the other reader takes, what differs, and what is known to.
#[derive(Default)]
struct Findings {
    documents: usize,
    read: usize,
    operations: usize,
    differences: Vec<String>,
    known: BTreeMap<Known, usize>,
}

fn compare(path: &Path, findings: &mut Findings) {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems).unwrap();
    if !document.root["openapi"].as_str().is_some_and(|version| version.starts_with("3.0")) {
        return;
    }
    findings.documents += 1;
    let Ok(api) = serde_json::from_value::<OpenAPI>(document.root.clone()) else { return };
    findings.read += 1;
    let peer = Peer { api, root: &document.root };
    let program = toolgen::compile(&document, &Options::default(), &mut problems).unwrap();
    let mut tools: BTreeMap<&str, &Tool> =
        program.tools.iter().map(|tool| (tool.origin.title.as_str(), tool)).collect();
    let name = path.file_name().unwrap().to_string_lossy();
    for (path, item) in peer.api.paths.iter() {
        let Some(item) = peer.resolved(item) else { continue };
        for (method, operation) in item.iter() {
            let title = format!("{} {path}", method.to_ascii_uppercase());
            findings.operations += 1;
            let pointer = Pointer::default().child("paths").child(path).child(method);
            let outside = leads_outside(&problems, &pointer);
            let Some(tool) = tools.remove(title.as_str()) else {
                findings.differences.push(format!("{name}: {title}: no tool"));
                continue;
            };
            let plan = tool.call.http().unwrap();
            let mut known: Vec<Known> = outside.then_some(Known::OutsideOfFolder).into_iter().collect();
            let theirs = peer.params(&item, operation);
            let (security, ours) = (peer.security(operation), our_security(plan));
            let body = operation.request_body.as_ref().map(|body| peer.resolved(body).unwrap());
            let different = [
                compare_params(plan, theirs, our_params(tool, plan), &mut known),
                compare_body(&peer, tool, plan, body),
                (security.as_ref() != Some(&ours) && !(outside && security.is_none() && ours.is_empty()))
                    .then(|| format!("security: they have {security:?}, we have {ours:?}")),
            ];
            let reported = different.into_iter().flatten().map(|what| format!("{name}: {title}: {what}"));
            findings.differences.extend(reported);
            known.into_iter().for_each(|one| *findings.known.entry(one).or_default() += 1);
        }
    }
    for title in tools.keys() {
        findings.differences.push(format!("{name}: {title}: they have no such operation"));
    }
}

/// Whether the problems say that something in this place is a reference outside the directory of the document.
fn leads_outside(problems: &Problems, place: &Pointer) -> bool {
    let inside = format!("{}/", place.as_str());
    let mut all = problems.as_slice().iter();
    all.any(|problem| {
        problem.pointer.as_str().starts_with(&inside) && problem.message.contains("is outside the document")
    })
}

#[test]
fn independent_parser_finds_the_same_operations() {
    let own = ["bookshop.yaml", "kitchen-sink.json", "petstore.yaml", "tasks.yaml"];
    sees_the_same(&own.map(|name| root().join("specs").join(name)));
}

#[test]
#[ignore = "heavy: corpus"]
fn independent_parser_agrees_on_the_corpus() {
    sees_the_same(&needs::corpus());
}

fn sees_the_same(documents: &[PathBuf]) {
    let mut findings = Findings::default();
    documents.iter().for_each(|path| compare(path, &mut findings));
    let Findings { documents: count, read, operations, differences, known } = findings;
    eprintln!("{read} of {count} documents, {operations} operations; known differences: {known:?}");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
    assert!(documents.is_empty() || read > 0 && operations > 0);
}
