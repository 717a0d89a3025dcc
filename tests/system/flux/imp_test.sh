#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A Flux of several users: its owner is not root, another one submits, and flux-imp runs as root what the
# nodes need (F2, F7, F10, F14, F23), by the scripts and by the plugin; of each line of configuration that
# this takes: what happens without it, and that check says so. As root, with a MUNGE and a mount namespace of
# its own: flux-imp believes what lies where it was built to look, and nothing else.
# shellcheck source=tests/system/flux/nodes.sh
imp=${FLUX_PREFIX:-/none}/libexec/flux/flux-imp
skip() {
    echo "skipped: $*"
    exit 77
}
[ -x "$imp" ] || skip "there is no flux-imp in FLUX_PREFIX; ./dev flux DIR --security DIR runs it"
[ "$(id -u)" = 0 ] || skip "only root can be several users"
[ -x /usr/sbin/munged ] || skip "there is no munged"
[[ $(stat -f -c %T /sys/fs/cgroup) =~ ^(cgroup2fs|tmpfs)$ ]] || skip "flux-imp finds no cgroups at /sys/fs/cgroup"
if [ -z "${mcast_mounts_alone:-}" ]; then
    unshare --mount true 2>/dev/null || skip "no mount namespace can be made"
    mcast_mounts_alone=yes exec unshare --mount --propagation private bash "$0" "$@"
fi
owner=daemon guest=nobody
users=$owner
. "$(dirname "$0")/nodes.sh"
unset FLUX_RC_EXTRA FLUX_SHELL_RC_PATH # our pieces lie in Flux's own folders here
chmod 755 "$dir"
chown $owner "$dir/run"
runuser -u $owner -- test -x "$hooks/prolog" || skip "$owner cannot reach $hooks"
as_owner() { env -C / runuser -u $owner -- "$@"; }
as_guest() { env -C / runuser -u $guest -- "$@"; }

# ---- flux-imp, and the pieces as the README has them copied
confdir=$(flux config builtin confdir)
mkdir "$dir/confdir"
cp -a "$confdir/." "$etc/." "$dir/confdir/"
mount --bind "$dir/confdir" "$confdir"
install -m 4755 "$imp" "$dir/flux-imp"
mount --bind "$dir/flux-imp" "$imp"
mkdir -p "$confdir/imp/conf.d" "$confdir/security/conf.d"
for hook in prolog epilog housekeeping; do
    cat >"$confdir/system/run-$hook" <<CONF
#!/bin/sh
# What flux-run-$hook has systemd do; and nodes of this host have NICs.
export PATH=$dir/bin:$FLUX_PREFIX/bin:\$PATH
exec $FLUX_PREFIX/libexec/flux/flux-run-system-scripts $hook
CONF
    chmod 755 "$confdir/system/run-$hook"
done
imp_conf() {
    local hook
    printf '[exec]\nallowed-users = ["%s"]\nallowed-shells = ["%s"]\n' $owner "$FLUX_PREFIX/libexec/flux/flux-shell"
    for hook in prolog epilog housekeeping; do
        printf '[run.%s]\nallowed-users = ["%s"]\n' $hook $owner
        printf 'allowed-environment = ["FLUX_URI", "FLUX_MCAST_*"]\npath = "%s"\n' "$confdir/system/run-$hook"
    done
}
imp_conf >"$confdir/imp/conf.d/imp.toml"
cat >"$confdir/security/conf.d/sign.toml" <<CONF
[sign]
max-ttl = 1209600
default-type = "munge"
allowed-types = [ "munge" ]
munge.socket-path = "$dir/munge/socket"
CONF
start_munged
# mcastd's user, as its unit has it, is a guest of this Flux.
# shellcheck disable=SC2016 # that shell expands it
printf '#!/bin/sh\n[ "$3" != User ] || echo %s\n' $guest >"$dir/bin/systemctl"
chmod 755 "$dir/bin/systemctl"

