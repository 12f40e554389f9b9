# Ids of consultations, which only the program knows.
# `_arguments` calls an action with arguments of its own, which are not meant for `conclave`.
_conclave_ids() {
    _conclave_described_ids
}

_conclave_unanswered_ids() {
    _conclave_described_ids --unanswered
}

_conclave_described_ids() {
    local -a ids
    local line
    for line in ${(f)"$(command conclave history ids "$@" "$PREFIX" 2>/dev/null)"}; do
        ids+=("${line%%$'\t'*}:${line#*$'\t'}")
    done
    _describe -V 'consultation' ids || _default
}
