# SPDX-License-Identifier: Apache-2.0
# All brokers of a Flux of four nodes are killed at once with a job running, and Flux is started again: no
# epilog of that job comes. Its VNI is not given out before its services are gone, and the nodes end those
# by themselves. A service that is stuck then drains its node, whatever that job has left (F9, F20, I3, B11).
# shellcheck shell=bash
nodes=4
. "$(dirname "$0")/nodes.sh"
hold=reports
prepare
for rank in 0 1 2 3; do echo 'missed_every = 1s' >>"$dir/node$rank.conf"; done
flux_conf "\"$hooks/prolog\", \"--\", \"$etc/system/prolog.d/mcast\"" \
    "\"$hooks/epilog\", \"--\", \"$etc/system/epilog.d/mcast\""
printf '[job-manager.housekeeping]\ncommand = ["%s"]\n' "$etc/system/housekeeping.d/mcast" >>"$dir/etc/flux.toml"
start_flux 4 -Sstatedir="$dir/statedir"

cat >"$dir/jobs" <<SH
#!/bin/sh
PATH=$PATH
FLUX_URI=\$(cat "$dir/run/uri") exec "$hooks/jobs"
SH
chmod +x "$dir/jobs"
printf 'list_command = %s\nlist_every = 1s\n' "$dir/jobs" >>"$dir/mcastd.conf"
kill_broker
start_broker

vni_of() { mcastctl show --json "$1" | jq '.vnis[0]'; }
# shellcheck disable=SC2016 # for the shell of the job
id=$(flux submit -N4 -n4 sh -c 'echo $$ >"$1/pid.$FLUX_TASK_RANK" && exec sleep inf' sh "$dir")
flux job wait-event --quiet "$id" start >/dev/null
job=$(flux job id --to=f58plain "$id")
services_are 4 2 2 2 || fail "a running job has $(services 0) $(services 1) $(services 2) $(services 3) services"
vni=$(vni_of "$job")
# shellcheck disable=SC2317 # until_it runs it
tasks_run() { [ "$(cat "$dir"/pid.? 2>/dev/null | wc -l)" = 4 ]; }
until_it "its tasks run" tasks_run

# ---- all at once, as when a machine's management network is cut, and no process of Flux is left
brokers=$(flux exec -q flux getattr broker.pid)
# shellcheck disable=SC2086
kill -9 $brokers
wait "$instance" || true
others="$(cat "$dir"/pid.?) $others" # whoever of them lives on
services_are 4 2 2 2 || fail "services went with Flux"
sed -i '/^\[resource\]/,$d' "$dir/etc/flux.toml" # start_flux adds it
start_flux 4 -Sstatedir="$dir/statedir"

# ---- Flux knows nothing of the job, or ends it without an epilog: the broker hears that it does not run
released() { [ "$(mcastctl show --json "$job" | jq -r .state)" != active ]; }
until_it "the job is released" released
next=$(flux submit -N4 -n4 sleep inf)
flux job wait-event --quiet "$next" start >/dev/null
got=$(vni_of "$(flux job id --to=f58plain "$next")")
[ "$got" != "$vni" ] || fail "VNI $vni is given out again while services with it are left"
services_are 8 4 4 4 || fail "the next job's services are not beside the first one's: $(services 0) $(services 1)"

# ---- a stuck service drains its node, although another of the same user is there: that one's job is over
flux cancel "$next"
flux job wait-event --quiet "$next" clean >/dev/null
until_it "the first one's services are left" services_are 4 2 2 2
stuck=$(flux submit -n1 --requires=host:n1 sleep inf)
flux job wait-event --quiet "$stuck" start >/dev/null
stuck_job=$(flux job id --to=f58plain "$stuck")
service=$(MOCK_RANK=1 command mcast-node list --json |
    jq --arg job "elcap/$stuck_job" 'first(.services[] | select(.device == "cxi1" and .job == $job)) | .id')
nics 1 2 "[fault stuck]\\ncall = destroy_svc\\nnic = cxi1\\nservice = $service\\nerrno = EBUSY\\n"
flux cancel "$stuck"
drained() { flux resource drain -n -o '{ranks} {reason}' | grep -q "^1 mcast: cxi1: service $service of job elcap/$stuck_job is still in use"; }
until_it "flux resource drain lists the node, and why: $(flux resource drain -n -o '{ranks} {reason}')" drained
services_are 4 3 2 2 || fail "there are $(services 0) $(services 1) $(services 2) $(services 3) services"
nics 1 2
flux resource undrain 1
next=$(flux submit -N4 -n4 sleep inf)
flux job wait-event --quiet "$next" start >/dev/null

# ---- the nodes end what is left of it, as mcast-node.timer has them do, and nothing of the next one
tended() {
    for rank in 0 1 2 3; do
        MOCK_RANK=$rank mcast-node tend 2>>"$dir/flux.log" || true
    done
    services_are 4 2 2 2
}
until_it "the nodes end it" tended
until_it "its VNI is free" sh -c "! mcastctl list --held | grep -q $job"
flux cancel "$next"
flux job wait-event --quiet "$next" clean >/dev/null
until_it "all services are gone" services_are 0 0 0 0
until_it "all VNIs are free" nothing_held
