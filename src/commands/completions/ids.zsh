# Ids of consultations, which only the program knows.
_conclave_ids() {
    local -a ids
    local line
    for line in ${(f)"$(command conclave history ids $1 "$PREFIX" 2>/dev/null)"}; do
        ids+=("${line%%$'\t'*}:${line#*$'\t'}")
    done
    _describe -V 'consultation' ids || _default
}

_conclave_unanswered_ids() {
    _conclave_ids --unanswered
}

