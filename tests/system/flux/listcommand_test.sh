# SPDX-License-Identifier: Apache-2.0
# check, run by root, runs list_command as mcastd's unit does: its user, its time zone, no more of its
# environment, and the command that mcastd.conf has (F9, F23). With a Flux in a folder of its own that only
# answers what check asks, so that it runs everywhere.
# shellcheck shell=bash
fake_flux=$(dirname "$(readlink -f "$0")")/fake
. "$(dirname "$0")/fixture.sh"
[ "$(id -u)" = 0 ] || skip "only root can be several users"
owner=daemon service=nobody
chmod 755 "$dir"
runuser -u $service -- test -x "$hooks/jobs" || skip "$service cannot reach $hooks"

state=$dir/flux
mkdir -p "$state/getattr" "$dir/prefix/bin" "$dir/bin" "$dir/conf.d"
echo 0.88.0 >"$state/getattr/version"
id -u $owner >"$state/getattr/security.owner"
echo "local://$state/rundir/local" >"$state/getattr/local-uri"
echo $$ >"$state/getattr/broker.pid"
printf 'fA1\nfB2\n' >"$state/jobs"
install -m 666 /dev/null "$state/calls"
# Two of them: the one that mcastd's PATH lacks is to be named.
printf '#!/bin/sh\nFAKE_FLUX=%s exec %s/flux "$@"\n' "$state" "$fake_flux" >"$dir/prefix/bin/flux"
TZ=Antarctica/Troll sleep inf &
others=$!
cat >"$dir/bin/systemctl" <<SH
#!/bin/sh
case "\$*" in
'show -P User mcastd.service') echo $service ;;
'show -P MainPID mcastd.service') echo $others ;;
esac
SH
chmod 755 "$dir/prefix/bin/flux" "$dir/bin/systemctl"
PATH=$dir/bin:$dir/prefix/bin:$PATH
wanted="$hooks/jobs $dir/prefix/bin/flux"

conf() { # conf LINE: what mcastd.conf has for this Flux
    printf '[cluster "other"]\nlist_command = /bin/false\n[ cluster "elcap" ]\nusers = daemon\n%s\n[vni]\n' "$1" >"$dir/mcastd.conf"
}
expect() { # expect WORDS [AS…]: what check says of list_command
    local words=$1
    shift
    install -m 666 /dev/null "$state/asked"
    said=$("$@" "$hooks/check" --config "$dir/mcastd.conf" 2>&1) || true
    said=$(grep -A 1 ' list_command ' <<<"$said") || fail "check does not tell of it: $said"
    [[ $said == *"$words"* ]] || fail "check does not say '$words': $said"
}
as_service="$service in /, TZ=Antarctica/Troll, FLUX_URI="

echo "# none in mcastd.conf, that of check, another one"
conf 'list_every = 1m'
expect "note     list_command            $dir/mcastd.conf has none for this cluster"
[[ $said == *"[cluster \"elcap\"] list_command = $wanted"* ]] || fail "it does not say what to write: $said"
conf "  list_command=$wanted"
expect "ok       list_command            $wanted"
[ "$(wc -l <<<"$said")" = 1 ] || fail "check says more: $said"
grep -qF "$as_service" "$state/asked" || fail "it was not run as mcastd runs it: $(cat "$state/asked")"
[ "$(grep -c "^$owner in .*FLUX_URI=," "$state/asked")" = 2 ] || fail "the owner was not asked: $(cat "$state/asked")"
conf "list_command = /bin/echo fA1"
expect "another one than is to be expected, /bin/echo fA1"
[[ $said == *"does not name job fB2, which runs"* ]] || fail "it was not judged: $said"
printf '[cluster "elcap"]\nlist_command = %s\n' "$wanted" >"$dir/conf.d/50-site.conf"
expect "ok       list_command            $wanted"
rm "$dir/conf.d/50-site.conf"

echo "# what fails for mcastd's user alone"
conf "list_command = $wanted"
echo fA1 >"$state/jobs-of-$service"
expect "does not name job fB2, which runs"
rm "$state/jobs-of-$service"
mkdir "$state/jobs-of-$service"
expect "run it as user $service: env -i"
rmdir "$state/jobs-of-$service"

echo "# by the owner himself"
expect "is run by $owner here, and by user $service for mcastd" runuser -u $owner --
[[ $said == *"ok       list_command "* ]] || fail "it was not run: $said"

echo "# what the owner has written is no command for root"
printf '%s' '{"vni-pool": "1024\nsh|-c|touch '"$dir/owned"'|y"}' >"$state/config-cray-slingshot"
said=$("$hooks/check" --config "$dir/mcastd.conf" 2>&1) || true
[[ $said == *'[cray-slingshot] vni-pool = "1024'* ]] || fail "check does not show the table: $said"
[ ! -e "$dir/owned" ] || fail "it was run"
