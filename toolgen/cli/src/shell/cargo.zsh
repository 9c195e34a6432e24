
# cargo's own completions call `_cargo-toolgen` for `cargo toolgen`. Without them, this function does.
if (( $+functions[compdef] )) && [[ -z ${_comps[cargo]-} ]]; then
    _cargo_toolgen_word() {
        if [[ ${words[2]-} == toolgen ]] && (( CURRENT > 2 )); then
            shift words
            (( CURRENT-- ))
            _cargo-toolgen
        else
            _default
        fi
    }
    compdef _cargo_toolgen_word cargo
fi
