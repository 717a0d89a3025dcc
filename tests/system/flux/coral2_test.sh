# SPDX-License-Identifier: Apache-2.0
# A site that had flux-coral2's cray-slingshot: its options are taken at the top and in instances, its table is
# explained, and it changes over to mcastd and back while jobs run, on one node with NICs of mock-cxi: no VNI
# is ever two jobs' (F1, F2, F3, F6, I1).
#
#   coral2_test.sh BUILD     the change needs what coral2.sh has built in BUILD, else it is skipped
# shellcheck shell=bash
nodes=1
. "$(dirname "$0")/nodes.sh"
plugin=$build/lib/flux/mcast.so
[ -e "$plugin" ] || skip "the plugin was not built (PKG_CONFIG_PATH=$FLUX_PREFIX/lib/pkgconfig)"
prepare
started() { flux job wait-event -q -t 60 "$1" start || fail "it does not start: $(flux job eventlog "$1")"; }
ended() { flux cancel "$1" && flux job wait-event -q -t 60 "$1" clean; }

echo "# its options, at the top and in an instance"
cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "$plugin", conf = { cluster = "elcap" } }]
CONF
start_flux 2
said_of() { "$@" 2>&1 || true; }
words='cray-slingshot.vnicount=N is mcast.vnis=N'
said=$(said_of flux run -N2 -o cray-slingshot.vnicount=2 true)
[ "$(grep -c "$words" <<<"$said")" = 1 ] || fail "the user is not told once: $said"
flux job eventlog "$(flux job last)" | grep -q 'mcast status="reserved" .*vnis=\[[0-9]*,[0-9]*\]' || fail "it has not two VNIs"
said=$(said_of flux run -o cray-slingshot=off true)
[[ $said == *"-o cray-slingshot=off is -o mcast=off"* ]] || fail "the user is told: $said"
flux job eventlog "$(flux job last)" | grep -q 'mcast status="off"' || fail "it is not off"
said=$("$build/libexec/flux/cmd/flux-mcast" explain "$(flux job last)")
[[ $said == *'none: the job was submitted with -o mcast=off'* ]] || fail "explain says: $said"
for wrong in 'cray-slingshot.vnicount=5' 'cray-slingshot.colour=1' 'cray-slingshot=on' 'cray-slingshot=off -o mcast.vnis=1'; do
    # shellcheck disable=SC2086 # words
    ! said=$(flux run -o $wrong true 2>&1) || fail "taken: $wrong"
    [[ $said == *"type=mcast severity=0"*"mcast.vnis=N"* ]] || fail "of $wrong is said: $said"
done

expect_clean
until_it "all VNIs are free" nothing_held
stop_flux

coral2=$build/flux-coral2
theirs=$coral2/src/job-manager/plugins/.libs/cray-slingshot.so
[ -e "$theirs" ] || skip "the change from flux-coral2, which coral2.sh builds (./dev flux DIR --coral2 DIR); its options passed"

kill_broker
sed -i 's/^hold = .*/hold = reports/' "$dir/mcastd.conf"
start_broker

echo 'missed_every = 100ms' >>"$dir/node0.conf"

# Both packages are on the node, as at a site that keeps flux-coral2 for its other parts.
export FLUX_MCAST_PUBLISHED=plugin MOCK_CXI=$dir/node0 LD_LIBRARY_PATH=$build/lib/mock-cxi
export FLUX_EXEC_PATH_PREPEND=$coral2/src/cmd
mkdir "$dir/first.d"
echo "plugin.load { file = \"$coral2/src/shell/plugins/.libs/cray-slingshot.so\", conf = {} }" >"$dir/first.d/coral2.lua"
export FLUX_SHELL_RC_PATH=$dir/first.d:$etc/shell/lua.d
for hook in prolog:alloc epilog:free housekeeping:cleanup; do
    printf '#!/bin/sh\n"%s/etc/slingshot-cxi-%s.sh" || exit 1\nexec "%s"\n' "$coral2" "${hook#*:}" \
        "$etc/system/${hook%:*}.d/mcast" >"$dir/${hook%:*}"
    chmod +x "$dir/${hook%:*}"
