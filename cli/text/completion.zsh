_mcastctl() {
    local word command= kind= own= i
    local -a names broker values
    _mcastctl_names
    for ((i = 2; i < CURRENT; i++)); do
        word=${(Q)words[i]} kind= own=
        if [[ $word != -* ]]; then
            [[ -n $command ]] || command=$word
            continue
        fi
        _mcastctl_kind "$command ${word%%=*}"
        own=$kind
        [[ -n $kind ]] || _mcastctl_kind " ${word%%=*}"
        if [[ $word == *=* ]]; then
            [[ -n $own || -z $kind ]] || broker+=($word)
            kind=
        elif [[ -n $kind ]] && ((i < CURRENT - 1)); then
            [[ -n $own ]] || broker+=($word ${(Q)words[i + 1]})
            ((++i))
            kind=
        fi
    done
    if [[ $PREFIX == --*=* ]]; then
        _mcastctl_kind "$command ${PREFIX%%=*}"
        [[ -n $kind ]] || _mcastctl_kind " ${PREFIX%%=*}"
        compset -P '*='
    elif [[ -z $kind && $PREFIX == -* ]]; then
        _mcastctl_kind "$command -"
    elif [[ -z $kind && -z $command ]]; then
        kind=COMMAND
    elif [[ -z $kind ]]; then
        _mcastctl_kind "$command "
    fi
    case $kind in
    COMMAND) _describe command names ;;
    FILE) _files ;;
    DIR) _files -/ ;;
    USER) _users ;;
    JOB | NODE | CLUSTER)
        values=(${(f)"$(mcastctl $broker --complete $kind -- "$PREFIX" 2>/dev/null)"})
        compadd -a values
        ;;
    \[*)
        compset -P '*,'
        values=(${(s:,:)${${kind#\[}%\]}})
        compadd -S '' -a values
        ;;
    [A-Z]* | '') _message "${kind:l}" ;;
    *)
        values=(${(s:,:)${kind// /,}})
        compadd -a values
        ;;
    esac
}
# Loaded by compinit, or read by "source <(mcastctl --completion zsh)".
if [[ ${funcstack[1]} == _mcastctl ]]; then
    _mcastctl "$@"
else
    compdef _mcastctl mcastctl
fi
