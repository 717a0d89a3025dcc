#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The unit as systemd reads it: no fault, and exposed no more than it must be.
# usage: unit.sh CMAKE BUILD
set -eu
cmake=$1 build=$2
command -v systemd-analyze >/dev/null || {
    echo "skipped: systemd-analyze is not installed"
    exit 77
}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-unit.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "unit.sh: $*" >&2
    exit 1
}
"$cmake" --install "$build" --prefix "$dir/usr" >"$dir/log" 2>&1 || {
    cat "$dir/log" >&2
    fail "cmake --install fails"
}
unit=$dir/usr/lib/systemd/system/mcastd.service

# Unknown settings and values, a program that is not there: one line each, and nothing else is well.
# Where the pages are is the host's, so they are not looked for.
systemd-analyze verify --man=no "$unit" >"$dir/verify" 2>&1 || true
systemd-analyze verify --man=no "${unit%.service}-slurm.service" >>"$dir/verify" 2>&1 || true
! grep -F mcastd "$dir/verify" >&2 || fail "systemd-analyze verify finds faults (above)"

level=$(systemd-analyze security --offline=true --no-pager "$unit" |
    sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p')
echo "exposure level $level"
awk -v level="$level" 'BEGIN { exit !(level != "" && level + 0 <= 2.0) }' ||
    fail "the exposure level is '$level', it must be 2.0 at most"
# What the number does not say.
grep -q '^User=mcastd$' "$unit" || fail "it runs as somebody else"
grep -q '^CapabilityBoundingSet=$' "$unit" || fail "it has capabilities"
# In a user namespace SO_PEERCRED tells every client's uid as nobody's.
! grep -q '^PrivateUsers=yes' "$unit" || fail "PrivateUsers= takes the clients' identities away"

# The user and the folders, into an empty root of our own.
skip() {
    echo "skipped: $*; the user and the folders were not made"
    exit 77
}
for tool in systemd-sysusers systemd-tmpfiles; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
[ "$(id -u)" = 0 ] || skip "only root can make users"
mkdir -p "$dir/root/etc" "$dir/root/var/lib" "$dir/root/run"
systemd-sysusers --root="$dir/root" "$dir/usr/lib/sysusers.d/mcastd.conf" >"$dir/log" 2>&1 ||
    { cat "$dir/log" >&2; fail "systemd-sysusers fails"; }
uid=$(sed -n 's/^mcastd:[^:]*:\([0-9]*\):.*:\/var\/lib\/mcastd:.*nologin$/\1/p' "$dir/root/etc/passwd")
[ -n "$uid" ] || fail "no user mcastd with the home /var/lib/mcastd and no shell was made"
systemd-tmpfiles --root="$dir/root" --create "$dir/usr/lib/tmpfiles.d/mcastd.conf" \
    >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "systemd-tmpfiles fails"; }
is() { # is PATH MODE UID
    [ "$(stat -c '%a %u' "$dir/root$1")" = "$2 $3" ] ||
        fail "$1 is $(stat -c '%a %u' "$dir/root$1"), it should be $2 $3"
}
is /etc/mcastd 755 0
is /etc/mcastd/conf.d 755 0
is /var/lib/mcastd 700 "$uid"
is /run/mcastd 755 "$uid"
