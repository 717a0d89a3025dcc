#!/bin/sh
# installed.sh CMAKE BUILD CC PKG_CONFIG PAGE: installs the library into a folder, compiles the first
# C example of the page against it, and runs it where no broker is.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --install "$2" --prefix "$folder/here" --component libmcast >/dev/null
awk '/^```c$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$5" >"$folder/job.c"
[ -s "$folder/job.c" ]
pc=$(find "$folder/here" -name mcast.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are words
"$3" -std=c17 -Wall -Wextra -Werror "$folder/job.c" -o "$folder/job" \
    $("$4" --cflags --libs mcast)
code=0
LD_LIBRARY_PATH=$(dirname "$(dirname "$pc")") MCAST_URL="$folder/none" "$folder/job" \
    2>"$folder/err" || code=$?
cat "$folder/err"
[ $code -eq 1 ]
grep -q "^cannot reach mcastd at $folder/none: No such file or directory" "$folder/err"