done
sed -i "2i while [ -e '$dir/keep-house' ]; do sleep 0.1; done" "$dir/housekeeping"
cat >"$dir/etc/flux.toml" <<CONF
[job-manager]
plugins = [{ load = "perilog.so" }, { load = "$theirs" }]
[job-manager.prolog]
command = ["$dir/prolog"]
per-rank = true
[job-manager.epilog]
command = ["$dir/epilog"]
per-rank = true
[job-manager.housekeeping]
command = ["$dir/housekeeping"]
[cray-slingshot]
cxi-enable = true
CONF
start_flux 1
configure() { flux config get | jq ".\"cray-slingshot\" = $1" | flux config load; }
of_theirs() { flux jobtap query cray-slingshot.so | jq -c "$1"; }
tasks() { # tasks JOB-OPTIONS…: what a job's task is told
    flux run -n1 "$@" sh -c 'env | grep ^SLINGSHOT_ | sort | paste -sd " "'
}
vnis_of() { sed -n 's/.*SLINGSHOT_VNIS=\([0-9,]*\).*/\1/p' <<<"$1"; }

echo "# before: jobs of cray-slingshot, one of them an instance"
touch "$dir/keep-house"
flux run -n1 true || fail "a job of cray-slingshot fails"
flux job wait-event -q -t 60 "$(flux job last)" clean
one=$(flux submit -n1 sleep inf) two=$(flux submit -n1 -o cray-slingshot.vnicount=2 sleep inf)
cat >"$dir/instance" <<'SH'
#!/bin/sh
flux getattr local-uri >"$1.new" && mv "$1.new" "$1"
exec sleep inf
SH
chmod +x "$dir/instance"
# As one that was started before our pieces were there: without its rc1.
instance=$(flux submit -n1 -c2 --env=-FLUX_RC_EXTRA flux start "$dir/instance" "$dir/old.uri")
started "$one" && started "$two" && started "$instance"
until_it "the instance is there" test -s "$dir/old.uri"
[ "$(of_theirs '[.vnipool.jobs[]] | sort')" = '[[1025],[1026,1027],[1028]]' ] || fail "it has: $(of_theirs .vnipool)"
[ "$(services 0)" = 12 ] || fail "it has made $(services 0) services"

checked() { # checked WORDS: what check says of it
    said=$("$hooks/check" || true)
    grep -qE "$1" <<<"$said" || fail "check does not say '$1': $said"
}
checked '^note +cray-slingshot +\[cray-slingshot\] cxi-enable = true$'
checked '^MISSING +VNIs +cray-slingshot.so gives 1024-65535, mcastd 1024-65535: 64512 in common'

echo "# it gives none any more, and mcastd keeps what its jobs have"
flux queue stop --quiet --all
configure '{"cxi-enable": true, "vnis-per-job": 0, "vni-reserve-fatal": false, "vni-pool": "1023"}'
checked '→ mcastd.conf: \[vni\] pool$'
checked '^ok +VNIs +cray-slingshot.so and mcastd have none in common'
# Whose job it is can write this into its eventlog.
flux job memo "$two" 'x= cray-slingshot vnis=[2000,2001] '
said=$("$hooks/cray-slingshot" keep) || fail "keep says: $said"
grep -q "^$(flux job id --to=f58plain "$two"): VNI 1026,1027 is kept" <<<"$said" || fail "keep says: $said"
explained=$("$build/libexec/flux/cmd/flux-mcast" explain "$two") || fail "explain fails"
[[ $explained == *'VNIs         1026, 1027'*"began with flux-coral2's cray-slingshot"* ]] || fail "its user is told: $explained"
[[ $said == *'VNI 1024 is kept until its nodes are clean'* ]] || fail "keep says: $said"
[[ $said == *$'\n4 jobs with VNIs of cray-slingshot' ]] || fail "keep says: $said"
"$hooks/cray-slingshot" keep >/dev/null || fail "it cannot be repeated"
flux jobtap load "$plugin" cluster=elcap
flux queue start --quiet --all

echo "# new jobs have mcastd's, and all that runs goes on"
said=$(tasks 2>/dev/null) || fail "a new job fails"
[[ $said == *'SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3 SLINGSHOT_SVC_IDS='[0-9]*,* && $said != *-1* ]] ||
    fail "a new job is told: $said"
[ "$(vnis_of "$said")" -gt 1028 ] || fail "a new job has $said"
said=$(tasks -o cray-slingshot.vnicount=2 2>/dev/null)
[[ $(vnis_of "$said") == *,* ]] || fail "a job with an option of cray-slingshot is told: $said"
new=$(flux submit -n1 sleep inf)
started "$new"
said=$(FLUX_URI=$(cat "$dir/old.uri") tasks 2>/dev/null)
[ "$(vnis_of "$said")" = 1028 ] || fail "a job of the old instance is told: $said"

