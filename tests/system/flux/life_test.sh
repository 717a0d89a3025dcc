# SPDX-License-Identifier: Apache-2.0
# A job's life under a real Flux: reserved in the prolog, published, told to its tasks on every node,
# refused in words, released in the epilog (F2, F4, F14, F16, F18, F23).
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
prepare
start_flux 2

env_of() { flux run "$@" env | { grep -E '^(FI_CXI|SLINGSHOT)_' || true; } | sort | uniq -c | sed 's/^ *//'; }
line() { grep -qxF -- "$2" <<<"$1" || fail "'$2' is not among: $1"; }
last_job() { flux job last; }

# ---- whether all is wired together
said=$("$hooks/check") || fail "check finds: $said"
! said=$("$hooks/check" --cluster other) || fail "check finds nothing wrong with a cluster that there is not"
! said=$(FLUX_RC_EXTRA='' "$hooks/check") || fail "check does not miss rc1: $said"
grep -q '^MISSING  rc1 ' <<<"$said" || fail "check says of rc1: $said"

# ---- the environment, on both nodes
told=$(env_of -N2)
id=$(flux job id --to=f58plain "$(last_job)")
line "$told" "2 FI_CXI_COLL_JOB_ID=elcap-$id"
line "$told" "2 FI_CXI_COLL_JOB_STEP_ID=/$id"
line "$told" "2 FI_CXI_HWCOLL_MIN_NODES=2"
line "$told" "2 FI_CXI_HWCOLL_ADDRS_PER_JOB=23"
[ "$(grep -c 'FI_CXI_COLL_MCAST_TOKEN=.' <<<"$told")" = 1 ] || fail "the nodes are told no token, or two"

# ---- what everybody may know, without the token
memo_is_there() { flux jobs -n -o '{user.mcast.vnis[0]}' "$id" 2>/dev/null | grep -q '^1024$'; }
until_it "the memo is published" memo_is_there
token=$(sed -n 's/.*TOKEN=//p' <<<"$told")
! flux job eventlog "$id" | grep -qF "$token" || fail "the token is in the job's eventlog"
! flux dmesg | grep -qF "$token" || fail "the token is in Flux's log"
flux job info "$id" mcast | grep -qF "$token" || fail "the owner cannot read the reservation"

# ---- wishes
told=$(env_of -N1 -o mcast.vnis=2)
! grep -q TOKEN <<<"$told" || fail "a job on one node has multicast addresses"
id=$(flux job id --to=f58plain "$(last_job)")
flux job info "$id" mcast | grep -qE '"vnis": ?\[[0-9]+, ?[0-9]+\]' || fail "two VNIs were asked for"
[ -z "$(env_of -N2 -o mcast=off)" ] || fail "mcast=off has an environment"
[ -z "$(FI_CXI_COLL_JOB_ID=elcap-old FI_CXI_COLL_MCAST_TOKEN=t SLINGSHOT_VNIS=9 env_of -N2 -o mcast=off)" ] ||
    fail "what an outer job left in the environment is not unset"

# ---- refusals: our sentence, no node drained, the prolog's number not shown as well
refused() { # refused WORDS OPTIONS…
    local words=$1 said
    shift
    ! said=$(flux run "$@" true 2>&1) || fail "'$*' is not refused"
    [[ $said == *"type=mcast severity=0 "*"$words"* ]] || fail "'$*' is refused so: $said"
    [[ $said != *"prolog exited"* ]] || fail "'$*' has a second exception: $said"
}
refused "-o mcast.vnis is a number from 0 to 4" -N1 -o mcast.vnis=7
refused "the job has 1 node, hardware collectives need at least 2" -N1 -o mcast.hwcoll=required
refused "-o mcast.hwcol is none of vnis, shared, hwcoll, tc, single-node and profile" -N1 -o mcast.hwcol=on
[ -z "$(flux resource drain -n -o '{ranks}')" ] || fail "a refusal drains nodes"

# ---- an instance without hooks, as users start on a login node: its jobs run, and are told of nothing
cat >"$dir/private" <<'SH'
#!/bin/sh
flux run sh -c 'env | grep -cE "^(FI_CXI|SLINGSHOT)_"'
SH
chmod +x "$dir/private"
said=$(env -u FLUX_URI flux start "$dir/private" 2>&1 || true)
[[ $said == 0* && $said != *FATAL* ]] || fail "a job of an instance without hooks: $said"

! said=$(env -u FLUX_URI flux start flux run -o mcast.hwcoll=required true 2>&1) || fail "a job runs without what it requires"
[[ $said == *"required but not available: this Flux did not ask mcastd"* ]] || fail "a job of an instance without hooks is told: $said"

# ---- both spellings of an id
FLUX_F58_FORCE_ASCII=1 flux run -N2 true
expect_clean
[ "$(mcastctl events | grep -c ' released ')" = "$(mcastctl events | grep -c ' reserved ')" ] ||
    fail "not every job was released once: $(mcastctl events)"
