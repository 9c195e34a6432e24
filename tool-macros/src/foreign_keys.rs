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
    Is(&'static str, &'static str),
    /// A key with several values, with an example.
    Several(&'static str, &'static str),
    /// A flag.
    Flag(&'static str),
    /// Something without an equivalent key, with a help.
    Otherwise(&'static str),
}

/// The side of a bound.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Least,
    Above,
    Most,
    Below,
    Exact,
    /// Both, in a list.
    Both,
}

/// Returns the equivalent of a key in snake case, camel case or without separators.
fn meaning(name: &str) -> Option<ForeignKey> {
    use ForeignKey::{Bound, Flag, Is, Otherwise, Several};
    Some(match name.replace('_', "").to_lowercase().as_str() {
        "min" | "minimum" | "ge" | "gte" => Bound("range", Side::Least),
        "gt" | "exclusivemin" | "exclusiveminimum" => Bound("range", Side::Above),
        "max" | "maximum" | "le" | "lte" => Bound("range", Side::Most),
        "lt" | "exclusivemax" | "exclusivemaximum" => Bound("range", Side::Below),
        "range" => Bound("range", Side::Both),
        "minlength" | "minlen" | "minitems" | "minsize" | "minproperties" => Bound("len", Side::Least),
        "maxlength" | "maxlen" | "maxitems" | "maxsize" | "maxproperties" => Bound("len", Side::Most),
        "len" | "length" | "size" => Bound("len", Side::Both),
        "regex" | "regexp" | "matches" => Is("pattern", "\"^[a-z]+$\""),
        "desc" | "description" | "doc" | "docs" | "help" | "longhelp" | "about" | "comment" => {
            Is("description", "\"…\"")
        }
        "defaultvalue" | "defaultvaluet" | "fallback" => Is("default", "10"),
        "name" | "title" => Is("rename", "\"…\""),
        "sample" => Is("example", "10"),
        "aliases" | "visiblealias" => Several("alias", "\"…\""),
        "choices" | "enum" | "enumvalues" | "values" | "allowed" | "possiblevalues" | "valueparser" => {
            Several("one_of", "\"a\", \"b\"")
        }
        "sensitive" | "password" | "writeonly" => Flag("secret"),
        "optional" | "required" | "nullable" => {
            Otherwise("an argument is optional if its type is an `Option` or it has a `default`")
        }
        "unique" | "uniqueitems" => Otherwise("a `BTreeSet` or a `HashSet` is an array of unique items"),
        "format" | "email" | "url" | "uri" | "uuid" | "ip" | "ipv4" | "ipv6" => Otherwise(
            "formats are types: `Url`, `Uuid`, `Ipv4Addr`, `Duration`; other strings take `pattern = \"…\"`",
        ),
        "multipleof" | "step" => Otherwise(
            "there is no such rule: check the value in the function, and return an error with the reason",
        ),
        "inject" | "state" | "skip" | "context" | "service" => Otherwise(
            "a value of your program is not an argument: make it a `Service<T>`, or mark it `#[inject]` instead of `#[arg]`",
        ),
        _ => return None,
    })
}

/// Bounds in the syntax of other libraries.
#[derive(Default)]
struct Bounds {
    /// The keys that set them.
    keys: Vec<Ident>,
    sides: Vec<(Side, String)>,
}

/// Like [`keys`](attr::keys), for the attributes of an argument, whose keys have other names in other libraries.
pub(crate) fn argument_keys(
    tokens: TokenStream,
    what: &str,
    known: &[&str],
    errors: &mut Errors,
) -> Vec<Key> {
    let mut entries = attr::entries(tokens, errors);
    report(&mut entries, what, known, errors);
    attr::only(entries, what, known, errors)
}

