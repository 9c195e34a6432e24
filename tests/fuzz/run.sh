#!/usr/bin/env bash
# Fuzzes each target for SECONDS (default 30), starting from the example documents.
# Needs a C++ compiler; uses the nightly compiler with the address sanitizer where there is one, else the stable one
# without. Says loudly when it cannot run, and fails only when a target does.
set -uo pipefail
cd "$(dirname "$0")"
seconds=${1:-30}

if ! command -v c++ >/dev/null; then echo "FUZZING NOT RUN: no C++ compiler"; exit 3; fi
# What libFuzzer asks of a compiler, see https://clang.llvm.org/docs/SanitizerCoverage.html. The code is optimised, and
# still checks its assertions and its arithmetic.
flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=4"
if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
    export RUSTUP_TOOLCHAIN=nightly
    flags="$flags -Zsanitizer=address"
fi
host=$(rustc -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-../../target}
# With `--target`, so that the flags are not those of build scripts and macros.
RUSTFLAGS=$flags CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
    CARGO_PROFILE_RELEASE_DEBUG=line-tables-only cargo build --release --bins --target "$host" \
    --target-dir "$target" || exit 1

mkdir -p corpus/compile corpus/decode
find ../../specs ../oracle/documents -type f \( -name '*.json' -o -name '*.yaml' \) -size -64k -exec cp -f {} corpus/compile/ \;
cp -f seeds/* corpus/decode/

status=0
for name in compile decode; do
    echo "fuzzing $name for $seconds s"
    mkdir -p "artifacts/$name"
    "$target/$host/release/$name" -artifact_prefix="artifacts/$name/" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -max_len=65536 -seed=1 -verbosity=0 -print_final_stats=1 "corpus/$name" || status=1
done
exit $status
