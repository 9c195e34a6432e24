#!/usr/bin/env bash
# Generated code of every document of the corpus: it is the same in two runs, rustc takes it with warnings denied,
# with and without types, and the compiled tools equal freshly lowered ones. Usage: run.sh CARGO-TOOLGEN
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
binary=$(realpath "$1")
corpus=${TOOLGEN_CORPUS:-$repository/../shared/corpus}
if [ ! -d "$corpus/openapi" ]; then
  echo "SKIPPED: no corpus at $corpus"
  exit 3
fi
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$repository/target} CARGO_INCREMENTAL=0
work=$CARGO_TARGET_DIR/corpus-check
mapfile -t documents < <(ls "$corpus"/openapi/*.json "$corpus"/openapi/*.yaml)
mkdir -p "$work"

gen() { # gen NAME OPTIONS… -- DOCUMENTS…
  "$binary" toolgen gen --out "$work/$1" --crate "$1" --toolgen-path "$repository" "${@:2}" 2>>"$work/gen.log"
}

deny_warnings() { # deny_warnings FOLDER, whose crate has no lints of its own
  printf '\n[lints.rust]\nwarnings = "deny"\n' >>"$1/Cargo.toml"
}

echo "without types: ${#documents[@]} documents in one crate"
gen untyped --no-types "${documents[@]}"
gen untyped --no-types --check "${documents[@]}"
deny_warnings "$work/untyped"
printf '\n[workspace]\n' >>"$work/untyped/Cargo.toml" # it is below that of the repository
cp "$repository/Cargo.lock" "$work/untyped/Cargo.lock"
(cd "$work/untyped" && cargo check -q)

echo "compiled tools against lowered ones"
mkdir -p "$work/equal/src"
cat >"$work/equal/Cargo.toml" <<TOML
[package]
name = "equal"
version = "0.1.0"
edition = "2024"
[dependencies]
toolgen = { path = "$repository/toolgen" }
toolgen-runtime = { path = "$repository/runtime", default-features = false }
untyped = { path = "../untyped" }
[workspace]
TOML
{
  echo "fn main() {"
  paste <(printf '%s\n' "${documents[@]}") <(grep -oE '^pub mod [a-z0-9_]+' "$work/untyped/src/lib.rs" | cut -d' ' -f3) |
    while IFS=$'\t' read -r document module; do
      echo "    compare(\"$document\", untyped::$module::TOOLS);"
    done
  echo "}"
  cat "$here/compare.rs"
} >"$work/equal/src/main.rs"
cp "$repository/Cargo.lock" "$work/equal/Cargo.lock"
(cd "$work/equal" && cargo run -q)

echo "with types, a crate a document"
rm -rf "$work/typed"
mkdir -p "$work/typed"
typed() { # typed DOCUMENT one|by-tag
  name=typed-$2-$(basename "${1%.*}")
  "$binary" toolgen gen --out "$work/typed/$name" --crate "$name" --toolgen-path "$repository" --modules "$2" "$1" \
    >/dev/null 2>"$work/typed/$name.log" || { echo "  $name is not generated:"; head -20 "$work/typed/$name.log"; return 1; }
  deny_warnings "$work/typed/$name"
}
export -f typed deny_warnings
export binary work repository
printf '%s\0' "${documents[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'typed "$1" one' typed
# Some of them also with a file for each tag: those of middle size, which have most tags for their code.
find "$corpus/openapi" \( -name '*.json' -o -name '*.yaml' \) -size +300k -size -600k -print0 |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'typed "$1" by-tag' typed
# One workspace: rustc checks as many crates beside each other as there are processors.
printf '[workspace]\nresolver = "3"\nmembers = ["typed-*"]\n' >"$work/typed/Cargo.toml"
cp "$repository/Cargo.lock" "$work/typed/Cargo.lock"
(cd "$work/typed" && cargo check -q --workspace --keep-going)
