#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The version stands in CMakeLists.txt; and ./dev release refuses what it should.
# usage: version.sh SOURCES VERSION
set -eu
sources=$1 version=$2
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-version.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "version.sh: $*" >&2
    [ ! -s "$dir/said" ] || cat "$dir/said" >&2
    exit 1
}
newest=$({ echo "$version" && sed -n 's/^ .* \([0-9.]*\)~$/\1/p' "$sources"/deploy/debian/*.symbols; } |
    sort -V | tail -n 1)
[ "$newest" = "$version" ] || fail "deploy/debian/*.symbols names $newest; this is only $version"
command -v git >/dev/null || {
    echo "skipped: git is not installed; the refusals of ./dev release were not tried"
    exit 77
}
mkdir -p "$dir/copy/deploy"
cp "$sources/dev" "$sources/CMakeLists.txt" "$dir/copy"
cd "$dir/copy"
printf '# Changes\n\n## Not yet released\n' >CHANGELOG.md
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git init -q . && git add . && git -c user.name=n -c user.email=n@n commit -qm first
! ./dev release "$dir/out" >"$dir/said" 2>&1 || fail "./dev release without an entry in CHANGELOG.md"
grep -q "CHANGELOG.md has no heading '## $version (" "$dir/said" || fail "it does not say why"
echo more >>CHANGELOG.md
! ./dev release "$dir/out" >"$dir/said" 2>&1 || fail "./dev release of a dirty tree"
grep -q 'not committed' "$dir/said" || fail "it does not say why"
echo "version $version"
