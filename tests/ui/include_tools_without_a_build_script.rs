mod petstore {
    toolgen_runtime::include_tools!("petstore");
}

fn main() {}
