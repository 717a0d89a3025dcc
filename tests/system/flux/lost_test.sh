# SPDX-License-Identifier: Apache-2.0
# What hooks cannot do: a reservation that the fabric manager lost ends its job with our words (F22), and
# a job whose release never came is found by asking Flux (F20).
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
prepare
flux_conf "\"$hooks/prolog\"" "\"$hooks/epilog\", \"--patience\", \"0\""
start_flux 2
cat >"$dir/jobs" <<SH
#!/bin/sh
PATH=$PATH FLUX_URI=$FLUX_URI exec "$hooks/jobs"
SH
chmod +x "$dir/jobs"
cat >>"$dir/mcastd.conf" <<CONF
list_command = $dir/jobs
list_every = 1s
CONF
kill_broker
start_broker

setsid "$hooks/raise-lost" --cluster elcap --state "$dir/last-event" >>"$dir/flux.log" 2>&1 &
others="-$! $others"

# ---- lost
kept=$(flux submit -n1 sleep inf)
lost=$(flux submit -N2 -n2 sleep inf)
flux job wait-event --quiet "$kept" start >/dev/null
flux job wait-event --quiet "$lost" start >/dev/null
fm_asks -X POST "$url/mock/forget" >/dev/null
kill_broker # it looks when it comes up
start_broker
flux job wait-event --quiet --timeout=180 "$lost" clean >/dev/null || fail "the job that lost its reservation runs on"
said=$(flux job eventlog "$lost" | grep ' exception ')
[[ $said == *'type="mcast" severity=0 '*"mcast: "* ]] || fail "its user is told: $said"
[ "$(flux jobs -n -o '{state}' "$kept")" = RUN ] || fail "a job without multicast addresses was ended, too"

# ---- an epilog that finds no mcastd
id=$(flux job id --to=f58plain "$kept")
kill_broker
flux cancel "$kept"
flux job wait-event --quiet --timeout=180 "$kept" clean >/dev/null || fail "a job does not end without mcastd"
logged() { flux dmesg | grep -q "mcast.*$id is not released"; }
until_it "the epilog says so in Flux's log" logged
running=$(flux job id --to=f58plain "$(flux submit -N2 -n2 sleep inf)")
start_broker
expect_only() { [ "$(mcastctl list --json --state active | grep -o '"job": *"[^"]*"' | cut -d'"' -f4 | paste -sd ' ')" = "$1" ]; }
until_it "Flux's list releases it, and only it ($(mcastctl list))" expect_only "$running"
flux cancel "$running"
flux job wait-event --quiet "$running" clean >/dev/null
expect_clean
