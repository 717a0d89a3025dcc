#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install --prefix` lays down for Slurm works from where it then lies, whatever was
# configured: each hook finds what it sources and our programs, and mcastctl finds them all.
# usage: installed.sh CMAKE BUILD
set -eu
cmake=$1 build=$2
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/mcast-slurm-installed.XXXXXX")
trap 'rm -rf "$dir"' EXIT
fail() {
    echo "installed.sh: $*" >&2
    exit 1
}

install() { # install DESTDIR PREFIX
    DESTDIR=$1 "$cmake" --install "$build" --prefix "$2" >"$dir/install.log" 2>&1 || {
        cat "$dir/install.log" >&2
        fail "cmake --install fails"
    }
}

# A package is made in a folder that is none of the paths'.
install "$dir/package" /opt/mcast
install '' "$dir/usr"

hooks=$dir/usr/libexec/mcastd/slurm
(cd "$hooks" && find . | LC_ALL=C sort | tr '\n' ' ') >"$dir/found"
wanted='. ./README.md ./act-on-lost ./check ./check-plugin ./epilog ./epilogslurmctld ./follow.sh ./healthcheck ./job.sh ./jobs ./plugstack.conf ./prolog ./prologslurmctld ./site.sh ./taskprolog '
[ "$(cat "$dir/found")" = "$wanted" ] || fail "it installs $(cat "$dir/found")"
! grep -r '@[a-z]*@' "$hooks" || fail "an unfilled @name@ (above)"
grep -qx 'PATH=/opt/mcast/bin:.*' "$dir/package/opt/mcast/libexec/mcastd/slurm/site.sh" ||
    fail "DESTDIR is in the hooks, or the prefix is not"

for hook in act-on-lost prologslurmctld epilogslurmctld prolog epilog taskprolog healthcheck jobs check; do
    [ -x "$hooks/$hook" ] || fail "$hook cannot be run"
    sed -n 's/^\. "\(.*\)"$/\1/p' "$hooks/$hook" >"$dir/sourced"
    [ -s "$dir/sourced" ] || fail "$hook sources nothing"
    while read -r file; do
        [ "${file%/*}" = "$hooks" ] || fail "$hook sources $file"
        [ -r "$file" ] || fail "$hook sources $file, which is not there"
    done <"$dir/sourced"
done
for program in mcastctl mcast-node; do
    found=$(env -i /bin/sh -c ". '$hooks/site.sh' && command -v $program")
    [ "$found" = "$dir/usr/bin/$program" ] || fail "hooks take $program from ${found:-nowhere}"
done

# The words of a broker that is not there, and is not waited for, show that mcastctl was.
printf 'MCAST_URL=%s/none\nMCAST_PATIENCE=0\n' "$dir" >"$dir/settings"
env -i MCAST_SLURM_SETTINGS="$dir/settings" SLURM_CLUSTER_NAME=elcap SLURM_JOB_ID=7 \
    "$hooks/epilogslurmctld" 2>"$dir/said" && fail "epilogslurmctld released something"
grep -q "$dir/none" "$dir/said" || fail "epilogslurmctld said: $(cat "$dir/said")"

# A TaskProlog that is killed has printed nothing yet: slurmd writes it into its log (B8). It waits
# here for the end of what it reads.
mkdir "$dir/grants"
mkfifo "$dir/grants/n1.7"
printf 'MCAST_GRANTS=%s/grants\n' "$dir" >>"$dir/settings"
env -i MCAST_SLURM_SETTINGS="$dir/settings" SLURMD_NODENAME=n1 SLURM_JOB_ID=7 \
    "$hooks/taskprolog" >"$dir/said" &
# shellcheck disable=SC2016 # they are the inner shell's
timeout 60 sh -c 'exec 3>"$1" && kill "$2"' sh "$dir/grants/n1.7" $! ||
    fail "taskprolog does not read its grant: $(cat "$dir/said")"
wait $! || :
[ ! -s "$dir/said" ] || fail "taskprolog, killed, had said: $(cat "$dir/said")"

plugin=$(sed -n 's/^optional //p' "$hooks/plugstack.conf")
case $plugin in
"$dir"/usr/lib*/slurm/mcast_spank.so) ;;
*) fail "plugstack.conf names $plugin" ;;
esac

# It advises what was installed with it, and has nothing against that.
for hook in PrologSlurmctld EpilogSlurmctld Prolog; do
    echo "$hook=$hooks/$(echo $hook | tr '[:upper:]' '[:lower:]')"
done >"$dir/slurm.conf"
MCAST_URL=$dir/none "$dir/usr/bin/mcastctl" --json check slurm --node --conf "$dir/slurm.conf" \
    --settings "$dir/settings" >"$dir/said" 2>&1 && fail "there is no broker"
for words in "slurm.conf: Epilog=$hooks/epilog" "$hooks: of mcastd "; do
    grep -qF "$words" "$dir/said" || fail "check slurm does not say '$words': $(cat "$dir/said")"
done
if [ -e "$plugin" ]; then
    grep -qF "optional $plugin" "$dir/said" || fail "check slurm: $(cat "$dir/said")"
    grep -qaF "mcast_spank.so of mcastd " "$plugin" || fail "the plugin has no release"
fi
