# What is on the line before the word to complete; COMP_WORDS has the parts of --url=unix:/path.
_mcastctl() {
    local words typed part word command='' kind='' own='' i
    local -a names=() broker=()
    _mcastctl_names
    read -ra words <<<"${COMP_LINE:0:COMP_POINT}."
    typed=${words[${#words[@]} - 1]%.}
    part=${COMP_WORDS[COMP_CWORD]}
    [[ $part != [=:] ]] || part=
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]} kind=''
        if [[ $word != -* ]]; then
            [[ $command ]] || command=$word
            continue
        fi
        _mcastctl_kind "$command ${word%%=*}" && own=$kind
        [[ $kind ]] || _mcastctl_kind " ${word%%=*}"
        [[ $word != *=* ]] || { [[ $own ]] || broker+=("$word") && kind='' && continue; }
        if [[ $kind ]] && ((i < ${#words[@]} - 2)); then
            [[ $own ]] || broker+=("$word" "${words[i + 1]}")
            ((++i)) && kind=''
        fi
    done
    word=$typed
    if [[ $typed == --*=* ]]; then
        _mcastctl_kind "$command ${typed%%=*}"
        [[ $kind ]] || _mcastctl_kind " ${typed%%=*}"
        word=${typed#*=}
    elif [[ -z $kind && $typed == -* ]]; then
        _mcastctl_kind "$command -"
    elif [[ -z $kind && -z $command ]]; then
        kind=COMMAND
    elif [[ -z $kind ]]; then
        _mcastctl_kind "$command "
    fi
    _mcastctl_reply "$word"
    # What stands before the part that bash replaces stays.
    COMPREPLY=("${COMPREPLY[@]#"${word%"$part"}"}")
}

# No word of the broker's goes through compgen -W, which would expand it.
_mcastctl_reply() {
    local before=
    [[ $kind == FILE || $kind == DIR ]] || compopt +o default 2>/dev/null
    case $kind in
    COMMAND) mapfile -t COMPREPLY < <(compgen -W "${names[*]%%:*}" -- "$1") ;;
    JOB | NODE | CLUSTER)
        mapfile -t COMPREPLY < <(mcastctl "${broker[@]}" --complete "$kind" -- "$1" 2>/dev/null)
        ;;
    USER) mapfile -t COMPREPLY < <(compgen -u -- "$1") ;;
    '['*)
        [[ $1 != *,* ]] || before=${1%,*},
        kind=${kind#[}
        kind=${kind%]}
        compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "${kind//,/ }" -- "${1##*,}")
        ;;
    [A-Z]* | '') COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${kind//,/ }" -- "$1") ;;
    esac
}
complete -o default -F _mcastctl mcastctl
