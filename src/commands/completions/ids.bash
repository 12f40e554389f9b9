# Ids of consultations, which only the program knows.
_conclave_with_ids() {
    local cur="${COMP_WORDS[COMP_CWORD]}" at many valued then request word given=0 index
    _conclave "$@"
    [[ ${cur} == -* ]] && return 0
    case "${COMP_WORDS[*]:1} " in
        # CASES
        *) return 0 ;;
    esac
    (( COMP_CWORD < at )) && return 0
    [[ ${valued} == *" ${COMP_WORDS[COMP_CWORD - 1]} "* ]] && return 0
    for (( index = at; index < COMP_CWORD; index++ )); do
        word="${COMP_WORDS[index]}"
        if [[ ${valued} == *" ${word} "* ]]; then
            index=$(( index + 1 ))
        elif [[ ${word} != -* ]]; then
            given=$(( given + 1 ))
        fi
    done
    if (( given == 0 )) || [[ -n ${many} ]]; then
        COMPREPLY=( $(compgen -W "last $("$1" ${request} "${cur}" 2>/dev/null | cut -f 1)" -- "${cur}") )
    else
        COMPREPLY=( $(compgen -W "${then}" -- "${cur}") )
    fi
}
