
# `cargo toolgen` is the same program as `cargo-toolgen`.
function __cargo_toolgen_arguments
    set -l words (commandline -opc) (commandline -ct)
    set -l index (contains -i -- toolgen $words)
    and complete -C (string join ' ' -- cargo-toolgen (string escape -- $words[(math $index + 1)..-2]) $words[-1])
end
complete -c cargo -n '__fish_seen_subcommand_from toolgen' -f -a '(__cargo_toolgen_arguments)'
