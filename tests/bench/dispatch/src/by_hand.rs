//! A `match` over structs that `serde` deserializes.

use serde::Deserialize;

#[derive(Deserialize)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
struct Greet {
    name: String,
    times: usize,
}

#[derive(Deserialize)]
struct Sum {
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct Place {
    street: String,
    city: String,
    tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
    Imperial,
}

#[derive(Deserialize)]
struct Locate {
    place: Place,
    unit: Unit,
}

#[derive(Deserialize)]
struct Search {
    query: String,
    limit: Option<u32>,
    exact: bool,
    kinds: Vec<String>,
}

pub fn call(name: &str, arguments: &str) -> String {
    match name {
        "add" => {
            let Add { a, b } = serde_json::from_str(arguments).unwrap();
            (a + b).to_string()
        }
        "greet" => {
            let Greet { name, times } = serde_json::from_str(arguments).unwrap();
            format!("hello {name}").repeat(times)
        }
        "sum" => {
            let Sum { values } = serde_json::from_str(arguments).unwrap();
            serde_json::to_string(&values.iter().sum::<f64>()).unwrap()
        }
        "locate" => {
            let Locate { place, unit } = serde_json::from_str(arguments).unwrap();
            let unit = match unit {
                Unit::Metric => "m",
                Unit::Imperial => "ft",
            };
            format!("{}, {} ({}) 10 {unit}", place.street, place.city, place.tags.join(" "))
        }
        "search" => {
            let Search { query, limit, exact, kinds } = serde_json::from_str(arguments).unwrap();
            format!("{query} {limit:?} {exact} {}", kinds.join(" "))
        }
        other => panic!("no tool {other}"),
    }
}
