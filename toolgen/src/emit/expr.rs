//! Constant expressions and their layout.
//!
//! The layout follows rustfmt where that costs nothing, and fills lists of short values to the width of a line: the
//! reader of a generated file compares it with the document, tool by tool.

use super::literal;

/// Maximum width of a line, in columns.
const WIDTH: usize = 110;

/// A constant expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// A path, a number, or any other expression that is written unchanged.
    Atom(String),
    /// `head(arguments)`; without a head a tuple.
    Call(&'static str, Vec<Expr>),
    /// `head { fields, ..base }`
    Struct { head: &'static str, fields: Vec<(&'static str, Expr)>, base: Option<&'static str> },
    /// `[items]`
    Array(Vec<Expr>),
    /// `&expression`
    Borrow(Box<Expr>),
}

impl Expr {
    pub(super) fn atom(text: impl Into<String>) -> Expr {
        Expr::Atom(text.into())
    }

    /// A string literal.
    pub(super) fn string(text: &str) -> Expr {
        Expr::Atom(literal::string(text))
    }

    /// A `Text` of the runtime: `S("…")`.
    pub(super) fn text(text: &str) -> Expr {
        Expr::Call("S", vec![Expr::string(text)])
    }

    /// A `List` of the runtime: `S(&[…])`.
    pub(super) fn list(items: Vec<Expr>) -> Expr {
        Expr::Call("S", vec![Expr::Borrow(Box::new(Expr::Array(items)))])
    }

    /// A `List` of the runtime that is a separate static: `S(&NAME)`.
    pub(super) fn named_list(name: &str) -> Expr {
        Expr::Call("S", vec![Expr::Atom(format!("&{name}"))])
    }

    /// Adds the names of the statics that the expression refers to.
    pub(super) fn names<'e>(&'e self, names: &mut Vec<&'e str>) {
        match self {
            Expr::Atom(text) => {
                let name = text.strip_prefix('&').map(|name| name.strip_suffix("[0]").unwrap_or(name));
                names.extend(name);
            }
            Expr::Call(_, items) | Expr::Array(items) => items.iter().for_each(|item| item.names(names)),
            Expr::Struct { fields, .. } => fields.iter().for_each(|(_, field)| field.names(names)),
            Expr::Borrow(inner) => inner.names(names),
        }
    }

    /// The expression on one line.
    pub(super) fn flat(&self) -> String {
        let mut out = String::new();
        self.write_flat(&mut out);
        out
    }

    fn write_flat(&self, out: &mut String) {
        match self {
            Expr::Atom(text) => out.push_str(text),
            Expr::Call(head, arguments) => {
                out.push_str(head);
                out.push('(');
                write_joined(arguments, out);
                out.push(')');
            }
            Expr::Struct { head, fields, base } => {
                out.push_str(head);
                out.push_str(" { ");
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    out.push_str(name);
                    out.push_str(": ");
                    value.write_flat(out);
                }
                if let Some(base) = base {
                    out.push_str(if fields.is_empty() { ".." } else { ", .." });
                    out.push_str(base);
                }
                out.push_str(" }");
            }
            Expr::Array(items) => {
                out.push('[');
                write_joined(items, out);
                out.push(']');
            }
            Expr::Borrow(inner) => {
                out.push('&');
                inner.write_flat(out);
            }
        }
    }

    /// Writes the expression at `indent`, in a line with `used` columns taken and `after` more to follow.
    pub(super) fn write(&self, indent: usize, used: usize, after: usize, out: &mut String) {
        let flat = self.flat();
        if used + columns(&flat) + after <= WIDTH {
            out.push_str(&flat);
            return;
        }
        match self {
            Expr::Atom(_) => out.push_str(&flat),
            Expr::Borrow(inner) => {
                out.push('&');
                inner.write(indent, used + 1, after, out);
            }
            Expr::Call(head, arguments) => write_call(head, arguments, indent, used, after, out),
            Expr::Struct { head, fields, base } => {
                out.push_str(head);
                out.push_str(" {\n");
                let inner = indent + 4;
                for (name, value) in fields {
                    pad(inner, out);
                    out.push_str(name);
                    out.push_str(": ");
                    value.write(inner, inner + name.len() + 2, 1, out);
                    out.push_str(",\n");
                }
                if let Some(base) = base {
                    pad(inner, out);
                    out.push_str("..");
                    out.push_str(base);
                    out.push('\n');
                }
                pad(indent, out);
                out.push('}');
            }
            Expr::Array(items) => write_array(items, indent, out),
        }
    }
}

