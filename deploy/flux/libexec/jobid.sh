# Sourced by the hooks: a Flux job id in the forms that they need (RFC 19), without starting anything.
# Prolog and epilog are given ƒ… or f… (by locale), housekeeping the decimal number.
#
#   jobid_read "$FLUX_JOB_ID"   sets jobid_plain (f…), jobid_dec, jobid_kvs (job.0123.…); 1: no job id

jobid_alphabet=123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz

jobid_from_f58() {
    jobid_dec=0
    jobid_rest=$1
    while [ -n "$jobid_rest" ]; do
        jobid_char=${jobid_rest%"${jobid_rest#?}"}
        jobid_before=${jobid_alphabet%%"$jobid_char"*}
        [ "$jobid_before" != "$jobid_alphabet" ] || return 1
        jobid_dec=$((jobid_dec * 58 + ${#jobid_before}))
        jobid_rest=${jobid_rest#?}
    done
}

jobid_to_f58() {
    jobid_plain=
    jobid_rest=$1
    while :; do
        jobid_skipped=$((jobid_rest % 58))
        jobid_char=$jobid_alphabet
        while [ "$jobid_skipped" -gt 0 ]; do
            jobid_char=${jobid_char#?}
            jobid_skipped=$((jobid_skipped - 1))
        done
        jobid_plain=${jobid_char%"${jobid_char#?}"}$jobid_plain
        jobid_rest=$((jobid_rest / 58))
        [ "$jobid_rest" -gt 0 ] || break
    done
    jobid_plain=f$jobid_plain
}

jobid_read() {
    case $1 in
    ƒ?*) jobid_plain=f${1#ƒ} ;;
    f?*) jobid_plain=$1 ;;
    '' | *[!0-9]*) return 1 ;;
    *) jobid_to_f58 "$1" ;;
    esac
    jobid_from_f58 "${jobid_plain#f}" || return 1
    jobid_kvs=$(printf 'job.%04x.%04x.%04x.%04x' $((jobid_dec >> 48 & 65535)) \
        $((jobid_dec >> 32 & 65535)) $((jobid_dec >> 16 & 65535)) $((jobid_dec & 65535)))
}
