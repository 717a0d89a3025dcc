# SPDX-License-Identifier: Apache-2.0
# A job that is cancelled in every phase of its life leaves nothing (F18, F20): before it runs, while
# mcastd is silent, while its nodes are prepared, while it runs, and in its epilog.
# shellcheck shell=bash
. "$(dirname "$0")/fixture.sh"
prepare
cat >"$dir/onrank" <<'SH'
#!/bin/sh
# What the ranks do takes as long as a test wants: until the file it names is gone.
touch "$1.reached.$(flux getattr rank)"
while [ -e "$1" ]; do sleep 0.05; done
SH
chmod +x "$dir/onrank"
flux_conf "\"$hooks/prolog\", \"--\", \"$dir/onrank\", \"$dir/slow-prolog\"" \
    "\"$hooks/epilog\", \"--\", \"$dir/onrank\", \"$dir/slow-epilog\""
start_flux 2

ends() { flux job wait-event --quiet --timeout=180 "$1" clean >/dev/null || fail "$1 does not end: $(flux job eventlog "$1")"; }
reached() { [ -e "$dir/$1.reached.0" ] && [ -e "$dir/$1.reached.1" ]; }
has_reservation() { mcastctl show "$(flux job id --to=f58plain "$1")" >/dev/null 2>&1; }
has() { flux job eventlog "$1" | grep -q " $2"; }

# ---- pending: neither prolog nor epilog runs, so nothing may have been reserved
blocker=$(flux submit -N2 --exclusive sleep inf)
flux job wait-event --quiet "$blocker" start >/dev/null
pending=$(flux submit -N2 --exclusive true)
flux cancel "$pending"
ends "$pending"
! has "$pending" prolog-start || fail "a pending job has a prolog"
! has_reservation "$pending" || fail "a pending job had a reservation"

# ---- running
flux cancel "$blocker"
ends "$blocker"
expect_clean

# ---- while mcastd is silent: the request may be acted on after the release. The job need not wait.
kill -STOP "$broker"
silent=$(flux submit -N2 true)
flux job wait-event --quiet "$silent" prolog-start >/dev/null
flux cancel "$silent"
ends "$silent"
kill -CONT "$broker"
expect_clean

# ---- while the nodes are prepared: what runs there ends first, and the job has been granted
touch "$dir/slow-prolog"
rm -f "$dir"/slow-prolog.reached.*
preparing=$(flux submit -N2 true)
until_it "both ranks are being prepared" reached slow-prolog
until_it "it has its reservation" has_reservation "$preparing"
flux cancel "$preparing"
ends "$preparing"
rm "$dir/slow-prolog"
! has "$preparing" "start " || fail "a cancelled job was started"
[ -z "$(flux resource drain -n -o '{ranks}')" ] || fail "a cancelled prolog drains nodes"
expect_clean

# ---- in its epilog
touch "$dir/slow-epilog"
ending=$(flux submit -N2 true)
until_it "the epilog is on both ranks" reached slow-epilog
flux cancel "$ending" 2>/dev/null || true
rm "$dir/slow-epilog"
ends "$ending"
expect_clean
