
# `cargo toolgen` is the same program as `cargo-toolgen`; what cargo itself completes stays as it was. Source this file
# after a file that sets completions of cargo.
_cargo_toolgen_hook() {
    local before
    before=$(complete -p cargo 2>/dev/null)
    [[ $before == *" -F _cargo_toolgen_word "* ]] && return
    if [[ $before =~ " -F "([^ ]+) ]]; then
        _cargo_toolgen_before=${BASH_REMATCH[1]}
        # The options of the other function apply to its words.
        eval "${before/ -F $_cargo_toolgen_before/ -F _cargo_toolgen_word}"
    else
        complete -F _cargo_toolgen_word cargo
    fi
}

_cargo_toolgen_word() {
    local index=1
    # `cargo +nightly toolgen`
    while [[ ${COMP_WORDS[index]-} == [+-]* ]]; do index=$((index + 1)); done
    if [[ ${COMP_WORDS[index]-} == toolgen && $COMP_CWORD -gt $index ]]; then
        COMP_WORDS=(cargo-toolgen "${COMP_WORDS[@]:index+1}")
        COMP_CWORD=$((COMP_CWORD - index))
        compopt -o bashdefault -o default 2>/dev/null
        _cargo__toolgen cargo-toolgen "$2" "$3"
        return
    fi
    if [[ -z ${_cargo_toolgen_before-} ]]; then
        # bash-completion loads the completions of a command when they are first needed.
        local load
        for load in _comp_load __load_completion _completion_loader; do
            if declare -F "$load" >/dev/null; then "$load" cargo >/dev/null 2>&1; break; fi
        done
        _cargo_toolgen_hook
    fi
    if [[ -n ${_cargo_toolgen_before-} ]]; then
        "$_cargo_toolgen_before" "$@"
    else
        compopt -o bashdefault -o default 2>/dev/null
    fi
}

_cargo_toolgen_hook
