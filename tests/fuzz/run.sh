#!/usr/bin/env bash
# Fuzzes each target for SECONDS (default 30), starting from the example documents.
# Needs a C++ compiler; uses the nightly compiler with the address sanitizer where there is one, else the stable one
# without. Says loudly when it cannot run, and fails only when a target does.
set -uo pipefail
cd "$(dirname "$0")"
seconds=${1:-30}

if ! command -v c++ >/dev/null; then echo "FUZZING NOT RUN: no C++ compiler"; exit 0; fi
tool=$(command -v cargo-fuzz || true)
if [ -z "$tool" ]; then
    root=${CARGO_TARGET_DIR:-$PWD/target}/cargo-fuzz
    tool=$root/bin/cargo-fuzz
    if [ ! -x "$tool" ] && ! cargo install --quiet cargo-fuzz --version 0.13.1 --locked --root "$root"; then
        echo "FUZZING NOT RUN: cargo-fuzz is not installed and cannot be"; exit 0
    fi
fi
if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
    export RUSTUP_TOOLCHAIN=nightly
    sanitizer=address
else
    export RUSTC_BOOTSTRAP=1
    sanitizer=none
fi

mkdir -p corpus/compile corpus/decode
find ../../specs ../oracle/documents -type f \( -name '*.json' -o -name '*.yaml' \) -size -64k -exec cp -f {} corpus/compile/ \;
cp -f seeds/* corpus/decode/

status=0
for target in compile decode; do
    echo "fuzzing $target for $seconds s"
    "$tool" fuzz run --fuzz-dir . --sanitizer "$sanitizer" "$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -seed=1 -verbosity=0 -print_final_stats=1 || status=1
done
exit $status