# system_conf PLUGINS: for a site's system/conf.d; what runs is appended
system_conf() {
    cat >"$dir/etc/flux.toml" <<CONF
[exec]
imp = "$imp"
[access]
allow-guest-user = true
allow-root-owner = true
[job-manager]
plugins = [$1]
[job-manager.housekeeping]
CONF
    cat >>"$dir/etc/flux.toml"
}
start() {
    start_flux 2
    local socket=${FLUX_URI#local://}
    chmod 755 "${socket%/*}" # as that of a system's instance is
}

# What an instance does for a guest, whichever way it reserves.
serves_guests() {
    local said id
    said=$(as_owner "$hooks/check") || fail "check finds: $said"
    said=$("$hooks/check") || fail "check, run by root, finds: $said"
    grep -q "^ok  *list_command " <<<"$said" || fail "a guest's list_command does not do: $said"
    as_guest flux run -N2 -n2 env >"$dir/out/env"
    [ "$(grep -c '^FI_CXI_COLL_MCAST_TOKEN=.' "$dir/out/env")" = 2 ] || fail "a guest's tasks have no token"
    grep -qx 'SLINGSHOT_DEVICES=cxi0,cxi1,cxi2,cxi3' "$dir/out/env" || fail "node 0 has no services"
    grep -qx 'SLINGSHOT_DEVICES=cxi0,cxi1' "$dir/out/env" || fail "node 1 has no services"
    until_it "what was made by root is gone" services_are 0 0
    id=$(as_guest flux submit -N2 -n2 sleep inf)
    flux job wait-event --quiet "$id" start >/dev/null
    services_are 4 2 || fail "a running job has $(services 0) and $(services 1) services"
    as_guest flux job info "$id" mcast >"$dir/out/grant" || fail "a job's owner cannot read its reservation"
    ! said=$(runuser -u games -- flux job info "$id" mcast 2>&1) || fail "another user can read it"
    mcastctl show --json "$(flux job id --to=f58plain "$id")" | grep -q "\"uid\": *$(id -u $guest)\b" || fail "it is not the guest's"
    as_guest flux cancel "$id"
    flux job wait-event --quiet "$id" clean >/dev/null
    until_it "what was made by root is gone" services_are 0 0
    said=$(as_guest flux run -N1 -o mcast.hwcoll=required true 2>&1) && fail "what cannot be had is not refused"
    [[ $said == *"type=mcast"*"the job has 1 node"* ]] || fail "a guest is told: $said"
    as_guest flux run -o mcast=off true || fail "a job that wants nothing fails"
    expect_clean
}

# lacks FILE SED WORDS-OF-CHECK [WORDS-FOR-THE-GUEST]: that is changed, and then as it was
lacks() {
    local said before
    before=$(cat "$1")
    sed -i "$2" "$1"
    as_owner flux config reload
    ! said=$(as_owner "$hooks/check") || fail "check finds nothing wrong after $2"
    grep -qF -- "$3" <<<"$said" || fail "check does not say '$3' after $2: $said"
    [ "$(grep -c ^MISSING <<<"$said")" = 1 ] || fail "check says more after $2: $said"
    if [ -n "${4:-}" ]; then
        said=$(as_guest flux run -N2 true 2>&1) && fail "a job runs after $2"
        [[ $said == *"$4"* ]] || fail "a guest is told after $2: $said"
        expect_clean
    fi
    printf '%s\n' "$before" >"$1"
    as_owner flux config reload
}

hold=reports
prepare
system_conf '{ load = "perilog.so" }' <<CONF
[job-manager.prolog]
command = ["$hooks/prolog", "--", "$imp", "run", "prolog"]
[job-manager.epilog]
command = ["$hooks/epilog", "--", "$imp", "run", "epilog"]
CONF
start
serves_guests
# A node that fails tells the guest why, also where its words are in a journal.
cp "$confdir/system/run-prolog" "$dir/run-prolog"
sed -i 's/^exec .*/& 2>\/dev\/null/' "$confdir/system/run-prolog"
nics 1 0
said=$(as_guest flux run -N2 true 2>&1) && fail "a job runs on a node without NICs"
[[ $said == *"its nodes could not be prepared: mcast-node: the node has 0 NICs"* ]] || fail "a guest is told: $said"
cp "$dir/run-prolog" "$confdir/system/run-prolog"
nics 1 2
expect_clean
until_it "what was half made is undone" services_are 0 0

run=$confdir/imp/conf.d/imp.toml
lacks "$dir/etc/flux.toml" /allow-root-owner/d "allow-root-owner = true" "root is to be an owner"
lacks "$dir/etc/flux.toml" /allow-guest-user/d "allow-guest-user = true"
lacks "$dir/etc/flux.toml" /job-manager.housekeeping/d "[job-manager.housekeeping]"
lacks "$run" '/run.prolog/,/path/s/allowed-users.*/allowed-users = ["root"]/' 'allowed-users = [ "daemon" ]' "permission denied"
lacks "$run" '/run.prolog/,/path/s/"FLUX_MCAST_\*"/"FLUX_JOB_*"/' "not FLUX_MCAST_PUBLISHED"
lacks "$run" '/run.housekeeping/,/path/s/"FLUX_URI", //' "not FLUX_URI"
lacks "$run" '/run.prolog/,/path/d' "[run.prolog] of $confdir/imp/conf.d has no path" "no configuration found"
lacks "$run" '/run.epilog/,/path/d' "[run.epilog] of $confdir/imp/conf.d has no path"
install -m 755 /bin/true "$confdir/system/prolog"
lacks "$run" '' "what is in prolog.d is not run" "the environment of the job is not available"
rm "$confdir/system/prolog"
chmod 755 "$dir/flux-imp"
lacks "$run" '' "which is not setuid root"
chmod 4755 "$dir/flux-imp"
as_guest flux run -N2 true || fail "all is as it was, and a job fails"
expect_clean

# ---- the job manager's plugin, and Flux's own prolog on each rank
plugin=$build/lib/flux/mcast.so
[ -e "$plugin" ] || skip "the job manager's plugin was not built, so not tried with flux-imp"
stop_flux
system_conf "{ load = \"perilog.so\" }, { load = \"$plugin\", conf = { cluster = \"elcap\" } }" <<CONF
[job-manager.prolog]
per-rank = true
[job-manager.epilog]
per-rank = true
CONF
start
! said=$(as_owner "$hooks/check") || fail "check does not miss FLUX_MCAST_PUBLISHED"
[[ $said == *"Environment=FLUX_MCAST_PUBLISHED=plugin"* ]] || fail "check says: $said"
stop_flux
export FLUX_MCAST_PUBLISHED=plugin
sed -i '/^\[resource\]/,$d' "$dir/etc/flux.toml" # start_flux adds it
start
serves_guests
# A node that is at fault tells the guest, and is drained, by root's hook.
nics 1 0
said=$(as_guest flux run -N2 true 2>&1) && fail "a job runs on a node without NICs"
[[ $said == *"type=mcast severity=0 the node has 0 NICs"*"which is drained now: submit the job again"* ]] || fail "a guest is told: $said"
[[ $(as_owner flux resource drain -n -o '{ranks} {reason}') == "1 mcast: the node has 0 NICs"* ]] || fail "drained is: $(as_owner flux resource drain)"
nics 1 2
as_owner flux resource undrain 1
expect_clean
until_it "what was half made is undone" services_are 0 0
said=$(as_owner "$hooks/check")
for line in "^(ok|note) +launch " "^ok +nodes' reports +the plugin tells"; do
    grep -qE "$line" <<<"$said" || fail "check does not say '$line': $said"
done
! as_guest "$hooks/tell" elcap "$(as_guest flux job last)" 1 n0 2>"$dir/out/err" || fail "a guest can tell that a node is clean"
grep -q "owner" "$dir/out/err" || fail "a guest is told: $(cat "$dir/out/err")"
grep -q 'services destroyed, by a sum; 2 of 2 are clean' "$dir/mcastd.log" || fail "no sum was made: $(cat "$dir/flux.log")"

# ---- the same without a restart of Flux, which the variable in its environment needs (docs/from-cray-slingshot.md)
stop_flux
unset FLUX_MCAST_PUBLISHED
system_conf "{ load = \"perilog.so\" }, { load = \"$plugin\", conf = { cluster = \"elcap\" } }" <<CONF
[job-manager.prolog]
per-rank = true
command = ["/usr/bin/env", "FLUX_MCAST_PUBLISHED=plugin", "$imp", "run", "prolog"]
[job-manager.epilog]
per-rank = true
CONF
start
serves_guests
