# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
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

jobid_to_kvs() {
    jobid_kvs=
    jobid_rest=$1
    for jobid_place in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
        case $jobid_place in [48c]) jobid_kvs=.$jobid_kvs ;; esac
        jobid_nibble=$((jobid_rest & 15))
        [ "$jobid_nibble" -lt 10 ] || case $jobid_nibble in
        10) jobid_nibble=a ;; 11) jobid_nibble=b ;; 12) jobid_nibble=c ;;
        13) jobid_nibble=d ;; 14) jobid_nibble=e ;; 15) jobid_nibble=f ;;
        esac
        jobid_kvs=$jobid_nibble$jobid_kvs
        jobid_rest=$((jobid_rest >> 4))
    done
    jobid_kvs=job.$jobid_kvs
}

jobid_read() {
    case $1 in
    ƒ?*) jobid_plain=f${1#ƒ} ;;
    f?*) jobid_plain=$1 ;;
    '' | *[!0-9]*) return 1 ;;
    *) jobid_to_f58 "$1" ;;
    esac
    jobid_from_f58 "${jobid_plain#f}" || return 1
    jobid_to_kvs "$jobid_dec"
}
