#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# topology_test.sh BUILD: what mcastctl prints of nodes and topology (P1): for people, and for a real
# slurmctld, which starts with its topology.conf and shows the switches; dot, where it is installed.
build=$1
export PATH=$build/bin:$PATH
# shellcheck source=tests/system/rig/fixture.sh
source "$(dirname "$0")/../rig/fixture.sh"

mkdir "$dir/conf.d" "$dir/slurm" "$dir/slurm/state"
cat >"$dir/genders" <<NODES
elcap1 nic0=0x002,nic1=0x042
elcap2 nic0=0x003
elcap3 nic0=0x042
elcap4 nic0=0x802
elcap5 compute
NODES
printf '[inventory]\nsource = fm\nfile = %s/genders\npoll = 1s\n[cluster "elcap"]\nnodes = elcap[1-5]\n[cluster "tuo"]\nusers = daemon\n' "$dir" \
    >"$dir/conf.d/inventory.conf"
prepare

inventory_is_read() { mcastctl --json topology --format json | grep -q '"switches": *4'; }
until_it "the inventory is read" inventory_is_read

has() { # has FILE WORDS
    grep -qF -- "$2" "$1" || { cat "$1" >&2 && fail "$1 lacks: $2"; }
}

mcastctl nodes >"$dir/nodes"
has "$dir/nodes" "0x00802"
mcastctl nodes elcap3 >"$dir/one"
has "$dir/one" "address-shared"
if mcastctl nodes --forget elcap3 2>"$dir/none"; then fail "a node that told nothing was forgotten"; fi
has "$dir/none" "has told no NICs"
curl -sS --fail-with-body --unix-socket "$dir/mcastd.sock" -X PUT http://mcastd/v1/nodes/gone1/inventory \
    -H 'Content-Type: application/json' -d '{"order":1,"nics":[]}' >/dev/null
mcastctl nodes --forget gone1 >"$dir/forgotten"
has "$dir/forgotten" "gone1"
if mcastctl nodes --forget gone1 2>/dev/null; then fail "a node was forgotten twice"; fi
mcastctl topology >"$dir/text"
has "$dir/text" "g1s0"
has "$dir/text" "without an address (1): elcap5"
has "$dir/text" "elcap[1-2]"
mcastctl --cluster tuo topology >"$dir/none" 2>&1
has "$dir/none" "no nodes are known"
mcastctl reserve --uid 1 --nodes 'elcap[1-4]' f1 >"$dir/out/job"
mcastctl topology --job elcap/f1 >"$dir/text"
has "$dir/text" "elcap[1-2]"
mcastctl topology --job elcap/f1 --format slurm >"$dir/of_job"
has "$dir/of_job" "SwitchName=g0s0 Nodes=elcap[1-2]"
mcastctl topology --format slurm-yaml >"$dir/topology.yaml"
has "$dir/topology.yaml" "      - switch: g0s0"
mcastctl topology --format graphviz >"$dir/topology.dot"
if command -v dot >/dev/null; then
    dot -Tsvg "$dir/topology.dot" >"$dir/topology.svg"
fi

# ---- who follows the events hears of a switch ----
mcastctl events --follow >"$dir/followed" 2>/dev/null &
others="$! $others"
curl -sS --fail-with-body "$url/mock/fabric" -d '{"set":{"/fabric/switches/g1s1":"OFFLINE"}}' >/dev/null
until_it "the subscriber hears of it" grep -q "switch-down.*switch g1s1 is down" "$dir/followed"

# ---- a wrong kind is answered with all that there are ----
if mcastctl events --kind nix 2>"$dir/kinds"; then fail "a kind of events that there is not"; fi
has "$dir/kinds" "port-changed, fabric-changed"

# ---- Slurm ----
[ -x /usr/sbin/slurmctld ] || { echo "slurmctld is not installed: not tried" >&2 && exit 0; }
mcastctl topology --format slurm >"$dir/slurm/topology.conf"
export SLURM_CONF=$dir/slurm/slurm.conf
draw_ports 1
cat >"$SLURM_CONF" <<CONF
ClusterName=elcap
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$ports
SlurmUser=$(id -un)
AuthType=auth/none
CredType=cred/none
TopologyPlugin=topology/tree
StateSaveLocation=$dir/slurm/state
SlurmctldPidFile=$dir/slurm/pid
SlurmctldLogFile=$dir/slurm/log
ProctrackType=proctrack/linuxproc
MpiDefault=none
NodeName=elcap[1-5] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[7001-7005]
PartitionName=all Nodes=ALL Default=YES
CONF
/usr/sbin/slurmctld -D -i >"$dir/slurm/out" 2>&1 &
others="$! $others"
slurm_shows() { timeout 20 scontrol show topology >"$dir/slurm/shown" 2>/dev/null && [ -s "$dir/slurm/shown" ]; }
until_it "slurmctld shows a topology" slurm_shows
# As topology.conf has them, and with the nodes below each.
for words in "SwitchName=g0s0 Level=0 LinkSpeed=1 Nodes=elcap[1-2]" \
    "SwitchName=g0s1 Level=0 LinkSpeed=1 Nodes=elcap3" \
    "SwitchName=g1s0 Level=0 LinkSpeed=1 Nodes=elcap4" \
    "SwitchName=g0 Level=1 LinkSpeed=1 Nodes=elcap[1-3] Switches=g0s0,g0s1" \
    "SwitchName=fabric Level=2 LinkSpeed=1 Nodes=elcap[1-4] Switches=g0,g1"; do
    has "$dir/slurm/shown" "$words"
done

# ---- it is turned off ----
sed -i 's/^source = fm$/source = off/; /^file = /d' "$dir/conf.d/inventory.conf"
kill -HUP "$broker"
says_off() { mcastctl topology 2>&1 | grep -q "reads no inventory"; }
until_it "topology says that there is no inventory" says_off
