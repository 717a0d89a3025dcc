# SPDX-License-Identifier: Apache-2.0
# The nodes' part under a real Flux, on NICs of mock-cxi: services before the first task and none after
# the last, each node its own (F7, F8), handed down to instances within jobs (F6); a node that cannot
# serve fails the job in words, and one that cannot clean up is drained (F9, F10).
# shellcheck shell=bash
. "$(dirname "$0")/nodes.sh"

hold=10m # so that VNIs are free again because the nodes said so, and not by time
prepare
flux_conf "\"$hooks/prolog\", \"--\", \"$etc/system/prolog.d/mcast\"" \
    "\"$hooks/epilog\", \"--\", \"$etc/system/epilog.d/mcast\""
printf '[job-manager.housekeeping]\ncommand = ["%s"]\n' "$etc/system/housekeeping.d/mcast" >>"$dir/etc/flux.toml"
start_flux 2

cat >"$dir/tell" <<'SH'
#!/bin/sh
env | grep '^SLINGSHOT_' | sort | paste -sd ' '
SH
chmod +x "$dir/tell"

# ---- each node's own services, while the job runs; without documents each reports them, and their end
running=$(flux submit -N2 -n2 sleep inf)
flux job wait-event --quiet "$running" start >/dev/null
[ "$(requests /nodes/)" = 2 ] || fail "$(requests /nodes/) reports until a job on two nodes starts"
services_are 4 2 || fail "a running job has $(services 0) and $(services 1) services"
flux cancel "$running"
flux job wait-event --quiet "$running" clean >/dev/null
until_it "the services are gone" services_are 0 0
until_it "the nodes said so, and the VNIs are free" nothing_held
[ "$(requests /nodes/)" = 4 ] || fail "$(requests /nodes/) reports of a job on two nodes"

got=$(flux run -N2 -n2 "$dir/tell")
grep -qE 'DEVICES=cxi0,cxi1,cxi2,cxi3 SLINGSHOT_SVC_IDS=[0-9]+,[0-9]+,[0-9]+,[0-9]+ SLINGSHOT_TCS=0x0?a SLINGSHOT_VNIS=[0-9]+$' <<<"$got" ||
    fail "the node with four NICs is told: $got"
grep -qE 'DEVICES=cxi0,cxi1 SLINGSHOT_SVC_IDS=[0-9]+,[0-9]+ ' <<<"$got" || fail "the node with two is told: $got"

# ---- an instance within a job hands each node's own down
cat >"$dir/nested" <<'SH'
#!/bin/sh
flux run -N2 -n2 sh -c 'env | grep ^SLINGSHOT_DEVICES'
SH
chmod +x "$dir/nested"
got=$(flux run -N2 -n2 flux start "$dir/nested" | sort)
[ "$got" = $'SLINGSHOT_DEVICES=cxi0,cxi1\nSLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3' ] ||
    fail "tasks of a nested instance are told: $got"

# ---- a node without NICs: the job fails in words, what the other node made is undone, none is drained
nics 1 0
! got=$(flux run -N2 -n2 true 2>&1) || fail "a job runs on a node without NICs"
[[ $got == *"type=mcast severity=0"*"could not be prepared: "*"0 NICs"* ]] || fail "the job is told: $got"
nics 1 2
until_it "what was half made is undone" services_are 0 0
[ -z "$(flux resource drain -n -o '{ranks}')" ] || fail "a failed prolog drains nodes"

# ---- a node that is well, and cannot have this job: it is told why
echo 'traffic_classes = bulk_data' >>"$dir/node1.conf"
! got=$(flux run -N2 -n2 true 2>&1) || fail "a job runs where none of its traffic classes is allowed"
[[ $got == *"type=mcast severity=0 none of the job's traffic classes is allowed on this node"* ]] ||
    fail "the job is told: $got"
sed -i '$d' "$dir/node1.conf"
until_it "what was half made is undone, again" services_are 0 0
[ -z "$(flux resource drain -n -o '{ranks}')" ] || fail "a job that cannot be had drains a node"

# ---- a service that another job of its user may be using drains nothing, and goes with that job
other=$(flux submit -n1 --requires=host:n1 sleep inf)
flux job wait-event --quiet "$other" start >/dev/null
nics 1 2 '[fault used]\ncall = destroy_svc\nservice = 3\nerrno = EBUSY\n'
flux run -n1 --requires=host:n1 true
lingers() { mcastctl list --held 2>&1 | grep -q 'n1 (lingering'; }
until_it "the broker knows of it" lingers
housekept() { [ -z "$(flux housekeeping list -n)" ]; }
until_it "housekeeping is over" housekept
[ -z "$(flux resource drain -n -o '{ranks}')" ] || fail "a user drains a node that others share"
services_are 0 4 || fail "both jobs' services are not there: $(services 0) $(services 1)"
nics 1 2
flux cancel "$other"
until_it "the other job's end ends both" services_are 0 0
until_it "and their VNIs are free" nothing_held
[ -z "$(flux resource drain -n -o '{ranks}')" ] || fail "what went in the end drains a node"

# ---- a service that will not go: housekeeping drains that node, and says why
nics 1 2 '[fault stuck]\ncall = destroy_svc\nnic = cxi1\nerrno = EBUSY\n'
flux run -N2 -n2 true
drained() { flux resource drain -n -o '{ranks} {reason}' | grep -q '^1 mcast: cxi1: service .* of job elcap/f.* is still in use'; }
until_it "the node is drained" drained
until_it "all but what is stuck is gone" services_are 0 1
nics 1 2
MOCK_RANK=1 command mcast-node clean >/dev/null || fail "clean fails"
services_are 0 0 || fail "clean leaves something"
flux resource undrain 1
expect_clean
until_it "all VNIs are free" nothing_held

# ---- without the job manager's plugin each node reports itself: no fault, and no line for each job
if [ -x "$hooks/tell" ]; then
    ! said=$("$hooks/tell" elcap "$(flux job last)" 1 n0 2>&1) || fail "there is no plugin, and it is told"
    [ -z "$said" ] || fail "where there is no plugin, tell says: $said"
fi
