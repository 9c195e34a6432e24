//! Tests of XML documents, written and parsed.

use serde_json::{Value, json};
use toolgen_kernel::base::frozen::List;
use toolgen_kernel::spec::plan::{
    Body, BodySource, Codec, Encoding, Location, Parameter, Part, RequestPlan, Xml, XmlContent, XmlField,
    XmlKind, XmlNode,
};

use super::super::build::build;
use super::super::request::BuildOptions;
use super::{read, write};

fn node(kind: XmlKind, name: &'static str, content: XmlContent) -> XmlNode {
    XmlNode { kind, name: name.into(), content, ..XmlNode::EMPTY }
}

fn element(name: &'static str, content: XmlContent) -> XmlNode {
    node(XmlKind::Element, name, content)
}

fn object(fields: Vec<(&'static str, XmlNode)>) -> XmlContent {
    XmlContent::Object(fields.into_iter().map(|(key, node)| XmlField { key: key.into(), node }).collect())
}

fn list(items: XmlNode) -> XmlContent {
    XmlContent::List(vec![items].into())
}

fn xml(name: &'static str, content: XmlContent) -> Xml {
    Xml { root: element(name, content), named: List::EMPTY }
}

fn write_body(value: &Value, xml: &Xml) -> String {
    let document = write(value, xml).unwrap();
    document.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").unwrap().to_owned()
}

/// Asserts that a value is written as this document, and that the document is parsed as the value.
fn assert_round_trip(xml: &Xml, value: &Value, document: &str) {
    assert_eq!(write_body(value, xml), document);
    assert_eq!(read(document, xml).as_ref(), Ok(value), "{document}");
}

/// The tables of "XML Object Examples" of OpenAPI 3.1.
#[test]
fn specification_tables_round_trip() {
    let person = |fields| xml("Person", object(fields));
    let smp = XmlNode {
        prefix: "smp".into(),
        namespace: "http://example.com/schema/sample".into(),
        ..element("name", XmlContent::Text)
    };
    assert_round_trip(
        &person(vec![("id", node(XmlKind::Attribute, "id", XmlContent::Number)), ("name", smp)]),
        &json!({"id": 123, "name": "example"}),
        "<Person id=\"123\"><smp:name xmlns:smp=\"http://example.com/schema/sample\">example</smp:name></Person>",
    );
    let animals = json!({"animals": ["dog", "cat"]});
    let list_xml = |wrapper: Option<&'static str>, item| {
        let (kind, name) = wrapper.map_or((XmlKind::None, ""), |name| (XmlKind::Element, name));
        xml("x", object(vec![("animals", node(kind, name, list(element(item, XmlContent::Text))))]))
    };
    assert_round_trip(&list_xml(None, "animal"), &animals, "<x><animal>dog</animal><animal>cat</animal></x>");
    assert_round_trip(
        &list_xml(Some("animals"), "animals"),
        &animals,
        "<x><animals><animals>dog</animals><animals>cat</animals></animals></x>",
    );
    assert_round_trip(
        &list_xml(Some("aliens"), "animal"),
        &animals,
        "<x><aliens><animal>dog</animal><animal>cat</animal></aliens></x>",
    );
}

