#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed.sh CMAKE BUILD CC PKG_CONFIG PAGE MCASTD: installs the library into a folder, compiles the
# whole programs among the C examples of the page against it, and runs the first where no broker is,
# and the second, which does not wait, with one.
set -eu
folder=$(mktemp -d)
build=$2
broker=
tidy_up() {
    status=$?
    [ -z "$broker" ] || kill "$broker"
    "$build/tests/secretscan" "$folder" || status=1
    rm -rf "$folder"
    exit $status
}
trap tidy_up EXIT
"$1" --install "$build" --prefix "$folder/here" --component libmcast >/dev/null
awk -v folder="$folder" '
    /^```c$/ { inside = 1; text = ""; next }
    /^```$/ { if (inside && text ~ /int main/) printf "%s", text >(folder "/example" ++n ".c")
              inside = 0 }
    inside { text = text $0 "\n" }' "$5"
pc=$(find "$folder/here" -name mcast.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
lib=$(dirname "$PKG_CONFIG_PATH")
for n in 1 2; do
    # shellcheck disable=SC2046 # flags are words
    "$3" -std=c17 -Wall -Wextra -Werror "$folder/example$n.c" -o "$folder/example$n" \
        $("$4" --cflags --libs mcast)
done
[ ! -e "$folder/example3.c" ]

code=0
LD_LIBRARY_PATH=$lib MCAST_URL="$folder/none" "$folder/example1" 2>"$folder/err" || code=$?
cat "$folder/err"
[ $code -eq 1 ]
grep -q "^cannot reach mcastd at $folder/none: No such file or directory" "$folder/err"

mcastd=$6
# shellcheck source=tests/system/rig/onebroker.sh
. "$(dirname "$0")/../rig/onebroker.sh"
LD_LIBRARY_PATH=$lib MCAST_URL="$folder/s" "$folder/example2" >"$folder/out" 2>&1
cat "$folder/out"
[ "$(grep -c '^f2Rs8sydSxm[def]: VNI [0-9]*, ' "$folder/out")" -eq 3 ]
