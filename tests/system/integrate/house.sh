# Sourced by the tests of this folder: mock-fm, mcastd and pretended nodes with NICs, in a folder of
# their own. Usage of each test: TEST.sh BUILD SOURCES
# shellcheck shell=bash disable=SC2034  # the tests use what is set here
set -euo pipefail
build=$(readlink -f "$1")
sources=$(readlink -f "$2")
PATH=$build/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
examples=$sources/deploy/examples

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-rm.XXXXXX")
export no_proxy='*' MCAST_URL="unix:$dir/mcastd.sock" MCAST_CLUSTER=elcap LC_ALL=C.UTF-8
# An instance of somebody around this one would be taken for the outer job.
unset "${!FI_CXI_@}" "${!SLINGSHOT_@}" "${!SLURM_@}" "${!PBS_@}"
broker='' fm='' others=''

fail() {
    echo "$(basename "$0"): $*" >&2
    for log in mcastd mock-fm rm; do
        [ ! -s "$dir/$log.log" ] || { echo "---- end of $log.log" && tail -n 30 "$dir/$log.log"; } >&2
    done
    exit 1
}

# Ends what runs, and looks for tokens in all that was written: jobs' own output is in out/.
# shellcheck disable=SC2317  # called by the trap
tidy_up() {
    local status=$? pid
    trap - EXIT
    for pid in $others $broker $fm; do
        kill -- "$pid" 2>/dev/null || true # -PID: what it started, too
    done
    wait
    "$build/tests/telltale" "$dir" || status=1
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
is() { [ "$1" = "$2" ] || fail "${3:-it} is '$1', not '$2'"; }
ends_with() { # ends_with STATUS COMMAND…
    local status=0 wanted=$1
    shift
    "$@" || status=$?
    is "$status" "$wanted" "the exit status of $*"
}
has() { [[ $1 == *"$2"* ]] || fail "'$1' lacks '$2'"; }

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

# prepare: the broker for cluster elcap; jobs of two nodes are eligible for multicast addresses.
prepare() {
    (umask 077 && head -c 18 /dev/urandom | base64 >"$dir/passwd")
    mkdir -p "$dir/out"
    [ -n "$fm" ] || start_fm
    cat >"$dir/mcastd.conf" <<CONF
[broker]
socket = $dir/mcastd.sock
socket_mode = 0666
sync_grace = 1s
[state]
path = $dir/state.db
key_file = $dir/state.key
[fm]
url = $url
auth = basic
authdir = $dir
link_retry = 50ms
relist = 1s
[hwcoll]
min_nodes = 2
addresses_per_job = 23
[vni]
hold = 10m
[cluster "elcap"]
users = $(id -un)
CONF
    start_broker
}

# node NAME [NICs]: a pretended machine; on NAME COMMAND… runs there, as a node's hook would.
node() {
    mkdir -p "$dir/nodes/$1" "$dir/spool/$1"
    printf '[mock]\nnics = %s\nprivileged = any\n' "${2:-2}" >"$dir/nodes/$1/cxi.conf"
}
on() {
    local name=$1
    shift
    MOCK_CXI=$dir/nodes/$name LD_LIBRARY_PATH=$build/lib/mock-cxi MCAST_NODE_SPOOL=$dir/spool/$name \
        "$@"
}
services() { # how many CXI services of jobs a node has
    on "$1" mcast-node list --json | grep -c '"job"' || true
}

fm_asks() { curl -sS --fail-with-body -u "cxi:$(cat "$dir/passwd")" "$@"; }
fm_holds() { fm_asks "$url/mock/state" | grep -oE '"jobID": ?"[^"]*"' | cut -d'"' -f4 | sort -u | paste -sd ' '; }
fm_holds_only() { [ "$(fm_holds)" = "$1" ]; }
active() { mcastctl list --state active --json | grep -oE '"job": ?"[^"]*"' | cut -d'"' -f4 | paste -sd ' '; }
state_of() { mcastctl show --json "$1" 2>/dev/null | grep -oE '"state": ?"[^"]*"' | head -1 | cut -d'"' -f4; }
