//! Documents made to hurt: deep, circular, wide. They compile in bounded time, on a small stack, with problems.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use toolgen::{Options, Problems, Program};
use toolgen_runtime::Shape;
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::schema::shape::read::read_canonical;
use toolgen_runtime::schema::shape::render::{canonical, render_input};

use crate::support::compiled;

fn compile(text: &str) -> (Option<Program>, Problems) {
    let start = Instant::now();
    let compiled = compiled(text, &Options::default());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    compiled
}

fn with_schemas(schemas: &str) -> String {
    format!(
        r##"{{"openapi":"3.0.0","paths":{{"/a":{{"post":{{"operationId":"a","requestBody":{{"required":true,"content":
        {{"application/json":{{"schema":{{"$ref":"#/components/schemas/S0"}}}}}}}}}}}}}},
        "components":{{"schemas":{{{schemas}}}}}}}"##
    )
}

/// The tool of these schemas: all that a model reads of it, and the codes of the problems.
///
/// Whatever was left out, the rest is sound: generated code reads its shapes back as they are, and each dialect renders
/// it or refuses it, in bounded time.
fn tool_of(schemas: &str) -> (String, BTreeSet<String>) {
    let (program, problems) = compile(&with_schemas(schemas));
    let program = program.expect("a program");
    assert_eq!(program.tools.len(), 1);
    let spec = &program.tools[0].spec;
    let start = Instant::now();
    let mut text = String::new();
    for schema in program.defs.iter().map(|def| &def.schema).chain([&spec.input]) {
        let shape: &Shape = schema;
        let written = canonical(shape);
        assert_eq!(&read_canonical(&serde_json::from_str(&written).unwrap()), shape);
        text += &written;
    }
    for dialect in Dialect::ALL {
        let _ = render_input(&spec.input, &spec.defs, dialect);
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let codes = problems.as_slice().iter().map(|problem| problem.code.to_string());
    (text, codes.collect())
}

#[test]
fn long_all_of_chains_compile() {
    let mut schemas = String::new();
    for index in 0..600 {
        let _ = write!(
            schemas,
            r##""S{index}":{{"allOf":[{{"$ref":"#/components/schemas/S{}"}},{{"type":"object","properties":{{"p{index}":{{"type":"string"}}}}}}]}},"##,
            index + 1
        );
    }
    schemas.push_str(r#""S600":{"type":"object","properties":{"last":{"type":"string"}}}"#);
    let (text, codes) = tool_of(&schemas);
    // Each base is merged, or it is said that some were left out.
    assert!(text.contains(r#""p0":"#), "{text}");
    assert!(text.contains(r#""last":"#) || !codes.is_empty(), "{text}");
}

#[test]
fn all_of_and_union_cycles_compile() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let mut schemas = String::new();
        for index in 0..300 {
            let next = (index + 1) % 300;
            let comma = if index == 299 { "" } else { "," };
            let _ = write!(
                schemas,
                r##""S{index}":{{"{keyword}":[{{"$ref":"#/components/schemas/S{next}"}},{{"$ref":"#/components/schemas/S0"}},{{"type":"string"}}]}}{comma}"##
            );
        }
        let (text, codes) = tool_of(&schemas);
        assert!(!codes.is_empty() && text.len() < 1_000_000, "{codes:?}, {} bytes", text.len());
    }
}

#[test]
fn deep_schemas_compile() {
    for open in
        [r#"{"type":"array","items":"#, r#"{"allOf":["#, r#"{"properties":{"a":"#, r#"{"anyOf":[true,"#]
    {
        let depth = 200;
        let close: String = open
            .chars()
            .rev()
            .filter_map(|char| match char {
                '{' => Some('}'),
                '[' => Some(']'),
                _ => None,
            })
            .collect();
        let schema = format!("{}{{}}{}", open.repeat(depth), close.repeat(depth));
        let (text, codes) = tool_of(&format!(r#""S0":{schema}"#));
        // What is deeper than shapes may be is left out, and that is said.
        assert!(!codes.is_empty(), "{open}: {text}");
    }
}

#[test]
fn merged_fields_do_not_multiply() {
    // Each pair of bases shares a field of two types that share a field, and so on.
    let mut schemas = String::new();
    for index in 0..40 {
        let next = index + 1;
        let _ = write!(
            schemas,
            r##""S{index}":{{"allOf":[{{"type":"object","properties":{{"x":{{"$ref":"#/components/schemas/S{next}"}}}}}},
            {{"type":"object","properties":{{"x":{{"$ref":"#/components/schemas/T{next}"}},"y":{{"$ref":"#/components/schemas/S{next}"}}}}}}]}},
            "T{index}":{{"allOf":[{{"$ref":"#/components/schemas/S{next}"}},{{"$ref":"#/components/schemas/T{next}"}}]}},"##
        );
    }
    schemas
        .push_str(r#""S40":{"type":"object"},"T40":{"type":"object","properties":{"z":{"type":"string"}}}"#);
    let (text, _) = tool_of(&schemas);
    assert!(text.contains(r#""x":"#) && text.contains(r#""y":"#), "{text}");
    assert!(text.len() < 5_000_000, "{}", text.len());
}

#[test]
fn huge_enums_and_wide_objects_compile() {
    let values: Vec<String> = (0..50_000).map(|index| format!("\"v{index}\"")).collect();
    let fields: Vec<String> =
        (0..5_000).map(|index| format!("\"f[{index}]\":{{\"type\":\"string\"}}")).collect();
    let (text, codes) = tool_of(&format!(
        r#""S0":{{"type":"object","properties":{{"e":{{"type":"string","enum":[{}]}},{}}}}}"#,
        values.join(","),
        fields.join(",")
    ));
    assert_eq!(codes, BTreeSet::new());
    for index in [0, 4_999] {
        assert!(text.contains(&format!(r#""f_{index}":"#)), "field {index} is lost");
    }
    for index in [0, 49_999] {
        assert!(text.contains(&format!(r#""v{index}""#)), "value {index} is lost");
    }
}

#[test]
fn chains_of_references_compile() {
    let text = r##"{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"a","parameters":[{"$ref":"#/a/b"},
        {"$ref":"#/paths/~1a/get/parameters/1"},{"$ref":"#"},{"$ref":"#/paths"}],
        "responses":{"200":{"$ref":"#/paths/~1a/get/responses/200"}}}},
        "/b":{"$ref":"#/paths/~1b"},"/c":{"$ref":"#/paths/~1b/get"}},"a":{"$ref":"#/a/b"}}"##;
    let (program, problems) = compile(text);
    // None of its parameters can be read, so that no request would be right.
    assert_eq!(program.map(|program| program.tools.len()), Some(0));
    assert!(!problems.is_empty());
}

#[test]
fn non_openapi_values_are_rejected() {
    for text in [
        "[]",
        "null",
        "5",
        "{}",
        "\"text\"",
        r#"{"openapi":null}"#,
        r#"{"openapi":{}}"#,
        r#"{"openapi":"2"}"#,
    ] {
        let (program, problems) = compile(text);
        assert!(program.is_none() && problems.has_errors(), "{text}");
    }
    for text in [
        r#"{"openapi":"3.0.0"}"#,
        r#"{"openapi":"3.0.0","paths":null}"#,
        r#"{"openapi":"3.0.0","paths":[]}"#,
        r#"{"openapi":"3.0.0","paths":{"":{"get":{"responses":5,"parameters":{"a":1},"security":"x","servers":{},"tags":"a"}}},"servers":5,"security":5,"components":[1]}"#,
    ] {
        let (program, _) = compile(text);
        assert!(program.is_some(), "{text}");
    }
}

#[test]
fn operations_with_many_parameters_compile() {
    let list = |description: &str| {
        let one = |index| {
            format!(
                r#"{{"name":"p{index}","in":"query","description":"{description}","schema":{{"type":"string"}}}}"#
            )
        };
        (0..16_000).map(one).collect::<Vec<_>>().join(",")
    };
    let (program, problems) = compile(&format!(
        r#"{{"openapi":"3.1.0","paths":{{"/a":{{"parameters":[{}],"get":{{"operationId":"a","parameters":[{}]}}}}}}}}"#,
        list("Of the path."),
        list("Of the operation.")
    ));
    assert!(problems.is_empty(), "{problems}");
    let spec = &program.expect("a program").tools[0].spec;
    let displayed = canonical(&spec.input);
    assert!(displayed.contains(r#""p15999":"#) && !displayed.contains("Of the path."));
}
