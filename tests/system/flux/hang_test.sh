# SPDX-License-Identifier: Apache-2.0
# A fabric manager that hangs, with the scripts and with the job manager's plugin: the first job waits for it,
# and no job does after that; all of them run, with VNIs (F20, F21). It counts jobs, and measures no time.
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
unset FLUX_SHELL_RC_PATH # the shells' part is another's to test
prepare
sed -i 's/^\[fm\]/[fm]\ntimeout = 1s\nreserve_timeout = 1s/; s/^relist = .*/relist = 1h/' "$dir/mcastd.conf"

# job: one on two nodes, which runs; sets state, of its multicast addresses at its start
job() {
    flux run -N2 -o cpu-affinity=off true || fail "a job fails: $(flux job eventlog "$(flux job last)")"
    state=$(flux job info "$(flux job last)" mcast | jq -r .hwcoll.state)
    [ "$(flux job info "$(flux job last)" mcast | jq '.vnis | length')" = 1 ] || fail "a job has no VNI"
}
has_addresses() { job && [ "$state" = reserved ]; }
try() { # try WAY
    echo "# $1"
    start_flux 2
    job
    [ "$state" = reserved ] || fail "$1: a job has no addresses: $state"
    kill -STOP "$fm"
    job
    [ "$state" = timeout ] || fail "$1: no job has waited, the first was told '$state'"
    job
    for _ in 1 2 3 4 5; do
        [ "$state" = unavailable ] || fail "$1: a job waits for a fabric manager that is known to hang: $state"
        job
    done
    kill -CONT "$fm"
    until_it "a job has addresses again" has_addresses
    expect_clean
    stop_flux
    sed -i '/^\[resource\]/,$d' "$dir/etc/flux.toml" # start_flux adds it
}

kill_broker
start_broker
try scripts
if [ -e "$build/lib/flux/mcast.so" ]; then
    cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "$build/lib/flux/mcast.so", conf = { cluster = "elcap" } }]
CONF
    try plugin
fi
