//! The rows of "Style Examples", OpenAPI 3.1.1, and the cases the tables leave open.

use serde_json::{Value, json};

use super::*;

fn path(value: &Value, style: Style, explode: bool) -> String {
    in_path("color", value, style, explode, Escape::Uri).unwrap_or_default()
}

fn query(value: &Value, style: Style, explode: bool) -> String {
    as_pairs("color", value, style, explode, Escape::Uri).join("&")
}

fn values() -> [Value; 4] {
    [json!(""), json!("blue"), json!(["blue", "black", "brown"]), json!({"R": 100, "G": 200, "B": 150})]
}

#[test]
fn paths_follow_the_table() {
    let rows = [
        (
            Style::Matrix,
            false,
            [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"],
        ),
        (
            Style::Matrix,
            true,
            [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
        ),
        (Style::Label, false, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
        (Style::Label, true, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
        (Style::Simple, false, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
        (Style::Simple, true, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
    ];
    for (style, explode, expected) in rows {
        for (value, expected) in values().iter().zip(expected) {
            assert_eq!(path(value, style, explode), expected, "{style:?} {explode} {value}");
        }
    }
}

#[test]
fn headers_follow_the_table_unencoded() {
    let header = |value: Value, explode| as_text(&value, Style::Simple, explode).unwrap();
    assert_eq!(header(json!({"R": 100, "G": 200}), false), "R,100,G,200");
    assert_eq!(header(json!({"R": 100, "G": 200}), true), "R=100,G=200");
    assert_eq!(header(json!(["a b", "é/%"]), false), "a b,é/%");
}

#[test]
fn queries_follow_the_table() {
    let rows = [
        (Style::Form, false, ["color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"]),
        (
            Style::Form,
            true,
            ["color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
        ),
        (
            Style::SpaceDelimited,
            false,
            ["color=", "color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"],
        ),
        (
            Style::PipeDelimited,
            false,
            ["color=", "color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"],
        ),
        (
            Style::DeepObject,
            true,
            [
                "color=",
                "color=blue",
                "color%5B%5D=blue&color%5B%5D=black&color%5B%5D=brown",
                "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
            ],
        ),
    ];
    for (style, explode, expected) in rows {
        for (value, expected) in values().iter().zip(expected) {
            assert_eq!(query(value, style, explode), expected, "{style:?} {explode} {value}");
        }
    }
}

#[test]
fn a_delimiter_inside_a_value_is_encoded() {
    let value = json!(["a,b", "c d", "e|f", "g&h=i"]);
    assert_eq!(query(&value, Style::Form, false), "color=a%2Cb,c%20d,e%7Cf,g%26h%3Di");
    assert_eq!(path(&value, Style::Simple, false), "a%2Cb,c%20d,e%7Cf,g%26h%3Di");
}

#[test]
fn null_and_empty_collections_are_undefined() {
    for value in [json!(null), json!([]), json!({}), json!([null]), json!({"a": null})] {
        assert_eq!(in_path("color", &value, Style::Simple, false, Escape::Uri), None, "{value}");
        assert_eq!(query(&value, Style::Form, true), "", "{value}");
        assert_eq!(query(&value, Style::DeepObject, true), "", "{value}");
    }
    assert_eq!(query(&json!(["a", null, "b"]), Style::Form, false), "color=a,b");
}

#[test]
fn numbers_are_written_as_they_were_given() {
    let value: Value = serde_json::from_str("[1, 1.0, 1e3, 12345678901234567890, true]").unwrap();
    assert_eq!(query(&value, Style::Form, false), "color=1,1.0,1000.0,12345678901234567890,true");
}

#[test]
fn deep_objects_nest() {
    let value = json!({"a": {"b": [1, 2]}, "c": [{"d": "x"}, {"d": "y"}], "e": null});
    let pairs = as_pairs("f", &value, Style::DeepObject, true, Escape::Form);
    let plain: Vec<String> = pairs.iter().map(|pair| pair.replace("%5B", "[").replace("%5D", "]")).collect();
    assert_eq!(plain, ["f[a][b]=1", "f[a][b]=2", "f[c][0][d]=x", "f[c][1][d]=y"]);
}

#[test]
fn what_is_nested_elsewhere_is_json() {
    let value = json!({"a": {"b": 1}});
    assert_eq!(query(&value, Style::Form, true), "a=%7B%22b%22%3A1%7D");
}

#[test]
fn parts_of_forms_are_not_encoded() {
    let parts = |value: Value, style, explode| {
        let parts = as_parts("k", &value, style, explode);
        parts.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
    };
    let (list, object) = (json!(["a b", "c/d"]), json!({"x": "1 2", "y&": null, "z=": 3}));
    assert_eq!(parts(list.clone(), Style::Form, false), ["k=a b,c/d"]);
    assert_eq!(parts(list.clone(), Style::Form, true), ["k=a b", "k=c/d"]);
    assert_eq!(parts(list, Style::SpaceDelimited, false), ["k=a b c/d"]);
    assert_eq!(parts(object.clone(), Style::Form, true), ["x=1 2", "z==3"]);
    assert_eq!(parts(object.clone(), Style::PipeDelimited, false), ["k=x|1 2|z=|3"]);
    assert_eq!(parts(object, Style::DeepObject, true), ["k[x]=1 2", "k[z=]=3"]);
    assert_eq!(parts(json!([]), Style::Form, false), [""; 0]);
}
