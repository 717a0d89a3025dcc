#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deploy/examples/shell/minirm, a resource manager in plain shell, with all that can go wrong around it
# (F1, F8, F16, F18, F20, F22, B6).
# shellcheck source=tests/system/integrate/fixture.sh
. "$(dirname "$0")/fixture.sh"
prepare
here=$sources/tests/system/integrate
export RM_DIR=$dir RM_BUILD=$build MINIRM_SPOOL=$dir/minirm MINIRM_ON=$here/on
mkdir "$MINIRM_SPOOL"
node n1
node n2
minirm() { "$examples/shell/minirm" "$@" 2>>"$dir/rm.log"; }
leaves_nothing() { # leaves_nothing JOB: wherever one looks
    is "$(services n1)$(services n2)" 00 "services on the nodes"
    [ ! -e "$MINIRM_SPOOL/$1" ] || fail "minirm still has $1"
    [ "$(state_of "$1")" != active ] || fail "$1 is active"
    until_it "the fabric manager has given back what $1 had" fm_holds_only ''
}
started() { [ -s "$dir/out/$1.n1" ] && [ -s "$dir/out/$1.n2" ]; }

# A job: its tasks have all variables, each node's its own; and then nothing is left.
# shellcheck disable=SC2016 # the tasks evaluate it
minirm run 1 n1,n2 sh -c 'env >"$RM_DIR/out/1.$SLURMD_NODENAME"
    [ "$(mcast-node list --json | grep -c "\"job\"")" = 2 ]' || fail "job 1 ended with $?"
for task in n1 n2; do
    text=$(cat "$dir/out/1.$task")
    for words in FI_CXI_COLL_JOB_ID=elcap-1 FI_CXI_COLL_JOB_STEP_ID=0 FI_CXI_COLL_MCAST_TOKEN=sess- \
        FI_CXI_HWCOLL_ADDRS_PER_JOB=23 SLINGSHOT_VNIS=1024 SLINGSHOT_DEVICES=cxi0,cxi1; do
        has "$text" "$words"
    done
done
leaves_nothing 1

# Its exit status is the job's; a job on one node has no multicast addresses, and runs.
ends_with 7 minirm run 2 n1 sh -c 'exit 7'
leaves_nothing 2

# Killed while it runs.
# shellcheck disable=SC2016
runs_long='echo $$ >"$RM_DIR/out/$0.$SLURMD_NODENAME" && exec sleep 600'
minirm run 3 n1,n2 sh -c "$runs_long" 3 &
runner=$!
until_it "job 3 runs" started 3
is "$(fm_holds)" elcap-3 "what the fabric manager holds"
minirm kill 3
wait $runner && fail "job 3 was killed"
leaves_nothing 3

# The broker is away when a job starts: it waits, and starts as soon as there is one.
kill_broker
minirm run 4 n1,n2 true &
runner=$!
until_it "job 4 waits for the broker" grep -q 'cannot reach .*; asking on' "$dir/rm.log"
start_broker
wait $runner || fail "job 4 ended with $?"
leaves_nothing 4
# Killed while it waits, it does not wait on.
kill_broker
: >"$dir/rm.log"
minirm run 12 n1,n2 true &
runner=$!
until_it "job 12 waits for the broker" grep -q 'cannot reach .*; asking on' "$dir/rm.log"
minirm kill 12
wait $runner && fail "job 12 was killed"
start_broker
minirm sync
leaves_nothing 12
# For as long as it retries: the job fails, with the cause, and nothing is reserved behind it.
kill_broker
MINIRM_PATIENCE=1 minirm run 5 n1,n2 true && fail "job 5 has no VNI"
grep -q 'minirm: 5: it is not reserved' "$dir/rm.log" || fail "nothing was said of job 5"
start_broker
is "$(state_of 5)" '' "job 5"

# The broker is away when a job ends: its release is not forgotten, and saying it again does no harm.
minirm run 6 n1,n2 sh -c "$runs_long" 6 &
runner=$!
until_it "job 6 runs" started 6
kill_broker
minirm kill 6
wait $runner && fail "job 6 was killed"
[ -e "$MINIRM_SPOOL/6" ] || fail "nobody will release job 6"
start_broker
is "$(state_of 6)" active "job 6, which nobody has released yet,"
minirm sync
leaves_nothing 6
ends_with 0 mcastctl release 6
ends_with 3 mcastctl release nosuch 2>/dev/null

# The resource manager is killed with its job: after its return it finishes what it began.
minirm run 7 n1,n2 sh -c "$runs_long" 7 &
runner=$!
until_it "job 7 runs" started 7
kill -9 "$(cat "$MINIRM_SPOOL/7/pid")"
kill "$(cat "$dir/out/7.n1")" "$(cat "$dir/out/7.n2")"
wait $runner && fail "it was killed"
is "$(state_of 7)" active "job 7, whose resource manager is dead,"
minirm sync
leaves_nothing 7

# A job that no resource manager remembers is found by two syncs that lack it, a grace period apart.
mcastctl reserve --uid 0 --nodes n1,n2 8 >/dev/null
gone() { minirm sync && [ "$(state_of 8)" != active ]; }
until_it "job 8 is released" gone

# Its reservation is lost at the fabric manager: the job ends, at once and by itself.
setsid "$examples/shell/minirm" watch 2>>"$dir/rm.log" &
others=-$!
minirm run 9 n1,n2 sh -c "$runs_long" 9 &
runner=$!
until_it "job 9 runs" started 9
fm_asks -X POST -d '{"jobs":["elcap-9"]}' "$url/mock/forget" >/dev/null
wait $runner && fail "job 9 has lost its reservation"
leaves_nothing 9
# Told of it again, after a restart, it leaves a later job of this id alone.
kill -- "$others"
rm "$dir/out/9.n1"
minirm run 9 n1 sh -c "$runs_long" 9 &
later=$!
until_it "the later job 9 runs" test -s "$dir/out/9.n1"
setsid "$examples/shell/minirm" watch 2>>"$dir/rm.log" &
others=-$!
minirm run 11 n1,n2 sh -c "$runs_long" 11 &
runner=$!
until_it "job 11 runs" started 11
fm_asks -X POST -d '{"jobs":["elcap-11"]}' "$url/mock/forget" >/dev/null
wait $runner && fail "job 11 has lost its reservation"
kill -0 "$(cat "$dir/out/9.n1")" || fail "the later job 9 was ended"
minirm kill 9
wait $later && fail "job 9 was killed"
leaves_nothing 9

# No VNI, no job: the broker's words reach the user.
grep -q 'pool =' "$dir/mcastd.conf" || sed -i 's/^hold = .*/&\npool = 2000-2000/' "$dir/mcastd.conf"
kill_broker
start_broker
mcastctl reserve --uid 0 --nodes n1 blocker >/dev/null
minirm run 10 n1,n2 true && fail "there was no VNI for job 10"
grep -q 'mcastctl: failed to reserve 1 VNI (0 available)' "$dir/rm.log" ||
    fail "job 10 was not told why"
is "$(active)" blocker "what is active"
