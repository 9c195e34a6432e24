//! Objects whose keys are names of their own in a request: none may take the name of something else there, least of all
//! of an argument that is fixed, left out or a credential.

use serde_json::{Map, Value};

use super::body::form_field;
use super::request::{RequestProblem, RequestProblemKind};
use super::url;
use crate::spec::plan::{BodySource, Encoding, Location, Parameter, Part, Placement, RequestPlan, Style};

/// Returns the problem of a parameter if one of its pairs has the name of something else: of another parameter, given or
/// not, of a credential, or of what the path of the document has in its query. Two objects may both have a key: a
/// document may declare it in both.
pub(super) fn taken(plan: &RequestPlan, parameter: &Parameter, pairs: &[String]) -> Option<RequestProblem> {
    let own = |name: &String| parameter.name == **name;
    let names = pairs.iter().flat_map(|pair| pair.split('&')).map(url::name).filter(|name| !own(name));
    let is_fixed = |name: &str| {
        parameter.location == Location::Query && plan.query.iter().any(|(fixed, _)| fixed.as_str() == name)
    };
    let mut taken = names.filter(|name| is_reserved(plan, parameter, name) || is_fixed(name));
    taken.next().map(|name| problem(&parameter.argument, &name))
}

/// Returns the problem of a field of a form if a key within it is the name of another field, given or not.
pub(super) fn in_form(
    argument: &str,
    fields: &Map<String, Value>,
    parts: &[Part],
    source: &BodySource,
) -> Option<RequestProblem> {
    let listed = |name: &str| match source {
        BodySource::Fields(listed) => listed.iter().any(|field| field.name.as_str() == name),
        BodySource::Argument(_) => false,
    };
    fields.iter().filter(|(_, value)| value.is_object()).find_map(|(field, value)| {
        let pairs = form_field(field, value, Part::of(parts, field));
        let is_other = |name: &String| {
            let is_known = fields.contains_key(name) || listed(name) || Part::of(parts, name).is_some();
            name != field && is_known
        };
        let name = pairs.iter().map(|pair| url::name(pair)).find(is_other)?;
        Some(problem(if argument.is_empty() { field } else { argument }, &name))
    })
}

/// Returns the problem of an argument that may not have a key of this name.
pub(super) fn problem(argument: &str, name: &str) -> RequestProblem {
    let message = format!(
        "`{argument}` may not have the key `{name}`: the request has something else under that name; leave it out"
    );
    RequestProblem::new(RequestProblemKind::Arguments, argument, message)
}

/// Whether a name belongs to another parameter at the same place, or to a credential.
fn is_reserved(plan: &RequestPlan, parameter: &Parameter, name: &str) -> bool {
    let is_of = |other: &Parameter| {
        let is_deep = matches!(&other.encoding, Encoding::Style { style: Style::DeepObject, .. });
        let inner = name.strip_prefix(other.name.as_str());
        inner.is_some_and(|rest| rest.is_empty() || (is_deep && rest.starts_with('[')))
    };
    let mut others = plan.parameters.iter().filter(|other| {
        other.location == parameter.location && other.name != parameter.name && !other.name.is_empty()
    });
    let mut schemes = plan.security.iter().flat_map(|alternative| &alternative.schemes);
    others.any(is_of)
        || schemes.any(|scheme| match &scheme.placement {
            Placement::Query(key) => parameter.location == Location::Query && *key == *name,
            Placement::Cookie(key) => parameter.location == Location::Cookie && *key == *name,
            _ => false,
        })
}
