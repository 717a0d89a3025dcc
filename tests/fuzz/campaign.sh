#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lets libFuzzer look for bad input; ./dev fuzz calls it. See docs/fuzzing.md.
#   campaign.sh run DIR SECONDS JOBS [TARGET…]      DIR/fuzz has the targets; SECONDS for all of them
#   campaign.sh runs DIR EXECUTIONS JOBS [TARGET…]  until each target has run so often
#   campaign.sh merge DIR [TARGET…]                 keeps of what was found what reaches more code
#   campaign.sh one DIR LIMIT TARGET                of these, for one target; LIMIT is libFuzzer's option
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# What is freed is watched until 8 MB have followed it, more than any input needs: with the usual 256
# each input meets memory that no cache holds.
export ASAN_OPTIONS=allocator_may_return_null=1:quarantine_size_mb=8 UBSAN_OPTIONS=print_stacktrace=1

die() {
    printf 'campaign: %s\n' "$*" >&2
    exit 2
}

# Every source in this folder that has a fuzz_one is a target.
targets() {
    grep -l '^void fuzz_one' "$here"/*.c | sed 's,.*/,,; s,\.c$,,'
}

# Bytes of an input; what needs more goes into a seed. Where each byte or line is one more step of
# the same kind, long inputs only take long.
longest() { # longest TARGET
    case $1 in
    config | node_conf) echo 768 ;;
    events | ledger | records | wishes) echo 256 ;;
    *) echo 2048 ;;
    esac
}

# Those that are named, or all.
chosen() {
    if [ $# -gt 0 ]; then printf '%s\n' "$@"; else targets; fi
}

options() { # options DIR TARGET
    printf '%s\n' "-max_len=$(longest "$2")" -timeout=20 -rss_limit_mb=2048 \
        "-artifact_prefix=$1/found/$2-"
    # Weighing inputs by what is rare in them takes a third of the time where each run has many features.
    case $2 in events | records) echo -entropic=0 ;; esac
    [ ! -f "$here/$2.dict" ] || printf '%s\n' "-dict=$here/$2.dict"
}

stat_of() { # stat_of NAME LOG
    sed -n "s/^stat::$1: *//p" "$2" | tail -1
}

one() {
    local dir=$1 limit=$2 target=$3 code=0 options log edges
    log=$dir/log/$target
    mkdir -p "$dir/corpus/$target"
    mapfile -t options < <(options "$dir" "$target")
    nice "$dir/fuzz/$target" "${options[@]}" "$limit" -print_final_stats=1 \
        "$dir/corpus/$target" "$here/corpus/$target" >"$log" 2>&1 || code=$?
    edges=$(sed -n 's/^#.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    printf '%-15s %12s %9s %7s  %s\n' "$target" "$(stat_of number_of_executed_units "$log")" \
        "$(stat_of average_exec_per_sec "$log")" "$edges" \
        "$([ $code = 0 ] || sed -n 's/^.*Test unit written to /FOUND /p' "$log")"
    [ $code = 0 ]
}

# campaign DIR JOBS LIMIT WORDS TARGET…: WORDS say what each target gets
campaign() {
    local dir=$1 jobs=$2 limit=$3 words=$4 target
    shift 4
    for target; do
        [ -x "$dir/fuzz/$target" ] || die "there is no target $target; there are $(targets | xargs)"
    done
    mkdir -p "$dir/log" "$dir/found"
    printf '%d targets, %s each\n' $# "$words"
    printf '%-15s %12s %9s %7s  %s\n' target executions exec/s edges crash
    printf '%s\n' "$@" | xargs -P "$jobs" -n 1 "$here/campaign.sh" one "$dir" "$limit" ||
        {
            printf 'a crash is replayed by %s/fuzz/TARGET FILE; its report is in %s/log/TARGET\n' \
                "$dir" "$dir" >&2
            exit 1
        }
}

run() {
    local dir=$1 seconds=$2 jobs=$3 each all
    shift 3
    mapfile -t all < <(chosen "$@")
    each=$((seconds * jobs / ${#all[@]}))
    [ $each -ge 1 ] || each=1
    campaign "$dir" "$jobs" -max_total_time=$each "$each s" "${all[@]}"
}

runs() {
    local dir=$1 executions=$2 jobs=$3 all
    shift 3
    mapfile -t all < <(chosen "$@")
    campaign "$dir" "$jobs" "-runs=$executions" "$executions executions" "${all[@]}"
}

merge() {
    local dir=$1 target all
    shift
    mapfile -t all < <(chosen "$@")
    for target in "${all[@]}"; do
        # By edges alone, and as few inputs as cover them: one for each branch is enough for a test.
        "$dir/fuzz/$target" -set_cover_merge=1 -use_counters=0 -max_len="$(longest "$target")" \
            "$here/corpus/$target" \
            "$dir/corpus/$target" >/dev/null 2>&1 || die "$target does not merge"
    done
    du -sb "$here/corpus" | cut -f1
}

[ $# -ge 2 ] || die "see the head of $0"
"$@"
