#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The service as its unit runs it, as far as that can be had without systemd: installed, its user and
# folders made by the shipped sysusers and tmpfiles, its key by root, and then that user without any
# capability, without a way to new privileges, with all but its own folders read-only. In a mount
# namespace of its own, so that nothing of it is seen outside.
# usage: under_unit.sh CMAKE BUILD
set -eu
if [ $# = 2 ]; then
    skip() {
        echo "skipped: $*"
        exit 77
    }
    [ "$(id -u)" = 0 ] || skip "only root can make users and mounts"
    for tool in unshare setpriv systemd-sysusers systemd-tmpfiles; do
        command -v $tool >/dev/null || skip "$tool is not installed"
    done
    dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-under-unit.XXXXXX")
    trap 'rm -rf "$dir"' EXIT
    "$1" --install "$2" --prefix "$dir/usr" >"$dir/install.log" 2>&1 || {
        cat "$dir/install.log" >&2
        exit 1
    }
    unshare -m --propagation private true 2>/dev/null || skip "no mount namespace can be made here"
    status=0
    unshare -m --propagation private sh "$0" "$dir" || status=$?
    exit $status
fi

dir=$1 usr=$1/usr mcastd=$1/usr/sbin/mcastd
broker=''
trap 'status=$?; [ -z "$broker" ] || kill "$broker" 2>/dev/null || true; exit $status' EXIT
fail() {
    echo "under_unit.sh: $*" >&2
    [ ! -s "$dir/log" ] || sed 's/^/  log: /' "$dir/log" >&2
    exit 1
}
chmod 755 "$dir"
mkdir "$dir/etc" && cp -a /etc/. "$dir/etc/" && mount --bind "$dir/etc" /etc
for place in /run /var/lib; do
    mount -t tmpfs -o mode=755 tmpfs $place
done
systemd-sysusers "$usr/lib/sysusers.d/mcastd.conf" >"$dir/log" 2>&1 || fail "no user"
systemd-tmpfiles --create "$usr/lib/tmpfiles.d/mcastd.conf" >"$dir/log" 2>&1 || fail "no folders"
cp "$usr/share/doc/mcastd/examples/mcastd.conf" /etc/mcastd/mcastd.conf
# What a list_command prints are job ids: here, as whom it runs.
printf '[cluster "elcap"]\nusers = daemon\nlist_command = /usr/bin/id -u\n[broker]\nlog_level = debug\n' \
    >/etc/mcastd/conf.d/50-site.conf
"$mcastd" --make-key=mcastd 2>"$dir/log" || fail "no key"
[ "$(stat -c '%U %a' /etc/mcastd/state.key)" = "mcastd 600" ] || fail "the key is not the service's"

mount -o remount,bind,ro /etc
as() { # as USER COMMAND…
    user=$1
    shift
    setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups --no-new-privs \
        --inh-caps=-all --ambient-caps=-all --bounding-set=-all "$@"
}
as mcastd "$mcastd" --check 2>"$dir/log" || fail "--check fails"
"$mcastd" --check 2>"$dir/root.log" || fail "--check as root fails"
cmp "$dir/log" "$dir/root.log" || fail "root sees something else than the service"
! as mcastd touch /etc/mcastd/x 2>/dev/null || fail "the service can change its configuration"
as mcastd "$mcastd" 2>"$dir/log" &
child=$! # a shell's, which waits for it
until grep -q ' READY ' "$dir/log"; do
    kill -0 $child 2>/dev/null || fail "it does not start"
    sleep 0.05
done
broker=$(sed -n 1p /var/lib/mcastd/state.db.lock)
grep -q '^CapEff:[[:space:]]0*$' "/proc/$broker/status" || fail "it has capabilities"
unset MCAST_URL MCAST_CLUSTER
# Another user is known by the kernel's word for who connects, and is the cluster's manager.
as daemon "$usr/bin/mcastctl" --cluster elcap reserve --uid 5588 --nodes 'n[1-2]' j1 \
    >"$dir/said" 2>&1 || { cat "$dir/said" >&2; fail "the cluster's user cannot reserve"; }
! as nobody "$usr/bin/mcastctl" --cluster elcap reserve --uid 5588 --nodes 'n[1-2]' j2 \
    >/dev/null 2>&1 || fail "anybody can reserve"
"$usr/bin/mcastctl" doctor --json >"$dir/doctor" 2>&1 || { cat "$dir/doctor" >&2; fail "the doctor finds problems"; }
until grep -q 'cluster elcap names 1 active jobs' "$dir/log"; do
    ! grep 'list_command of cluster elcap' "$dir/log" >&2 || fail "list_command does not run"
    kill -0 "$broker" 2>/dev/null || fail "a job list poll ended it"
    sleep 0.05
done
kill -HUP "$broker"
until grep -q ' reloaded: ' "$dir/log"; do
    kill -0 "$broker" 2>/dev/null || fail "a reload ended it"
    sleep 0.05
done
[ "$(stat -c '%U %a' /var/lib/mcastd/state.db)" = "mcastd 600" ] || fail "others can read the ledger"
status=0
kill "$broker"
broker=''
wait $child || status=$?
[ $status = 0 ] || fail "it ended with $status"
echo "ran as mcastd, without capabilities, with /etc read-only"