echo "# options of both kinds within an instance, beside the shell plugin of cray-slingshot"
newer=$(flux submit -n1 -c2 flux start "$dir/instance" "$dir/new.uri")
until_it "the instance is there" test -s "$dir/new.uri"
inside() { FLUX_URI=$(cat "$dir/new.uri") tasks "$@" 2>&1; }
vni=$(vnis_of "$(inside)")
[ -n "$vni" ] || fail "a job within has no VNI"
[ "$(vnis_of "$(inside -o cray-slingshot.vnicount=1)")" = "$vni" ] || fail "a job within has not the one VNI"
for none in cray-slingshot.vnicount=0 mcast.vnis=0 mcast=off; do
    said=$(inside -o $none)
    [ -z "$(vnis_of "$said")" ] || fail "with $none a job within is told: $said"
done
! said=$(inside -o cray-slingshot.vnicount=2) || fail "a job within has more VNIs than there are"
[[ $said == *"the instance around this job has 1"* ]] || fail "a job within is told: $said"
! said=$(inside -o cray-slingshot=off -o mcast.vnis=1) || fail "options of both kinds are taken within"
[[ $said == *"are both given, leave out the latter"* ]] || fail "a job within is told: $said"
ended "$newer"

echo "# each VNI is free when its job has ended and the node is clean"
kept() { mcastctl list --output vnis --sort vnis | grep -cxE '1024|1025|1026,1027|1028'; }
[ "$(kept)" = 4 ] || fail "mcastd has: $(mcastctl list)"
rm "$dir/keep-house"
only() { [ "$(kept)" = "$1" ]; }
missed() { MOCK_RANK=0 command mcast-node tend && only 3; }
until_it "the node has told of the job that was over" missed
ended "$one"
until_it "the first job's is free" only 2
[ "$(of_theirs '[.vnipool.jobs[]] | sort')" = '[[1026,1027],[1028]]' ] || fail "it has: $(of_theirs .vnipool)"
ended "$two"
ended "$instance"
until_it "all of cray-slingshot's are free" only 0
[ "$(of_theirs .vnipool.jobs)" = '{}' ] || fail "it has: $(of_theirs .vnipool)"
services_are 4 || fail "$(services 0) services are there, and one job runs"

echo "# cray-slingshot goes"
configure '{"cxi-enable": false}'
flux jobtap remove cray-slingshot.so
said=$(tasks) || fail "a job without it fails"
[[ $said == *SLINGSHOT_VNIS=* ]] || fail "a job without it is told: $said"

echo "# the way back: cray-slingshot gives no VNI that a job of mcastd has or had on a node that is not clean"
running=$(flux submit -n1 -o mcast.vnis=2 sleep inf)
started "$running"
flux queue stop --quiet --all
flux jobtap remove mcast.so
flux jobtap load "$plugin" cluster=elcap release_only=true
had=$(mcastctl list --output vnis --sort vnis | grep '^[0-9]' | paste -sd ,)
said=$("$hooks/cray-slingshot" pool) || fail "pool says: $said"
pool=${said#vni-pool = }
configure "{\"cxi-enable\": true, \"vni-pool\": $pool}"
flux jobtap load "$theirs"
flux queue start --quiet --all
checked "^ok +VNIs +cray-slingshot.so gives none that mcastd's jobs have"
for _ in 1 2 3 4; do
    said=$(tasks) || fail "a job of cray-slingshot fails"
    [[ ",$had," != *",$(vnis_of "$said"),"* && -n $(vnis_of "$said") ]] || fail "it gives $said, and mcastd's jobs have $had"
    [[ $said == *'SLINGSHOT_SVC_IDS='[0-9]* ]] || fail "a job of cray-slingshot is told: $said"
done
ended "$new"
ended "$running"
all_free() { [ "$("$hooks/cray-slingshot" pool)" = 'vni-pool = "1024-65535"' ]; }
configure '{"cxi-enable": true}'
until_it "nothing of mcastd's is left, and cray-slingshot has its whole pool" all_free
nothing_held || fail "mcastd has: $(mcastctl list)"
services_are 0 || fail "$(services 0) services are left"
flux jobtap remove mcast.so
said=$(tasks) || fail "a job without mcastd fails"
[[ $said == *SLINGSHOT_VNIS=* ]] || fail "a job without mcastd is told: $said"
