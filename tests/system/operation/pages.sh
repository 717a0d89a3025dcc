#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual pages that the program writes: no complaint from groff, and every key and option is in.
# usage: pages.sh MCASTD
set -eu
mcastd=$1
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-pages.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "pages.sh: $*" >&2
    exit 1
}
"$mcastd" --man-page 5 >"$dir/mcastd.conf.5"
"$mcastd" --man-page 8 >"$dir/mcastd.8"

"$mcastd" --help-config | sed -n 's/^  \([a-z_]*\) = .*/\1/p' >"$dir/keys"
[ "$(wc -l <"$dir/keys")" -gt 40 ] || fail "--help-config lists too few keys"
"$mcastd" --help | sed -n 's/^  --\([a-z-]*\).*/\1/p' | sed 's/-/\\-/g' >"$dir/options"
while read -r key; do
    grep -qxF ".B $key" "$dir/mcastd.conf.5" || fail "mcastd.conf(5) lacks $key"
done <"$dir/keys"
while read -r option; do
    grep -qF ".B \\-\\-$option" "$dir/mcastd.8" || fail "mcastd(8) lacks --$option"
done <"$dir/options"
# A key that needs a restart is told so in both.
"$mcastd" --help-config | grep -q 'a change needs a restart' || fail "--help-config tells no restart"
grep -q '\[state\] key_file' "$dir/mcastd.conf.5" || fail "mcastd.conf(5) lists no restart keys"

command -v groff >/dev/null || {
    echo "skipped: groff is not installed, the pages' text was looked at only"
    exit 77
}
for page in mcastd.conf.5 mcastd.8; do
    groff -man -ww -rCHECKSTYLE=2 -Tutf8 -z "$dir/$page" 2>"$dir/complaints" || true
    [ "$page" != mcastd.conf.5 ] ||
        groff -man -Tascii -P-c "$dir/$page" | sed 's|.\x08||g' | grep -qF 'cluster "NAME"]' ||
        fail "the section's name loses its quotes in $page"
    [ ! -s "$dir/complaints" ] || {
        cat "$dir/complaints" >&2
        fail "groff complains of $page (above)"
    }
done
