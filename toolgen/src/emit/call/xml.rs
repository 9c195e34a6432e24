//! XML documents as constant expressions.

use toolgen_core::Text;
use toolgen_core::spec::plan::{Xml, XmlContent, XmlField, XmlKind, XmlNode};

use super::super::expr::Expr;
use super::super::fields::{Fields, list_of};

pub(super) fn xml(xml: &Xml) -> Expr {
    let Xml { root, named } = xml;
    let fields = vec![("root", node(root)), ("named", list_of(named, named_content))];
    Expr::Struct { head: "Xml", fields, base: None }
}

fn named_content((name, value): &(Text, XmlContent)) -> Expr {
    Expr::Call("", vec![Expr::text(name), content(value)])
}

fn node(node: &XmlNode) -> Expr {
    let XmlNode { kind, name, prefix, namespace, content } = node;
    let base = &XmlNode::EMPTY;
    let mut fields = Fields::default();
    fields.put("kind", kind, &base.kind, |kind| {
        Expr::atom(match kind {
            XmlKind::Element => "XmlKind::Element",
            XmlKind::Attribute => "XmlKind::Attribute",
            XmlKind::Text => "XmlKind::Text",
            XmlKind::Cdata => "XmlKind::Cdata",
            XmlKind::None => "XmlKind::None",
        })
    });
    fields.text("name", name, &base.name);
    fields.text("prefix", prefix, &base.prefix);
    fields.text("namespace", namespace, &base.namespace);
    fields.put("content", content, &base.content, self::content);
    fields.literal("XmlNode", "XmlNode::EMPTY")
}

fn content(content: &XmlContent) -> Expr {
    match content {
        XmlContent::Any => Expr::atom("XmlContent::Any"),
        XmlContent::Text => Expr::atom("XmlContent::Text"),
        XmlContent::Number => Expr::atom("XmlContent::Number"),
        XmlContent::Boolean => Expr::atom("XmlContent::Boolean"),
        XmlContent::List(nodes) => Expr::Call("XmlContent::List", vec![list_of(nodes, node)]),
        XmlContent::Object(fields) => Expr::Call("XmlContent::Object", vec![list_of(fields, field)]),
        XmlContent::Named(name) => Expr::Call("XmlContent::Named", vec![Expr::text(name)]),
    }
}

fn field(field: &XmlField) -> Expr {
    let XmlField { key, node } = field;
    Expr::Struct {
        head: "XmlField",
        fields: vec![("key", Expr::text(key)), ("node", self::node(node))],
        base: None,
    }
}
