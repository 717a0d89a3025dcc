#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What of the core the simulator reaches: coverage.sh BUILD [SEEDS]. Lines and branches by file, then
# every line that no seed reached (docs/simulator.md says why).
set -eu
build=$1
seeds=${2:-5000}
find "$build" -name '*.gcda' -delete
"$build/bin/mcast-sim" --seeds "$seeds" | sed -n 1p
# Where it was compiled: names of sources may be relative to that.
cd "$build"
printf '\n%-32s %8s %10s\n' 'core/' lines branches
find core -name '*.gcda' | sort | while read -r counts; do
    gcov -b "$counts" 2>/dev/null | awk '
        /^File \x27(.*\/)?core\/.*\.c\x27$/ { name = $0; sub(/^File \x27(.*\/)?core\//, "", name); sub(/\x27$/, "", name) }
        name != "" && /^Lines executed:/ { split($0, p, /[:%]/); lines = p[2] }
        name != "" && /^Taken at least once:/ { split($0, p, /[:%]/); branches = p[2] }
        /^$/ && name != "" { printf "%-32s %7.1f%% %9s\n", name, lines, branches == "" ? "-" : sprintf("%.1f%%", branches); name = branches = "" }'
done
printf '\nlines that were not reached:\n'
grep -l 'Source:.*core/' ./*.c.gcov | xargs grep -H '#####:' |
    sed 's/^\.\/\([^:]*\)\.gcov: *#####: *\([0-9]*\):/\1:\2:/'
