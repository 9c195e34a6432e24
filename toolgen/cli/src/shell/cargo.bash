
# `cargo toolgen` is the same program as `cargo-toolgen`; what cargo itself completes stays as it was.
_cargo_toolgen_found=$(complete -p cargo 2>/dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
[[ $_cargo_toolgen_found == _cargo_toolgen_word ]] || _cargo_toolgen_before=$_cargo_toolgen_found

_cargo_toolgen_word() {
    if [[ ${COMP_WORDS[1]-} == toolgen && $COMP_CWORD -gt 1 ]]; then
        COMP_WORDS=(cargo-toolgen "${COMP_WORDS[@]:2}")
        COMP_CWORD=$((COMP_CWORD - 1))
        _cargo__toolgen cargo-toolgen "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    elif [[ -n $_cargo_toolgen_before ]]; then
        "$_cargo_toolgen_before" "$@"
    fi
}

complete -F _cargo_toolgen_word -o bashdefault -o default cargo