#[test]
fn xml_follows_types_and_order_of_the_schema() {
    let xml = xml(
        "pet",
        object(vec![
            ("id", element("id", XmlContent::Number)),
            ("name", element("n", XmlContent::Text)),
            ("ok", element("ok", XmlContent::Boolean)),
            ("note", node(XmlKind::Cdata, "", XmlContent::Text)),
            ("none", element("none", XmlContent::Number)),
        ]),
    );
    let value = json!({"ok": false, "note": "a<b]]>c", "name": " \"x\" & <y>\r\n", "none": null, "id": 18446744073709551615_u64});
    let document = concat!(
        "<pet xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><id>18446744073709551615</id>",
        "<n> \"x\" &amp; &lt;y&gt;&#13;\n</n><ok>false</ok><![CDATA[a<b]]]]><![CDATA[>c]]>",
        "<none xsi:nil=\"true\"/></pet>",
    );
    let document = document.replace(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><id>", "><id>");
    let document = document
        .replace("<none xsi:nil", "<none xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil");
    assert_round_trip(&xml, &value, &document);
    let loose = "<pet><!-- c --><ok> 1 </ok><id>12345678901234567890123</id><more><a>1</a><a k='v'>2</a></more></pet>";
    let parsed = json!({
        "ok": true, "id": "12345678901234567890123", "note": "", "more": {"a": ["1", {"@k": "v", "#text": "2"}]}
    });
    assert_eq!(read(loose, &xml), Ok(parsed.clone()));
    let rewritten =
        write_body(&parsed["more"], &Xml { root: element("more", XmlContent::Any), named: List::EMPTY });
    assert_eq!(rewritten, "<more><a>1</a><a k=\"v\">2</a></more>");
}

#[test]
fn element_may_contain_itself() {
    let named = XmlContent::Named("Node".into());
    let content = object(vec![
        ("v", node(XmlKind::Attribute, "v", XmlContent::Number)),
        ("next", element("next", named.clone())),
    ]);
    let xml = Xml { root: element("node", named), named: vec![("Node".into(), content)].into() };
    assert_round_trip(&xml, &json!({"v": 1, "next": {"v": 2}}), "<node v=\"1\"><next v=\"2\"/></node>");
    let transparent = XmlContent::Named("T".into());
    let content = object(vec![("t", node(XmlKind::None, "", transparent.clone()))]);
    let endless = Xml { root: element("t", transparent), named: vec![("T".into(), content)].into() };
    assert!(read("<t/>", &endless).unwrap_err().contains("128"));
}

#[test]
fn namespaces_are_declared_once_and_distinguish_elements() {
    let link = |prefix: &'static str, namespace: &'static str| XmlNode {
        prefix: prefix.into(),
        namespace: namespace.into(),
        ..element("link", XmlContent::Text)
    };
    let fields = object(vec![("own", link("", "urn:a")), ("atom", link("atom", "urn:b"))]);
    let xml =
        Xml { root: XmlNode { namespace: "urn:a".into(), ..element("feed", fields) }, named: List::EMPTY };
    assert_round_trip(
        &xml,
        &json!({"own": "1", "atom": "2"}),
        "<feed xmlns=\"urn:a\"><link>1</link><atom:link xmlns:atom=\"urn:b\">2</atom:link></feed>",
    );
    // An element is matched by the key of the field if no element has the schema's own XML name.
    assert_eq!(read("<feed><own>1</own></feed>", &xml), Ok(json!({"own": "1"})));
    // The prefix of a service is irrelevant.
    let other = "<b:feed xmlns:b='urn:a' xmlns:a='urn:b'><a:link>2</a:link><b:link>1</b:link></b:feed>";
    assert_eq!(read(other, &xml), Ok(json!({"own": "1", "atom": "2"})));
}

#[test]
fn xml_parameters_and_parts_are_documents() {
    let encoding = Encoding::Xml(xml("a", object(vec![("b", element("b", XmlContent::Text))])));
    let parameter = |argument: &'static str, name: &'static str, location| Parameter {
        argument: argument.into(),
        name: name.into(),
        location,
        encoding: encoding.clone(),
    };
    let part = Part {
        name: "p".into(),
        file: false,
        content_type: "text/xml".into(),
        encoding: Some(encoding.clone()),
    };
    let body = Body {
        required: true,
        media_type: "multipart/form-data".into(),
        codec: Codec::Multipart(vec![part].into()),
        source: BodySource::Argument("body".into()),
    };
    let plan = RequestPlan {
        path: "/x".into(),
        parameters: vec![parameter("q", "", Location::Query), parameter("h", "H", Location::Header)].into(),
        body: Some(body),
        ..RequestPlan::EMPTY
    };
    let options = BuildOptions { base_url: Some("http://h"), ..BuildOptions::default() };
    let arguments = json!({"q": {"b": "&"}, "h": {"b": "2"}, "body": {"p": [{"b": "3"}, {"b": "4"}]}});
    let request = build(&plan, &arguments, &options).unwrap();
    assert!(request.url.starts_with("http://h/x?%3C%3Fxml"), "{}", request.url);
    assert!(request.url.ends_with("%3Ca%3E%3Cb%3E%26amp%3B%3C%2Fb%3E%3C%2Fa%3E"), "{}", request.url);
    assert!(request.header("h").unwrap().ends_with("?><a><b>2</b></a>"));
    let body = String::from_utf8_lossy(request.body.as_bytes()).into_owned();
    assert_eq!(body.matches("Content-Type: text/xml\r\n\r\n<?xml").count(), 2, "{body}");
    let problems =
        build(&plan, &json!({"q": {"\u{1}": 1}, "body": {"p": {"b": "\u{1}"}}}), &options).unwrap_err();
    let problems: Vec<&str> = problems.iter().map(|problem| problem.argument.as_str()).collect();
    assert_eq!(problems, ["q", "body"]);
}

#[test]
fn values_without_an_xml_form_are_rejected() {
    let any = xml("x", XmlContent::Any);
    for (value, reason) in [
        (json!({"a b": 1}), "`a b` cannot be a name in XML"),
        (json!({"<a>": 1}), "`<a>` cannot be a name in XML"),
        (json!({"@1": 1}), "`1` cannot be a name in XML"),
        (json!({"a": "\u{1}"}), "XML cannot contain the character U+0001"),
    ] {
        assert_eq!(write(&value, &any), Err(reason.to_owned()));
    }
    assert_eq!(write_body(&json!({"@k": "a\"\n<", "a": [1, {"b": null}]}), &any).matches("<a>").count(), 2);
}

#[test]
fn entities_are_not_expanded() {
    let any = xml("x", XmlContent::Any);
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><x>&b;</x>";
    assert!(read(bomb, &any).unwrap_err().contains("`&b;`"));
    let outside = "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x k='&a;'/>";
    assert!(read(outside, &any).is_err());
    assert_eq!(
        read("<!DOCTYPE x SYSTEM 'http://127.0.0.1:1/x'><x>&lt;&#233;&#xe9;</x>", &any),
        Ok(json!("<éé"))
    );
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(read(&deep, &any).unwrap_err().contains("128"));
    for broken in ["", "x", "<x>", "<x></y>", "<x/><y/>", "<x a='1' a='2'/>", "<x>&</x>", "</x>", "<x"] {
        assert!(read(broken, &any).is_err(), "{broken}");
    }
}
