#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan.sh MCASTCTL GNUPLOT: what people meet of `mcastctl plan`: table, choice, JSON, plots, the
# configuration, wrong lines and wrong options. What it computes is tested in unit/plan_*, and against
# the broker in system/replay-agree. GNUPLOT "": it is not installed, so nothing is drawn.
set -eu
mcastctl=$1 gnuplot=$2
logs=$(cd "$(dirname "$0")/../../data/joblogs" && pwd)
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-plan.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() {
    echo "plan.sh: $*" >&2
    for file in out err; do sed "s/^/  $file: /" "$dir/$file" >&2; done
    exit 1
}
# Ends with a status, and says these words (on standard error unless it is 0).
expect() { # expect STATUS WORDS ARGUMENTS…
    status=0 wanted=$1 words=$2
    shift 2
    "$mcastctl" plan "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] || fail "status $status, not $wanted: plan $*"
    if [ "$wanted" = 0 ]; then said=out; else said=err; fi
    grep -qF -e "$words" "$said" || fail "no \"$words\": plan $*"
}
: >out
: >err

{
    echo '; MaxNodes: 1000'
    for job in 1 2 3 4 5 6 7 8; do
        echo "$job ${job}00 0 350 100 -1 -1 100 400 -1 1 7 -1 -1 -1 -1 -1 -1"
    done
    echo '9 900 0 35'
} >log.swf
cat >mcastd.conf <<'CONF'
[hwcoll]
min_nodes = 50
addresses_per_job = 16
total_addresses = 60
system_nodes = 2000
[vni]
pool = 2000-2099
hold = reports
CONF

expect 0 'Take the setting marked *.' --config /dev/null --min-nodes 32,64 --addresses 8,auto log.swf
grep -q '^8 jobs (swf).*1 wrong or cut' out || fail "the cut line is not counted"
grep -q "log.swf:10: fewer than the 18 numbers of a job: 9 900 0 35" err || fail "nor named"
grep -q "^1000 nodes (the log's header), 4086 multicast addresses, 64512 VNIs" out || fail "no machine"
[ "$(grep -c '^\*' out)" = 2 ] || fail "not one setting is marked"

# What a real Slurm 22.05 and a real flux-core 0.88 printed.
expect 0 '6 jobs (sacct)' --config /dev/null --min-nodes 2 "$logs/sacct-22.05.txt"
grep -q '0 wrong or cut, 6 that never ran, or less than a second, 12 parts of jobs; 1 still ran' out || fail "sacct's jobs"
expect 0 '6 jobs (flux)' --config /dev/null --min-nodes 2 "$logs/flux-0.88.json"
grep -q '0 wrong or cut, 3 that never ran, or less than a second; 1 still ran' out || fail "Flux' jobs"

grep -q '; hold = reports where nodes report (the default); else hold = 1m' out || fail "it drops the safe default"
# Four at any time, and two VNIs: nothing is marked, nothing to be pasted.
expect 1 'no setting serves this log: ' --config /dev/null --pool 1-3 --min-nodes 128 log.swf
grep -q 'without VNIs 1 and 10' err || fail "it does not say what the pool lacks"
if grep -qE '^\* +[0-9]|hwcoll|Take' out; then fail "what does not work is marked"; fi

gzip -c log.swf >log.swf.gz
"$mcastctl" plan --json --config mcastd.conf - <log.swf.gz >out 2>err || fail "gzip from standard input"
python3 - <<'PYTHON' || fail "the JSON is not as it should be"
import json
plan = json.load(open("out"))
assert plan["machine"] == {
    "system_nodes": 2000, "system_nodes_from": "the broker's configuration",
    "total_addresses": 60, "sharing": 1, "vnis": 100, "vnis_per_job": 1}, plan["machine"]
assert plan["log"]["wrong_or_cut"] == 1 and plan["log"]["faults"][0]["line"] == 10
(one,) = plan["settings"]
assert (one["min_nodes"], one["addresses_per_job"], one["hold_ms"]) == (50, 16, 60000), one
# Four run at any time, and three have room; two of the later ones find it.
assert one["jobs"]["eligible"] == 8 and one["jobs"]["denied"] == len(one["denied_jobs"]) > 0, one
assert one["addresses"]["peak"] == 48, one
assert plan["recommended"]["setting"] == 0 and plan["recommended"]["reason"]
PYTHON
expect 0 '2500 nodes (--what-if)' --config /dev/null --what-if nodes=2500 log.swf
grep -q '^20 jobs' out || fail "a machine 2.5 times as large has 2.5 times as many jobs"

expect 2 'which log?' --config /dev/null
expect 2 '--min-nodes 4,x' --min-nodes 4,x log.swf
expect 2 '--hold reports' --hold reports log.swf
expect 2 '--what-if cores=7' --what-if cores=7 log.swf
expect 2 '--config none.conf: it cannot be read' --config none.conf log.swf
expect 1 'none.swf: No such file' none.swf
echo 'no log at all' >wrong
expect 1 'no job in it ran' wrong
expect 1 'min_nodes to 50 or more' --config /dev/null --min-nodes 2 --total-addresses 20 log.swf

status=0
PATH=$dir/empty "$mcastctl" plan --plots drawn log.swf >out 2>err || status=$?
[ "$status" = 1 ] || fail "status $status without gnuplot"
grep -q 'apt-get install gnuplot-nox' err || fail "it does not say what is missing"
if [ "$gnuplot" ]; then
    expect 0 'Take the setting' --config /dev/null --min-nodes 32,64 --addresses 8,600 --plots drawn log.swf
    python3 -c '
import sys, xml.etree.ElementTree as tree
for name, words in ("use", "VNIs quarantined"), ("denied", "addresses of a job"):
    texts = " ".join("".join(node.itertext()) for node in tree.parse(f"drawn/{name}.svg").iter())
    assert words in texts, (name, texts)' || fail "what was drawn is not as it should be"
fi
