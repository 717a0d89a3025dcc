#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What of the core the simulator reaches: coverage.sh BUILD [SEEDS]. Lines and branches by file, then
# every line that no seed reached (docs/simulator.md says why).
set -eu
build=$1
seeds=${2:-5000}
top=$(cd "$(dirname "$0")/../.." && pwd)
find "$build" -name '*.gcda' -delete
"$build/bin/mcast-sim" --seeds "$seeds" | sed -n 1p
cd "$build/core/CMakeFiles/core.dir"
printf '\n%-32s %8s %10s\n' 'core/' lines branches
find . -name '*.gcda' | sort | while read -r counts; do
    gcov -b "$counts" 2>/dev/null | awk -v top="$top/core/" '
        index($0, "File \x27" top) == 1 { name = substr($0, length(top) + 7); sub(/\x27$/, "", name) }
        name ~ /\.c$/ && /^Lines executed:/ { split($0, p, /[:%]/); lines = p[2] }
        name ~ /\.c$/ && /^Taken at least once:/ { split($0, p, /[:%]/); branches = p[2] }
        /^$/ && name ~ /\.c$/ { printf "%-32s %7.1f%% %9s\n", name, lines, branches == "" ? "-" : sprintf("%.1f%%", branches); name = "" }'
done
printf '\nlines that were not reached:\n'
grep -H '#####:' ./*.c.gcov | grep -F -e '' |
    sed 's/^\.\/\([^:]*\)\.gcov: *#####: *\([0-9]*\):/\1:\2:/' | grep -v '\.h:'
