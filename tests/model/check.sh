#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks a model of docs/model exhaustively: check.sh MODEL [-DPLANT_X [-DSIZE=N...]]. With a planted
# mistake, succeeds when it is found.
set -eu
model=$1
plant=${2:-}
shift $(($# > 2 ? 2 : $#))
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$model" "$folder/model.pml"
cd "$folder"
# shellcheck disable=SC2086 # no plant is no argument
spin -a $plant "$@" model.pml >spin.log || { cat spin.log; exit 1; }
# To compile at -O2 takes longer than it saves, so does -O1 when an error ends the search, and
# COLLAPSE half as long again for less memory.
[ -n "$plant" ] && level=-O0 || level=-O1
"${CC:-cc}" "$level" -w -DSAFETY -o pan pan.c
./pan -m2000000 >pan.log
grep -E 'errors:|states, stored|assertion violated' pan.log
grep -q 'Search not completed\|max search depth too small' pan.log && complete=no || complete=yes
if [ -n "$plant" ]; then
    grep -q 'assertion violated' pan.log
else
    [ "$complete" = yes ] && grep -q 'errors: 0$' pan.log
fi