/// Removes the keys of other libraries, and reports each with its replacement. `what` names the attribute, and
/// `known` are its own keys.
fn report(keys: &mut Vec<Key>, what: &str, known: &[&str], errors: &mut Errors) {
    let (mut range, mut len) = (Bounds::default(), Bounds::default());
    keys.retain(|key| {
        let name = key.as_str();
        let is_list = matches!(key.value, Value::List(_));
        match meaning(&name) {
            Some(ForeignKey::Bound(word, side)) if known.contains(&word) && (name != word || is_list) => {
                let bounds = if word == "range" { &mut range } else { &mut len };
                bounds.keys.push(key.name.clone());
                bounds.add(side, &key.value);
                false
            }
            Some(_) if known.contains(&name.as_str()) => true,
            Some(ForeignKey::Is(word, example)) if known.contains(&word) => {
                let value = value(&key.value).unwrap_or_else(|| example.to_owned());
                suggest(&[&key.name], what, &format!("{word} = {value}"), errors);
                false
            }
            Some(ForeignKey::Several(word, example)) if known.contains(&word) => {
                let values = values(&key.value).unwrap_or_else(|| example.to_owned());
                suggest(&[&key.name], what, &format!("{word}({values})"), errors);
                false
            }
            Some(ForeignKey::Flag(word)) if known.contains(&word) => {
                suggest(&[&key.name], what, word, errors);
                false
            }
            Some(ForeignKey::Otherwise(help)) => {
                errors.at(&key.name, format!("unknown `{name}` in {what}; {help}"));
                false
            }
            _ => true,
        }
    });
    for (word, bounds) in [("range", range), ("len", len)] {
        if !bounds.keys.is_empty() {
            let keys: Vec<&Ident> = bounds.keys.iter().collect();
            suggest(&keys, what, &format!("{word} = {}", bounds.text()), errors);
        }
    }
}

/// Reports keys at the first of them, with a suggestion.
fn suggest(keys: &[&Ident], what: &str, suggestion: &str, errors: &mut Errors) {
    let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let Some(first) = keys.first() else { return };
    let known = suggestion.split([' ', '(']).next().is_some_and(|word| *first == word);
    let message = if known {
        format!("write `{suggestion}`")
    } else {
        format!("unknown {} in {what}; did you mean `{suggestion}`?", names.join(" and "))
    };
    errors.at(first, message);
}

impl Bounds {
    /// Adds a bound, or those of a list: `length(min = 1, max = 3)`.
    fn add(&mut self, side: Side, value: &Value) {
        let exact = side == Side::Both;
        match value {
            Value::Is(expr) => {
                let side = if exact { Side::Exact } else { side };
                self.sides.push((side, attr::display_tokens(expr)));
            }
            Value::List(tokens) if exact => {
                // Errors inside are not reported separately.
                let mut inner = Errors::default();
                for key in attr::entries(tokens.clone(), &mut inner) {
                    match (meaning(&key.as_str()), &key.value) {
                        (Some(ForeignKey::Bound(_, side)), Value::Is(_)) => self.add(side, &key.value),
                        (_, Value::Is(expr)) if key.name == "equal" => {
                            self.sides.push((Side::Exact, attr::display_tokens(expr)));
                        }
                        _ => {}
                    }
                }
                drop(inner);
            }
            Value::List(_) | Value::Bare => {}
        }
    }

    /// Returns the range in the syntax of `#[arg]`.
    fn text(&self) -> String {
        let find = |wanted: Side| self.sides.iter().find(|(side, _)| *side == wanted).map(|(_, text)| text);
        if let Some(exact) = find(Side::Exact) {
            return exact.clone();
        }
        // A range includes its start.
        let next = |above: &String| {
            above.parse::<i64>().map_or_else(|_| above.clone(), |above| (above + 1).to_string())
        };
        let start = find(Side::Least).cloned().or_else(|| find(Side::Above).map(next));
        let (dots, end) = match (find(Side::Most), find(Side::Below)) {
            (Some(most), _) => ("..=", most.clone()),
            (None, Some(below)) => ("..", below.clone()),
            (None, None) if start.is_none() => return "1..=100".to_owned(),
            (None, None) => ("..", String::new()),
        };
        format!("{}{dots}{end}", start.unwrap_or_default())
    }
}

/// Returns the value of a key as source text; for `regex(path = "…")`, the string in it.
fn value(value: &Value) -> Option<String> {
    match value {
        Value::Is(expr) => Some(attr::display_tokens(expr)),
        Value::List(tokens) => {
            let literal = |token| match token {
                TokenTree::Literal(literal) => Some(literal.to_string()),
                _ => None,
            };
            tokens.clone().into_iter().find_map(literal)
        }
        Value::Bare => None,
    }
}

/// Returns the values of a key as source text.
fn values(value: &Value) -> Option<String> {
    match value {
        Value::Is(expr) => match ungroup(expr) {
            Expr::Array(array) => Some(attr::display_tokens(&array.elems)),
            Expr::Reference(reference) => values(&Value::Is(reference.expr.clone())),
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => Some(attr::display_tokens(expr)),
            _ => None,
        },
        Value::List(tokens) => Some(attr::display_tokens(tokens)),
        Value::Bare => None,
    }
}
