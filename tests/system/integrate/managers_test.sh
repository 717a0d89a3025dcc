#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two managers on one fabric: a Slurm that asks the fabric manager itself, and mcastd. Neither removes
# what the other has reserved, and mcastd warns of a cluster name with which that would not hold (B4).
# shellcheck source=tests/system/integrate/fixture.sh
. "$(dirname "$0")/fixture.sh"

jobs=/fabric/collectives/jobs
slurm_reserves() { # slurm_reserves CLUSTER NUMBER
    fm_asks -o "$dir/out/reserved.token" -H 'Content-Type: application/json' \
        -d "{\"jobID\":\"$1-$2\",\"mcastLimit\":4}" "$url$jobs"
}
# What slurmctld does every 30 s: each listed name that begins with its cluster's and ends in a number
# which is no running job of its own is deleted (fabric-manager.md, "How the peers behave").
slurm_sweeps() { # slurm_sweeps CLUSTER RUNNING
    local name
    for name in $(fm_asks "$url$jobs/" | grep -oE "$jobs/[^\"]*" | sed 's|.*/||'); do
        [[ $name =~ ^$1.*-([0-9]+)$ ]] || continue
        [[ " $2 " == *" ${BASH_REMATCH[1]} "* ]] || fm_asks -X DELETE "$url$jobs/$name" >/dev/null
    done
}
called() { # called NAME: mcastd's cluster from now on
    kill_broker
    rm -f "$dir"/state.db* "$dir"/mcastd.log
    sed -i "s/^\[cluster .*/[cluster \"$1\"]/" "$dir/mcastd.conf"
    export MCAST_CLUSTER=$1
    start_broker
}
logged() { grep -q -F -e "$1" "$dir/mcastd.log"; }
lists() { # how often mcastd has read the list
    fm_asks "$url/mock/log" | grep -oE '"path": ?"/fabric/collectives/jobs/"' | wc -l
}
# Several rounds of both, with a restart of mcastd in between.
both_live_on() {
    local seen
    for _ in 1 2; do
        slurm_sweeps elca 17
        seen=$(lists)
        until_it "mcastd compares again" eval "[ \$(lists) -gt $((seen + 1)) ]"
        kill_broker
        start_broker
    done
}

prepare
sed -i 's/^relist = .*/relist = 200ms\nstray_grace = 200ms/' "$dir/mcastd.conf"
slurm_reserves elca 17

# At the start, in the log, the doctor's findings and the metrics: our name begins with Slurm's.
called elcap
logged 'fabric manager lists elca-17: if that is a Slurm cluster "elca"' || fail "nothing is logged"
logged 'rename cluster elcap so that it does not begin with "elca"' || fail "no next step is told"
findings=$(mcastctl doctor --json) || true
has "$findings" 'cluster \"elcap\" and \"elca-17\"'
has "$(mcastctl doctor 2>&1 || true)" 'give one of the two another name'
has "$(curl -sS --unix-socket "$dir/mcastd.sock" http://mcastd/metrics)" \
    'mcastd_cluster_neighbour_dangerous{cluster="elcap"} 1'
# It is right: a Slurm that behaves as known takes ours for its own, and the job is told.
mcastctl reserve --uid 1 --nodes 'n[1-2]' 7 >/dev/null
slurm_sweeps elca 17
told() { mcastctl events | grep -qE 'lost.* 7( |$)|lost.*elcap/7'; }
until_it "job 7 is told that it lost its addresses" told
fm_asks "$url$jobs/elca-17" >"$dir/out/job.token" || fail "mcastd has removed Slurm's reservation"

# With Slurm's beginning not in it nothing is warned of, and neither removes the other's.
called tuo
mcastctl reserve --uid 1 --nodes 'n[1-2]' 7 >/dev/null
both_live_on
is "$(fm_holds)" 'elca-17 tuo-7' "what the fabric manager holds"
is "$(state_of 7)" active "job 7"
! logged 'rename cluster' || fail "there is nothing to warn of"
mcastctl doctor >"$dir/out/doctor" 2>&1 || true
grep -q 'dangerously like' "$dir/out/doctor" || fail "the doctor finds something: $(cat "$dir/out/doctor")"
mcastctl release 7
until_it "ours goes, Slurm's stays" fm_holds_only elca-17

# The very same name: said at the first sight, before anything is concluded from it.
sed -i 's/^stray_grace = .*/stray_grace = 1h/' "$dir/mcastd.conf"
called tuo # a ledger that has seen a list
kill_broker
slurm_reserves tuo 18
start_broker
logged 'fabric manager lists tuo-18, which the ledger does not know' || fail "nothing is logged"
logged '-> rename cluster tuo here, or there, at once' ||
    fail "no next step is told"
is "$(fm_holds)" 'elca-17 tuo-18' "what the fabric manager holds"
