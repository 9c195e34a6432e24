use toolgen_runtime::TypedItems;

struct GetMe;

fn items_of<A: TypedItems>(_arguments: A) {}

fn main() {
    items_of(GetMe);
}
