#!/usr/bin/env bash
# The signatures of all tools of the corpus and of specs/ are compiled by TypeScript itself: run.sh CARGO_TOOLGEN [FOLDER]
# FOLDER keeps the compiler between runs (default target/typescript). Exits with 3 if it cannot be installed.
set -uo pipefail
cd "$(dirname "$0")/../.."
binary=$1 folder=${2:-${CARGO_TARGET_DIR:-target}/typescript} corpus=${TOOLGEN_CORPUS:-../shared/corpus}
mkdir -p "$folder"
[ -x "$folder/node_modules/.bin/tsc" ] \
  || npm install --prefix "$folder" --no-audit --no-fund --silent typescript@7.0.2 \
  || { echo "NOT RUN: typescript cannot be installed"; exit 3; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for document in specs/*.yaml "$corpus"/openapi/*.{json,yaml,yml} "$corpus"/mcp/*.json; do
  [ -f "$document" ] || continue
  name=$(basename "$document" | tr . _)
  # What is between the fences; as a module, its types are its own. A document without tools has no interface.
  "$binary" docs "$document" --level signature --results 2>/dev/null | sed '/^```/d' > "$out/$name.ts"
  echo 'export {}' >> "$out/$name.ts"
done
compiled=$(grep -l '^interface Tools' "$out"/*.ts | wc -l)
[ "$compiled" -ge 4 ] || { echo "only $compiled documents gave signatures"; exit 1; }

check() { "$folder/node_modules/.bin/tsc" --noEmit --strict --noImplicitAny false --target es2022 "$@"; }
echo 'type A = A | string; export {}' > "$out/wrong.ts"
check "$out/wrong.ts" > /dev/null && { echo "the compiler accepts what is wrong"; exit 1; }
rm "$out/wrong.ts"
check "$out"/*.ts || exit 1
echo "the signatures of $compiled documents compile"
