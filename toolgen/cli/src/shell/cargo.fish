
# `cargo toolgen` is the same program as `cargo-toolgen`.
function __cargo_toolgen_word
    set -l words (commandline -opc) (commandline -ct)
    complete -C (string join ' ' -- cargo-toolgen $words[3..-1])
end
complete -c cargo -n '__fish_seen_subcommand_from toolgen' -f -a '(__cargo_toolgen_word)'
