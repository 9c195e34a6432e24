//! Keys of other libraries that have a different name in `#[arg]`, so that errors can suggest the right one.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{Expr, ExprLit, Lit};

use crate::attr::{self, Key, Value, ungroup};
use crate::errors::Errors;

/// The equivalent of a key of another library.
enum ForeignKey {
    /// A bound of `range` or `len`.
    Bound(&'static str, Side),
    /// A key with a value, with an example.
    Single(&'static str, &'static str),
    /// A key with several values, with an example.
    Several(&'static str, &'static str),
    /// A flag.
    Flag(&'static str),
    /// A key without an equivalent, with a help.
    Unsupported(&'static str),
}

/// The side of a bound.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Min,
    ExclusiveMin,
    Max,
    ExclusiveMax,
    Exact,
    /// Both, in a list.
    Both,
}

/// Returns the equivalent of a key in snake case, camel case or without separators.
fn equivalent_key(name: &str) -> Option<ForeignKey> {
    use ForeignKey::{Bound, Flag, Several, Single, Unsupported};
    Some(match name.replace('_', "").to_lowercase().as_str() {
        "min" | "minimum" | "ge" | "gte" => Bound("range", Side::Min),
        "gt" | "exclusivemin" | "exclusiveminimum" => Bound("range", Side::ExclusiveMin),
        "max" | "maximum" | "le" | "lte" => Bound("range", Side::Max),
        "lt" | "exclusivemax" | "exclusivemaximum" => Bound("range", Side::ExclusiveMax),
        "range" => Bound("range", Side::Both),
        "minlength" | "minlen" | "minitems" | "minsize" | "minproperties" => Bound("len", Side::Min),
        "maxlength" | "maxlen" | "maxitems" | "maxsize" | "maxproperties" => Bound("len", Side::Max),
        "len" | "length" | "size" => Bound("len", Side::Both),
        "regex" | "regexp" | "matches" => Single("pattern", "\"^[a-z]+$\""),
        "desc" | "description" | "doc" | "docs" | "help" | "longhelp" | "about" | "comment" => {
            Single("description", "\"…\"")
        }
        "defaultvalue" | "defaultvaluet" | "fallback" => Single("default", "10"),
        "name" | "title" => Single("rename", "\"…\""),
        "sample" => Single("example", "10"),
        "aliases" | "visiblealias" => Several("alias", "\"…\""),
        "choices" | "enum" | "enumvalues" | "values" | "allowed" | "possiblevalues" | "valueparser" => {
            Several("one_of", "\"a\", \"b\"")
        }
        "sensitive" | "password" | "writeonly" => Flag("secret"),
        "optional" | "required" | "nullable" => {
            Unsupported("an argument is optional if its type is an `Option` or it has a `default`")
        }
        "unique" | "uniqueitems" => Unsupported("a `BTreeSet` or a `HashSet` is an array of unique items"),
        "format" | "email" | "url" | "uri" | "uuid" | "ip" | "ipv4" | "ipv6" => Unsupported(
            "formats are types: `Url`, `Uuid`, `Ipv4Addr`, `Duration`; other strings take `pattern = \"…\"`",
        ),
        "multipleof" | "step" => Unsupported(
            "there is no such rule: check the value in the function, and return an error with the reason",
        ),
        "inject" | "state" | "skip" | "context" | "service" => Unsupported(
            "a value of your program is not an argument: make it a `Service<T>`, or mark it `#[inject]` instead of `#[arg]`",
        ),
        _ => return None,
    })
}

/// Bounds in the syntax of other libraries.
#[derive(Default)]
struct Bounds {
    /// The keys that set the bounds.
    keys: Vec<Ident>,
    sides: Vec<(Side, String)>,
}

/// Like [`read_keys`](attr::read_keys), for the attributes of an argument, whose keys have other names in other libraries.
pub(crate) fn argument_keys(
    tokens: TokenStream,
    attr_name: &str,
    known: &[&str],
    errors: &mut Errors,
) -> Vec<Key> {
    let mut entries = attr::read_entries(tokens, errors);
    report_foreign_keys(&mut entries, attr_name, known, errors);
    attr::check_known(entries, attr_name, known, errors)
}

/// Removes the keys of other libraries, and reports each with its replacement. Messages call the attribute `attr_name`;
/// `known` are its keys.
fn report_foreign_keys(keys: &mut Vec<Key>, attr_name: &str, known: &[&str], errors: &mut Errors) {
    let (mut range, mut len) = (Bounds::default(), Bounds::default());
    keys.retain(|key| {
        let name = key.as_str();
        let is_list = matches!(key.value, Value::List(_));
        match equivalent_key(&name) {
            Some(ForeignKey::Bound(key_name, side))
                if known.contains(&key_name) && (name != key_name || is_list) =>
            {
                let bounds = if key_name == "range" { &mut range } else { &mut len };
                bounds.keys.push(key.name.clone());
                bounds.add(side, &key.value);
                false
            }
            Some(_) if known.contains(&name.as_str()) => true,
            Some(ForeignKey::Single(key_name, example)) if known.contains(&key_name) => {
                let value = value(&key.value).unwrap_or_else(|| example.to_owned());
                suggest(&[&key.name], attr_name, &format!("{key_name} = {value}"), errors);
                false
            }
            Some(ForeignKey::Several(key_name, example)) if known.contains(&key_name) => {
                let values = values(&key.value).unwrap_or_else(|| example.to_owned());
                suggest(&[&key.name], attr_name, &format!("{key_name}({values})"), errors);
                false
            }
            Some(ForeignKey::Flag(key_name)) if known.contains(&key_name) => {
                suggest(&[&key.name], attr_name, key_name, errors);
                false
            }
            Some(ForeignKey::Unsupported(help)) => {
                errors.at(&key.name, format!("unknown `{name}` in {attr_name}; {help}"));
                false
            }
            _ => true,
        }
    });
    for (key_name, bounds) in [("range", range), ("len", len)] {
        if !bounds.keys.is_empty() {
            let keys: Vec<&Ident> = bounds.keys.iter().collect();
            suggest(&keys, attr_name, &format!("{key_name} = {}", bounds.text()), errors);
        }
    }
}

/// Reports keys, with a suggestion, at the span of the first key.
fn suggest(keys: &[&Ident], attr_name: &str, suggestion: &str, errors: &mut Errors) {
    let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let Some(first) = keys.first() else { return };
    let is_same_key = suggestion.split([' ', '(']).next().is_some_and(|key_name| *first == key_name);
    let message = if is_same_key {
        format!("write `{suggestion}`")
    } else {
        format!("unknown {} in {attr_name}; did you mean `{suggestion}`?", names.join(" and "))
    };
    errors.at(first, message);
}

impl Bounds {
    /// Adds a bound, or the bounds of a list: `length(min = 1, max = 3)`.
    fn add(&mut self, side: Side, value: &Value) {
        let is_range = side == Side::Both;
        match value {
            Value::Expr(expr) => {
                let side = if is_range { Side::Exact } else { side };
                self.sides.push((side, attr::display_tokens(expr)));
            }
            Value::List(tokens) if is_range => {
                // Errors in the list are not reported separately.
                let mut ignored_errors = Errors::default();
                for key in attr::read_entries(tokens.clone(), &mut ignored_errors) {
                    match (equivalent_key(&key.as_str()), &key.value) {
                        (Some(ForeignKey::Bound(_, side)), Value::Expr(_)) => self.add(side, &key.value),
                        (_, Value::Expr(expr)) if key.name == "equal" => {
                            self.sides.push((Side::Exact, attr::display_tokens(expr)));
                        }
                        _ => {}
                    }
                }
                drop(ignored_errors);
            }
            Value::List(_) | Value::Empty => {}
        }
    }

    /// Returns the range in the syntax of `#[arg]`.
    fn text(&self) -> String {
        let find = |expected_side: Side| {
            self.sides.iter().find(|(side, _)| *side == expected_side).map(|(_, text)| text)
        };
        if let Some(exact) = find(Side::Exact) {
            return exact.clone();
        }
        // A range includes its start.
        let successor = |bound: &String| {
            bound.parse::<i64>().map_or_else(|_| bound.clone(), |bound| (bound + 1).to_string())
        };
        let start = find(Side::Min).cloned().or_else(|| find(Side::ExclusiveMin).map(successor));
        let (dots, end) = match (find(Side::Max), find(Side::ExclusiveMax)) {
            (Some(max), _) => ("..=", max.clone()),
            (None, Some(end)) => ("..", end.clone()),
            (None, None) if start.is_none() => return "1..=100".to_owned(),
            (None, None) => ("..", String::new()),
        };
        format!("{}{dots}{end}", start.unwrap_or_default())
    }
}

/// Returns the value of a key as source text; for `regex(path = "…")`, the string in it.
fn value(value: &Value) -> Option<String> {
    match value {
        Value::Expr(expr) => Some(attr::display_tokens(expr)),
        Value::List(tokens) => {
            let literal = |token| match token {
                TokenTree::Literal(literal) => Some(literal.to_string()),
                _ => None,
            };
            tokens.clone().into_iter().find_map(literal)
        }
        Value::Empty => None,
    }
}

/// Returns the values of a key as source text.
fn values(value: &Value) -> Option<String> {
    match value {
        Value::Expr(expr) => match ungroup(expr) {
            Expr::Array(array) => Some(attr::display_tokens(&array.elems)),
            Expr::Reference(reference) => values(&Value::Expr(reference.expr.clone())),
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => Some(attr::display_tokens(expr)),
            _ => None,
        },
        Value::List(tokens) => Some(attr::display_tokens(tokens)),
        Value::Empty => None,
    }
}
