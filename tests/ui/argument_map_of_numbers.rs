#![allow(unused)]

use std::collections::{BTreeMap, HashMap};

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented)]
fn f(of_numbers: HashMap<u8, String>, sorted: BTreeMap<u8, String>, fine: BTreeMap<String, u8>) {}

fn main() {}
