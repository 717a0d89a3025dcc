# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests that have nodes with NICs of mock-cxi: the house, and two nodes on one host, or $nodes.
# shellcheck shell=bash
# shellcheck source=tests/system/flux/fixture.sh
. "$(dirname "$0")/fixture.sh"

nics() { # nics RANK NUMBER [MORE]: what NICs the node has, and further lines of cxi.conf
    mkdir -p "$dir/node$1"
    printf '[mock]\nnics = %s\nprivileged = any\n%b' "$2" "${3:-}" >"$dir/node$1/cxi.conf.new"
    mv "$dir/node$1/cxi.conf.new" "$dir/node$1/cxi.conf"
}

# Two nodes on one host: which of them it is, a command learns from the broker that it was started by.
mkdir "$dir/bin"
cat >"$dir/bin/mcast-node" <<SH
#!/bin/sh
rank=\${MOCK_RANK:-\${FLUX_URI##*-}}
export LD_PRELOAD=$build/tests/rig-booted.so TEST_BOOTED=$(($(date +%s) - 7200)) # rig/boottime.h
MOCK_CXI=$dir/node\$rank LD_LIBRARY_PATH=$build/lib/mock-cxi exec "$build/bin/mcast-node" "\$@" \\
    --config "$dir/node\$rank.conf" --node "n\$rank"
SH
chmod +x "$dir/bin/mcast-node"
PATH=$dir/bin:$PATH
export MCAST_NODE_CONFIG=$dir/node0.conf
for rank in $(seq 0 $((${nodes:-2} - 1))); do
    mkdir -m 755 "$dir/spool$rank"
    cat >"$dir/node$rank.conf" <<CONF
cluster = elcap
url = $MCAST_URL
spool = $dir/spool$rank
housekeeping = yes
epilog_retry = 100ms
housekeeping_retry = 1s
launch_user = $(id -u)
munge_socket = $dir/munge/socket
CONF
    nics "$rank" 2
done
nics 0 4
services() { MOCK_RANK=$1 command mcast-node list --json | grep -c '"system": false' || true; }
services_are() { # services_are NUMBER…: of each rank, from 0 on
    local rank=0 number
    for number; do
        [ "$(services $rank)" = "$number" ] || return 1
        rank=$((rank + 1))
    done
}
nothing_held() {
    local list
    list=$(mcastctl list --json --held) && ! grep -q '"job"' <<<"$list"
}
