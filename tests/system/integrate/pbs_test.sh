#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deploy/examples/pbs: each hook is called as PBS calls it, in PBS's order and out of it; Debian has no
# PBS, so what gives the events is a stand-in (F1, F4, F8, F9, F10, F16, F18, F22).
command -v python3 >/dev/null || {
    echo "skipped: there is no python3, which PBS's hooks are written in"
    exit 77
}
# shellcheck source=tests/system/integrate/fixture.sh
. "$(dirname "$0")/fixture.sh"
prepare
node n1
node n2
here=$sources/tests/system/integrate
user=$(id -un)
# Jobs' owners are not root; but one that cannot get at what was built cannot run it.
if [ "$(id -u)" = 0 ] && runuser -u nobody -- test -x "$build/bin/mcastctl"; then
    user=nobody
    chmod 711 "$dir"
fi
mkdir "$dir/bin"
export PBS_OUTCOME=$dir/out/outcome PYTHONPATH=$here/pbs PYTHONDONTWRITEBYTECODE=1
export MCAST_PBS=$examples/pbs/mcast-pbs MCAST_PBS_BIN=$dir/bin MCAST_PBS_PATIENCE=1s

# hook EVENT JOB [WISHES] [NODE]: what PBS does at that event; the outcome is in $outcome.
hook() {
    local event=$1 job=$2 wishes=${3:-} node=${4:-n1} vnodes=''
    # Before the scheduler has chosen nodes there are none.
    [ "$event" = queuejob ] || vnodes='(n1:ncpus=4:mem=1gb)+(n2:ncpus=4)'
    PBS_EVENT='{"event": "'$event'", "requestor": "'$user'", "node": "'$node'", "job": {"id": "'$job'",
        "euser": "'$user'", "exec_vnode": "'$vnodes'", "resources": {"mcast": "'$wishes'"}}}' \
        on "$node" env SLURMD_NODENAME="$node" python3 "$examples/pbs/mcast.py" 2>>"$dir/rm.log" ||
        fail "the hook ended with $? at $event"
    outcome=$(cat "$PBS_OUTCOME")
}
accepts() { hook "$@" && is "${outcome%%$'\n'*}" accept "what the hook says to $1 of $2"; }
on_nodes() { accepts "$1" "$2" '' n1 && accepts "$1" "$2" '' n2; }
qselect() { # qselect JOBS: what PBS would list from now on
    printf '#!/bin/sh\nprintf "%%b" "%s"\n' "$1" >"$dir/bin/qselect" && chmod +x "$dir/bin/qselect"
}

# A job's life: 12.srv on n1 and n2.
accepts queuejob 12.srv vnis=2
accepts runjob 12.srv vnis=2
on_nodes execjob_begin 12.srv
is "$(services n1)$(services n2)" 22 "the services on the nodes"
accepts execjob_launch 12.srv
for words in FI_CXI_COLL_JOB_ID=elcap-12.srv FI_CXI_COLL_JOB_STEP_ID=0 FI_CXI_COLL_MCAST_TOKEN=sess- \
    SLINGSHOT_VNIS=1024,1025 SLINGSHOT_DEVICES=cxi0,cxi1; do
    has "$outcome" "env $words"
done
on_nodes execjob_end 12.srv
is "$(services n1)$(services n2)" 00 "the services on the nodes"
accepts endjob 12.srv
until_it "the fabric manager has it back" fm_holds_only ''
accepts endjob 12.srv # the release repeated
accepts endjob 99.srv # and of what never was

# What cannot be is told at qsub, in words, and there is nothing to undo.
hook queuejob 13.srv vnis=9
is "$outcome" "reject mcastd: mcast=vnis=9: allowed are vnis=0 to vnis=4 and hwcoll=auto, on, off or required"

# A subjob of an array; started twice, as after a restart of PBS: the same answer.
accepts runjob '14[2].srv'
accepts runjob '14[2].srv'
is "$(active)" 14:2:.srv "what is active"
# It is deleted while it runs: the same end.
on_nodes execjob_begin '14[2].srv'
on_nodes execjob_end '14[2].srv'
accepts endjob '14[2].srv'

# The broker is away at reserve: the job stays in the queue without a hold, and is run later.
kill_broker
hook runjob 15.srv
has "$outcome" "reject mcastd: mcastctl: cannot reach"
has "$outcome" "; the job is tried again"
[[ $outcome != *"hold s"* ]] || fail "a job that is tried again is held"
start_broker
accepts runjob 15.srv

# A NIC fails at its start: the job is held, with the reason, nothing half-made is left.
mkdir "$dir/nodes/good" && mv "$dir/nodes/n2/cxi.conf" "$dir/nodes/good/"
printf '[mock]\nnics = 0\n' >"$dir/nodes/n2/cxi.conf"
accepts execjob_begin 15.srv '' n1
hook execjob_begin 15.srv '' n2
has "$outcome" "reject mcastd: mcast-node:"
has "$outcome" $'\nhold s'
mv "$dir/nodes/good/cxi.conf" "$dir/nodes/n2/cxi.conf"
on_nodes execjob_end 15.srv
is "$(services n1)$(services n2)" 00 "the services on the nodes"

# No VNIs, no job: held with the broker's words, since each try would end like this one.
accepts endjob 15.srv
accepts runjob 16.srv hwcoll=off:vnis=4
kill_broker
sed -i 's/^hold = .*/&\npool = 2000-2002/' "$dir/mcastd.conf"
start_broker
hook runjob 17.srv vnis=4
has "$outcome" "reject mcastd: mcastctl: failed to reserve 4 VNIs (3 available)"
has "$outcome" $'\nhold s'

# Its endjob hook never runs: the sync finds that PBS does not have it any more. A qselect that fails
# says nothing of any job.
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/qselect" && chmod +x "$dir/bin/qselect"
hook periodic -
has "$outcome" "log mcastd: periodic:"
qselect '16.srv\n'
for _ in 1 2 3; do accepts periodic -; done
is "$(active)" 16.srv "what is active"
qselect ''
gone() { accepts periodic - && [ -z "$(active)" ]; }
until_it "job 16.srv is released" gone

# A service that will not go: the node goes offline, and says for whom.
accepts runjob 18.srv vnis=1
on_nodes execjob_begin 18.srv
printf '[mock]\nnics = 2\nprivileged = any\n[fault busy]\ncall = destroy_svc\nerrno = EBUSY\n' \
    >"$dir/nodes/n1/cxi.conf"
hook execjob_end 18.srv '' n1
has "$outcome" "offline n1 mcastd: CXI services are left of job 18.srv"
node n1
on_nodes execjob_end 18.srv

# The fabric manager loses its reservation: PBS is told to end the job.
printf '#!/bin/sh\necho "$@" >>%s\n' "$dir/qdel.log" >"$dir/bin/qdel" && chmod +x "$dir/bin/qdel"
qselect '17.srv\n18.srv\n'
setsid "$MCAST_PBS" watch 2>>"$dir/rm.log" &
others=-$!
fm_asks -X POST -d '{"jobs":["elcap-18.srv"]}' "$url/mock/forget" >/dev/null
until_it "PBS is told" test -s "$dir/qdel.log"
is "$(cat "$dir/qdel.log")" 18.srv "what PBS is told to end"
