#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# variables.sh MCASTCTL SOURCES: what tasks are given has the same names in all languages that have to
# list them (F16): where one is missing, an outer job's would stay, or a setting not come.
set -eu
mcastctl=$1
cd "$2"
sorted() { LC_ALL=C sort -u | tr '\n' ' '; }
names() { grep -oE "\\<($1)_[A-Z_]+\\>" "$2" | grep -v '_$' | sorted; } # else it is a pattern
quoted() { grep -oE "\"($1)_[A-Z_]+\"" "$2" | tr -d '"' | sorted; }
check() { # check HOW PREFIX WANTED FILE…
    how=$1
    prefix=$2
    wanted=$3
    shift 3
    for file; do
        listed=$("$how" "$prefix" "$file")
        [ "$listed" = "$wanted" ] || {
            printf '%s names\n  %s\ninstead of\n  %s\n' "$file" "$listed" "$wanted"
            exit 1
        }
    done
}
omnipath='FI_OPX|FI_PSM3|PSM3'
inherit() { env -i "$@" "$mcastctl" env --inherit --step 0 --format sh | sed 's/^unset //; s/^export //; s/=.*//'; }

# From an environment without any of them, all that are ours alone are to be unset.
jobs=$(inherit | grep ^FI_CXI_ | sorted)
keys=$(inherit | grep -v ^FI_CXI_ | sorted)
nodes=$(names SLINGSHOT node/services/variables.h)
[ "$(echo "$jobs" | wc -w) $(echo "$keys" | wc -w) $(echo "$nodes" | wc -w)" = "7 4 4" ]
both='deploy/slurm/spank/grant.h deploy/flux/etc/mcast.lua.in'
hooks="deploy/slurm/taskprolog.in $both"
# shellcheck disable=SC2086 # words
check names FI_CXI "$jobs" core/interconnect/slingshot.c $hooks
# shellcheck disable=SC2086
check names SLINGSHOT "$nodes" $hooks
check names "$omnipath" "$keys" deploy/slurm/taskprolog.in

# Settings of Omni-Path, too, are handed on, where the job has them.
all=$(quoted "$omnipath" core/interconnect/omnipath.c)
[ "$(echo "$all" | wc -w)" = 9 ]
# shellcheck disable=SC2086
check quoted "$omnipath" "$all" $both
# shellcheck disable=SC2046,SC2086
given=$(inherit $(printf '%s=1 ' $all) | grep -v ^FI_CXI_ | sorted)
[ "$given" = "$all" ] || {
    printf 'of\n  %s\nthese are inherited\n  %s\n' "$all" "$given"
    exit 1
}
# Lua has those that are to be unset in a list of their own.
[ "$(sed -n '/^local variables/,/^}/p' deploy/flux/etc/mcast.lua.in | quoted "$omnipath" -)" = "$keys" ]
