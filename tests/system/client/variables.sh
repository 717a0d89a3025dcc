#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# variables.sh MCASTCTL SOURCES: what tasks are given has the same names in all languages that have to
# list them (F16): where one is missing, an outer job's would stay.
set -eu
mcastctl=$1
cd "$2"
names() { grep -oE "\\<$1_[A-Z_]+\\>" "$2" | LC_ALL=C sort -u | tr '\n' ' '; }
check() { # check PREFIX WANTED FILE…
    prefix=$1
    wanted=$2
    shift 2
    for file; do
        listed=$(names "$prefix" "$file")
        [ "$listed" = "$wanted" ] || {
            printf '%s names\n  %s\ninstead of\n  %s\n' "$file" "$listed" "$wanted"
            exit 1
        }
    done
}

# From an environment without any of them, all are to be unset.
jobs=$(env -i "$mcastctl" env --inherit --step 0 --format sh | sed 's/^unset //' | LC_ALL=C sort | tr '\n' ' ')
nodes=$(names SLINGSHOT node/services/variables.h)
[ "$(echo "$jobs" | wc -w) $(echo "$nodes" | wc -w)" = "7 4" ]
hooks='deploy/slurm/taskprolog.in deploy/slurm/spank/grant.h deploy/flux/etc/mcast.lua.in'
# shellcheck disable=SC2086 # words
check FI_CXI "$jobs" core/interconnect/slingshot.c $hooks
# shellcheck disable=SC2086
check SLINGSHOT "$nodes" $hooks
