#!/usr/bin/env bash
# Compares the types that toolgen writes with those that typify writes, on a sample of the schemas of every document.
# TOOLGEN_TYPIFY_TYPES=N takes N schemas of each document; TOOLGEN_TYPIFY_COUNT=1 only counts what typify takes of all.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/../../target} CARGO_INCREMENTAL=0
corpus=${TOOLGEN_CORPUS:-$here/../../../shared/corpus}
if [ -d "$corpus" ]; then
  TOOLGEN_CORPUS=$(cd "$corpus" && pwd)
  export TOOLGEN_CORPUS
else
  echo "no corpus at $corpus: only the documents of specs/ are compared"
fi
cd "$here"
cargo run -q --locked
