#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A library exports what its list says (deploy/debian/PACKAGE.symbols): nothing less, for programs are
# linked to it, and nothing more, for what is exported once stays. Where abidiff is installed, types
# are compared, too, with those of the last release.
# usage: symbols.sh LIST LIBRARY [TYPES.abi.gz]
set -eu
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-symbols.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "symbols.sh: $*" >&2
    exit 1
}
sed -n 's/^ \([^ ]*@[^ ]*\) .*/\1/p' "$1" | LC_ALL=C sort >"$dir/listed"
[ -s "$dir/listed" ] || fail "$1 lists nothing"
nm -D --defined-only "$2" | sed -n 's/^[^ ]* [TDBR] \([^ ]*\)$/\1/p' | sed 's/@@/@/' |
    LC_ALL=C sort >"$dir/exported"
comm -23 "$dir/listed" "$dir/exported" >"$dir/gone"
[ ! -s "$dir/gone" ] || fail "no longer exported, though programs may be linked to it: $(tr '\n' ' ' <"$dir/gone")"
comm -13 "$dir/listed" "$dir/exported" >"$dir/new"
[ ! -s "$dir/new" ] || fail "exported, and not in $1; add it there with the version that brings it: $(tr '\n' ' ' <"$dir/new")"
echo "$(wc -l <"$dir/listed") symbols"
[ $# -ge 3 ] || exit 0
command -v abidiff >/dev/null || {
    echo "skipped: abidiff (abigail-tools) is not installed; types were not compared"
    exit 77
}
gunzip -c "$3" >"$dir/before.abi"
status=0
abidiff --no-added-syms "$dir/before.abi" "$2" >"$dir/said" || status=$?
[ $status = 0 ] || { cat "$dir/said" >&2; fail "types changed. Only a new member at the end of a struct is right: renew libmcast.abi.gz then (docs/releases.md)"; }
echo "and the types of before"
