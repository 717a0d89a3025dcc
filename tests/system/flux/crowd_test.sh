# SPDX-License-Identifier: Apache-2.0
# Many jobs on 1,024 pretended nodes, with the job manager and hooks as they are, while mcastd is killed
# and started again: every job runs, none is refused, and nothing is left (F20, B6).
#
#   crowd_test.sh BUILD [JOBS]     150 by default; 1,000 take some minutes
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
jobs=${2:-150}
prepare
cat >>"$dir/etc/flux.toml" <<CONF
[fake-resources]
nnodes = 1024
cores-per-node = 8
CONF
pretended=yes
start_flux 1

# Asking is what costs most here.
goes_on() {
    sleep 0.5
    [ "$(finished)" -ge "$goal" ]
}
running() { flux jobs -n --filter=running -o '{id}' | wc -l; }
finished() { flux jobs -n -c 0 --filter=inactive -o '{id}' | wc -l; }
some_run() { [ "$(running)" -gt 0 ]; }

flux submit --quiet --cc=1-"$jobs" -N64 --setattr=system.exec.test.run_duration=0.2s true &
submitter=$!
until_it "jobs run" some_run
kills=0
while [ "$(finished)" -lt "$jobs" ]; do
    [ $SECONDS -lt 1500 ] || fail "$(finished) of $jobs jobs are finished after 25 minutes"
    kill_broker
    sleep 0.3 # the time for which it is away, with jobs beginning and ending
    start_broker
    kills=$((kills + 1))
    before=$(finished)
    goal=$((before + 5 < jobs ? before + 5 : jobs))
    until_it "jobs end while mcastd runs" goes_on
done
wait "$submitter"
good=$(flux jobs -n -c 0 --filter=completed -o '{id}' | wc -l)
[ "$good" = "$jobs" ] || fail "$((jobs - good)) of $jobs jobs failed: $(flux jobs -n -c 5 --filter=failed -o '{id} {exception.note}')"
expect_clean
echo "$jobs jobs on 1,024 nodes, mcastd killed $kills times, $SECONDS s; nothing left"
