# SPDX-License-Identifier: Apache-2.0
# Sourced by the fixture.sh of each folder of tests in shell: mock-fm and mcastd in a folder of their own,
# $dir. What they and the tests wrote there is searched for tokens before it is deleted; what jobs print,
# who have theirs, is in $dir/out (rig/secretscan.h). Who sources it has set $build, and a PATH that finds
# what is built there.
# shellcheck shell=bash disable=SC2034,SC2154  # who sources it uses what is set here, and sets $build
# Not pipefail: who writes on when grep -q has found its line is ended for it, on a slow machine.
set -eu

# mcastd trusts nothing below a folder that all may write to and that lacks the sticky bit.
rig=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
parent=/var/tmp
[ -k "$parent" ] || parent=/tmp
dir=$(mktemp -d "${TMPDIR:-$parent}/mcast-$(basename "$0" .sh).XXXXXX")
mkdir "$dir/out"
export no_proxy='*' MCAST_URL="unix:$dir/mcastd.sock" MCAST_CLUSTER=elcap LC_ALL=C.UTF-8
# A job around this test would be taken for the outer one of its jobs.
unset "${!FI_CXI_@}" "${!FI_OPX_@}" "${!FI_PSM3_@}" "${!PSM3_@}" "${!SLINGSHOT_@}" "${!SLURM_@}" "${!PBS_@}" FLUX_URI FLUX_JOB_ID FLUX_JOB_ID_PATH
broker='' fm='' others='' # others: what else runs, PID or, with all that it started, -PID

fail() {
    local log
    echo "$(basename "$0"): $*" >&2
    for log in mcastd mock-fm rm flux; do
        [ ! -s "$dir/$log.log" ] || { echo "---- end of $log.log" && tail -n 40 "$dir/$log.log"; } >&2
    done
    exit 1
}

# shellcheck disable=SC2317  # called by the trap
tidy_up() {
    local status=$? pid
    trap - EXIT
    for pid in $others $broker $fm; do
        kill -- "$pid" 2>/dev/null || true
    done
    wait
    "$build/tests/secretscan" "$dir" || status=1
    if [ -n "${MCAST_KEEP:-}" ]; then echo "kept: $dir" >&2; else rm -rf "$dir"; fi
    exit $status
}
trap tidy_up EXIT
trap 'exit 130' INT TERM

until_it() { # until_it WHAT COMMAND…: asks again until it holds, for at most two minutes
    local what=$1 end=$((SECONDS + 120))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "$what: not within two minutes"
        sleep 0.05
    done
}

# draw_ports COUNT: so many, between blanks in $ports, that no other test gets (rig/ports.py).
draw_ports() {
    local kept
    exec {kept}< <(exec python3 "$rig/ports.py" "$1")
    others="$! $others"
    read -r ports <&"$kept" || fail "no ports can be drawn"
}

link_is_up() {
    kill -0 "$broker" 2>/dev/null || fail "mcastd has ended"
    [[ $(mcastctl --json status 2>/dev/null) =~ \"link\":\ ?\"up\" ]]
}

start_fm() {
    local port=0
    [ ! -s "$dir/port" ] || port=$(cat "$dir/port")
    rm -f "$dir/port.new"
    mock-fm --listen "127.0.0.1:$port" --port-file "$dir/port.new" --auth basic --authdir "$dir" \
        --state "$dir/fm.state" >>"$dir/mock-fm.log" 2>&1 &
    fm=$!
    until_it "mock-fm writes its port" test -s "$dir/port.new"
    cp "$dir/port.new" "$dir/port"
    url=http://127.0.0.1:$(cat "$dir/port")
}

launch_broker() {
    mcastd --config "$dir/mcastd.conf" >>"$dir/mcastd.log" 2>&1 &
    broker=$!
}

start_broker() {
    launch_broker
    until_it "mcastd reaches the fabric manager" link_is_up
}

kill_broker() {
    kill -9 "$broker"
    wait "$broker" 2>/dev/null || true
    broker=
}

# start_munged: a munged with a key of its own, in $munge_socket.
start_munged() {
    mkdir -m 755 "$dir/munge"
    chmod a+x "$dir"
    munge_socket=$dir/munge/socket
    (umask 077 && head -c 1024 /dev/urandom >"$dir/munge/munge.key")
    /usr/sbin/munged --foreground --force --key-file="$dir/munge/munge.key" --socket="$munge_socket" \
        --pid-file="$dir/munge/pid" --log-file="$dir/munge/munged.log" --seed-file="$dir/munge/seed" \
        2>>"$dir/munged.log" &
    others="$! $others"
    until_it "munged listens" test -S "$munge_socket"
}

# requests WORD: how many the broker has answered whose method or route (docs/metrics.md) has the word.
requests() {
    curl -sS -H "Cache-Control: no-cache" --unix-socket "${MCAST_URL#unix:}" http://mcastd/metrics |
        awk -v word="$1" '/^mcastd_http_requests_total\{/ && index($0, word) {sum += $NF} END {print sum + 0}'
}

# prepare: mock-fm, and mcastd for cluster elcap; jobs of two nodes are eligible for multicast addresses.
# $users may ask for it, VNIs are quarantined for $hold. What start_munged has started is used.
prepare() {
    (umask 077 && head -c 18 /dev/urandom | base64 >"$dir/passwd")
    [ -n "$fm" ] || start_fm
    cat >"$dir/mcastd.conf" <<CONF
[broker]
socket = $dir/mcastd.sock
socket_mode = 0666
sync_grace = 1s
${munge_socket:+munge_socket = $munge_socket}
[state]
path = $dir/state.db
key_file = $dir/state.key
[fm]
url = $url
auth = basic
authdir = $dir
link_retry = 50ms
relist = 1s
[inventory]
source = off
[hwcoll]
min_nodes = 2
addresses_per_job = 23
[vni]
hold = ${hold:-1s}
[cluster "elcap"]
users = ${users:-$(id -un)}
CONF
    start_broker
}

fm_asks() { curl -sS --fail-with-body -u "cxi:$(cat "$dir/passwd")" "$@"; }
