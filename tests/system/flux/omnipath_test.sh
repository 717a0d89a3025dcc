# SPDX-License-Identifier: Apache-2.0
# Jobs on Omni-Path under Flux (S4): all tasks of a job have its keys, and no other job has them (F16); what
# runs in an instance within it has them, too, at any depth and whatever the submitter has in his environment
# (F17). Settings of the site come with them, and a user's own stay where the job has none.
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
prepare
kill_broker
cat >>"$dir/mcastd.conf" <<'CONF'
interconnect = omnipath
[omnipath]
partition_keys = 1-4
partition_key_hold = 0
service_level = 3
psm3_nic = hfi1_*
CONF
start_broker
start_flux 2

# tell: what a task has of it, as lines "NAME=value" that are written at once.
cat >"$dir/tell" <<'SH'
#!/bin/sh
told=$(env | grep -E '^(FI_OPX|FI_PSM3|PSM3|FI_CXI|SLINGSHOT)_' | LC_ALL=C sort)
printf '%s\n' "$told"
SH
# What an instance within a job does; its own script has what the job's task has.
cat >"$dir/outer" <<'SH'
#!/bin/sh
cd "$(dirname "$0")"
[ "$(flux getattr rank)" = 0 ] || exit 0
./tell >out/script
flux run -N2 -n2 ./tell >out/nested
env -u FI_OPX_SL -u PSM3_NIC -u FI_OPX_UUID FI_PSM3_UUID=others FI_OPX_PKEY=others PSM3_PKEY=others flux run ./tell >out/changed
flux run -N2 -n2 flux start ./inner
FI_OPX_MINE=x flux --parent run ./tell >out/parent
SH
cat >"$dir/inner" <<'SH'
#!/bin/sh
cd "$(dirname "$0")"
flux run -N2 -n2 ./tell >out/inner
SH
chmod +x "$dir/tell" "$dir/outer" "$dir/inner"
cd "$dir"

keys() { grep -E '^(FI_OPX_UUID|FI_PSM3_UUID|FI_OPX_PKEY|PSM3_PKEY)=' "$@" | sort -u; } # of all files
has_one_job() { # has_one_job NAME TASKS: what they printed is the same, and all there is to have
    [ "$(wc -l <"out/$1") $(sort -u "out/$1" | wc -l)" = "$((6 * $2)) 6" ] || fail "tasks of '$1' are told: $(cat "out/$1")"
    grep -qxE 'FI_OPX_UUID=[0-9a-f]{32}' "out/$1" || fail "no key for opx: $(cat "out/$1")"
    grep -qxE 'FI_PSM3_UUID=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' "out/$1" || fail "no key for psm3: $(cat "out/$1")"
    grep -qxE 'FI_OPX_PKEY=0x800[1-4]' "out/$1" || fail "no partition key: $(cat "out/$1")"
    [ "$(grep -xFc -e 'FI_OPX_SL=3' -e 'PSM3_NIC=hfi1_*' "out/$1")" = $((2 * $2)) ] || fail "no settings: $(cat "out/$1")"
}

# ---- jobs of the system's instance: each its own
flux run -N2 -n2 ./tell >out/first
FI_OPX_UUID=others FI_OPX_PKEY=others FI_OPX_SL=5 flux run ./tell >out/second
has_one_job first 2
has_one_job second 1
[ "$(keys -h out/first out/second | wc -l)" = 8 ] || fail "two jobs share keys: $(cat out/first out/second)"

# ---- a job that has nothing keeps nothing of another's; what its user has chosen is left
FI_OPX_UUID=others FI_PSM3_UUID=others FI_OPX_PKEY=others PSM3_PKEY=others FI_OPX_SL=5 \
    flux run -o mcast=off ./tell >out/off
[ "$(cat out/off)" = FI_OPX_SL=5 ] || fail "a job with mcast=off is told: $(cat out/off)"

# ---- within a job: all of it has the job's keys
flux run -N2 -n2 flux start "$dir/outer"
has_one_job script 1
has_one_job nested 2
has_one_job changed 1
has_one_job inner 2
[ "$(keys -h out/script out/nested out/changed out/inner | wc -l)" = 4 ] || fail "jobs within a job differ: $(keys out/*)"
# And what is submitted from there to the system's instance has its own.
grep -qxF FI_OPX_MINE=x out/parent || fail "not from within the job: $(cat out/parent)"
sed -i /MINE/d out/parent
has_one_job parent 1
[ "$(keys -h out/script out/parent | wc -l)" = 8 ] || fail "a job has the keys of the one that submitted it"

# ---- an instance in a step of another resource manager hands on what that gave it
env -u FLUX_URI FI_OPX_UUID=given FI_PSM3_UUID=given FI_OPX_PKEY=given PSM3_PKEY=given FI_OPX_SL=5 \
    flux start env -u PSM3_PKEY -u FI_OPX_SL FI_OPX_UUID=others flux run ./tell >out/foreign
[ "$(cut -d= -f2 out/foreign | paste -sd ' ')" = 'given 5 given given given' ] ||
    fail "jobs of an instance that another resource manager started are told: $(cat out/foreign)"

# ---- the keys are in no log, and not in what all may see
! grep -rqF -e "$(sed -n s/^FI_OPX_UUID=//p out/script)" mcastd.log flux.log || fail "a key is in a log"
! flux jobs -a -o '{user.mcast}' | grep -qF "$(sed -n s/^FI_OPX_UUID=//p out/script)" || fail "a key is in a memo"
cd /
expect_clean
