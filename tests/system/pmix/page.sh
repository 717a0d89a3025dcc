#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# page.sh CMAKE BUILD CC PKG_CONFIG PAGE MCASTD PEER: installs libmcast_pmix into a folder, compiles the
# host of the page against it, and runs it with a broker, for a rank that asks for a fact.
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
for part in libmcast libmcast_pmix; do
    "$1" --install "$build" --prefix "$folder/here" --component $part >/dev/null
done
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$5" >"$folder/host.c"
PKG_CONFIG_PATH=$(dirname "$(find "$folder/here" -name mcast_pmix.pc)")
export PKG_CONFIG_PATH
lib=$(dirname "$PKG_CONFIG_PATH")
# shellcheck disable=SC2046 # flags are words
"$3" -std=gnu17 -Wall -Wextra -Werror "$folder/host.c" -o "$folder/host" \
    $("$4" --cflags --libs mcast_pmix)

mcastd=$6
# shellcheck source=tests/system/rig/onebroker.sh
. "$(dirname "$0")/../rig/onebroker.sh"
mkdir "$folder/tmp"
echo 'get mcast.vnis' | TMPDIR=$folder/tmp PMIX_MCA_gds=hash LD_LIBRARY_PATH=$lib MCAST_URL=$folder/s \
    timeout -k 5 60 "$folder/host" "$7" >"$folder/out" 2>&1 || {
    cat "$folder/out"
    exit 1
}
cat "$folder/out"
grep -qx '0 1024' "$folder/out"
