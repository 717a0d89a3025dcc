#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exports.sh NM LIBRARY HEADER: the library exports what the header declares, no more and no less.
set -eu
exported=$("$1" -D --defined-only "$2" | awk '$2 == "T" || $2 == "D" || $2 == "B" || $2 == "R" {
    sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort)
declared=$(tr '\n' ' ' <"$3" | grep -o 'MCAST_API [^(;]*(' | grep -o 'mcast_[a-z_]*($' | tr -d '(' |
    LC_ALL=C sort)
[ -n "$declared" ]
if [ "$exported" != "$declared" ]; then
    printf 'exported:\n%s\n\ndeclared:\n%s\n' "$exported" "$declared"
    exit 1
fi