fn write_joined(items: &[Expr], out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        item.write_flat(out);
    }
}

fn write_call(head: &str, arguments: &[Expr], indent: usize, used: usize, after: usize, out: &mut String) {
    out.push_str(head);
    if let [only] = arguments {
        out.push('(');
        only.write(indent, used + head.len() + 1, after + 1, out);
        out.push(')');
        return;
    }
    if arguments.iter().all(|argument| matches!(argument, Expr::Atom(_))) {
        // A line break does not shorten a literal that is too long.
        out.push('(');
        write_joined(arguments, out);
        out.push(')');
        return;
    }
    out.push_str("(\n");
    for argument in arguments {
        pad(indent + 4, out);
        argument.write(indent + 4, indent + 4, 1, out);
        out.push_str(",\n");
    }
    pad(indent, out);
    out.push(')');
}

/// Writes as many items per line as fit.
fn write_array(items: &[Expr], indent: usize, out: &mut String) {
    out.push('[');
    let inner = indent + 4;
    let mut column = usize::MAX;
    for item in items {
        let width = columns(&item.flat()) + 2;
        if column.saturating_add(width) > WIDTH {
            out.push('\n');
            pad(inner, out);
            column = inner;
        } else {
            out.push(' ');
        }
        item.write(inner, column, 1, out);
        out.push(',');
        // An item that spans several lines is followed by a line break.
        column = if column + width > WIDTH { usize::MAX } else { column + width };
    }
    out.push('\n');
    pad(indent, out);
    out.push(']');
}

fn pad(columns: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', columns));
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::Expr;

    fn print(expr: &Expr) -> String {
        let mut out = String::new();
        expr.write(0, 0, 1, &mut out);
        out
    }

    #[test]
    fn short_expression_stays_on_one_line() {
        let expr = Expr::Struct {
            head: "Server",
            fields: vec![("url", Expr::text("https://a")), ("variables", Expr::list(vec![]))],
            base: None,
        };
        assert_eq!(print(&expr), "Server { url: S(\"https://a\"), variables: S(&[]) }");
    }

    #[test]
    fn array_items_fill_lines() {
        let expr = Expr::list((0..30).map(|n| Expr::text(&format!("value{n}"))).collect());
        let text = print(&expr);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.first(), Some(&"S(&["));
        assert_eq!(lines.last(), Some(&"])"));
        assert_eq!(lines.len(), 7, "{text}");
        assert!(lines.iter().all(|line| line.len() <= 110), "{text}");
    }

    #[test]
    fn long_string_does_not_split_its_container() {
        let long = "x".repeat(200);
        let expr =
            Expr::Struct { head: "A", fields: vec![("text", Expr::text(&long))], base: Some("A::EMPTY") };
        assert_eq!(print(&expr), format!("A {{\n    text: S(\"{long}\"),\n    ..A::EMPTY\n}}"));
    }

    #[test]
    fn multi_line_item_is_followed_by_a_line_break() {
        let items = vec![Expr::atom("1"), Expr::list(vec![Expr::text(&"x".repeat(100))]), Expr::atom("2")];
        let text = print(&Expr::Array(items));
        assert_eq!(text.lines().map(str::trim_end).filter(|line| line.trim() == "2,").count(), 1, "{text}");
    }
}
