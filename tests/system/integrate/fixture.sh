# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder: the house of all tests in shell, and pretended nodes with NICs.
# Usage of each test: TEST.sh BUILD SOURCES
# shellcheck shell=bash disable=SC2034  # the tests use what is set here
build=$(readlink -f "$1")
sources=$(readlink -f "$2")
PATH=$build/bin:/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin
examples=$sources/deploy/examples
hold=10m
# shellcheck source=tests/system/rig/fixture.sh
. "$sources/tests/system/rig/fixture.sh"

is() { [ "$1" = "$2" ] || fail "${3:-it} is '$1', not '$2'"; }
ends_with() { # ends_with STATUS COMMAND…
    local status=0 wanted=$1
    shift
    "$@" || status=$?
    is "$status" "$wanted" "the exit status of $*"
}
has() { [[ $1 == *"$2"* ]] || fail "'$1' lacks '$2'"; }

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

fm_holds() { fm_asks "$url/mock/state" | grep -oE '"jobID": ?"[^"]*"' | cut -d'"' -f4 | sort -u | paste -sd ' '; }
fm_holds_only() { [ "$(fm_holds)" = "$1" ]; }
active() { mcastctl list --state active --json | grep -oE '"job": ?"[^"]*"' | cut -d'"' -f4 | paste -sd ' '; }
state_of() { mcastctl show --json "$1" 2>/dev/null | grep -oE '"state": ?"[^"]*"' | head -1 | cut -d'"' -f4; }
