#![allow(unused)]

use toolgen_runtime::toolset;

fn plain() {}

fn main() {
    let _ = toolset![plain, 5];
}
