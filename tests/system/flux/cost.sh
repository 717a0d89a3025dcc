# SPDX-License-Identifier: Apache-2.0
# What our hooks add to `flux run true`, against hooks that do nothing, in the same run: two instances side
# by side, jobs in turn. Not a test: figures of one machine. `./dev bench` reads a line a round (G28): the
# whole of it, but for the ranks' part, for which a Flux of many users is needed.
#
#   cost.sh BUILD [ROUNDS]
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
rounds=${2:-20}
prepare
printf '#!/bin/sh\nexit 0\n' >"$dir/nothing"
chmod +x "$dir/nothing"
mkdir "$dir/no-lua"
start_flux 1
ours_uri=$FLUX_URI

flux_conf "\"$dir/nothing\"" "\"$dir/nothing\""
start_flux 1
nothing_uri=$FLUX_URI

took() { # took URI LUA: one job, in microseconds
    local begin=$EPOCHREALTIME
    FLUX_URI=$1 FLUX_SHELL_RC_PATH=$2 flux run true
    local end=$EPOCHREALTIME
    echo $((${end/./} - ${begin/./}))
}
median() { sort -n | awk '{v[NR]=$1} END {printf "%.1f ms", (NR % 2 ? v[(NR+1)/2] : (v[NR/2] + v[NR/2+1]) / 2) / 1000}'; }

for ((i = 0; i < rounds; i++)); do
    took "$nothing_uri" "$dir/no-lua" >>"$dir/nothing.us"
    took "$ours_uri" "$dir/no-lua" >>"$dir/hooks.us"
    took "$ours_uri" "$etc/shell/lua.d" >>"$dir/all.us"
    echo "flux run on one node: $(tail -n1 "$dir/nothing.us" | median) with no-op hooks, $(tail -n1 "$dir/all.us" | median) with ours"
done
phase() { # phase URI FROM TO: of all jobs, by their eventlogs
    local id
    for id in $(FLUX_URI=$1 flux jobs -a -n -c 0 -o '{id}'); do
        FLUX_URI=$1 flux job eventlog --time-format=raw "$id" |
            awk -v from="$2" -v to="$3" '$2 == from {a = $1} $2 == to {b = $1} END {printf "%d\n", (b - a) * 1e6}'
    done | median
}
echo "$rounds rounds, medians of flux run true, on $(nproc) processors:"
echo "  hooks that do nothing               $(median <"$dir/nothing.us")"
echo "  our prolog and epilog               $(median <"$dir/hooks.us")"
echo "  ... and the shell plugin            $(median <"$dir/all.us")"
for phase in prolog epilog; do
    echo "  $phase: nothing $(phase "$nothing_uri" $phase-start $phase-finish), ours $(phase "$ours_uri" $phase-start $phase-finish)"
done
