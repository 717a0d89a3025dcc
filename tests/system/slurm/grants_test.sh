#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What Prolog puts down for a job's tasks, without a Slurm: the owner can read it, and neither he nor
# what runs as him can write to it, as it lies in root's memory (B8).
# usage: grants_test.sh HOOKS MCAST-NODE, the folder deploy/slurm and the program
set -eu
hooks=$1 program=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
fail() {
    printf 'grants_test.sh: %s\n' "$*" >&2
    exit 1
}

# Where this is not root, the job is its own, as in a Slurm whose slurmd is not root.
owner=$(id -u)
[ "$owner" != 0 ] || owner=5588
as_owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid "$owner" --regid "$owner" --clear-groups -- "$@"
    else
        "$@"
    fi
}

for hook in site.sh job.sh prolog taskprolog; do
    sed "s,@hooks@,$dir,g; s,@bindir@,$dir/bin,g; s,@sysconfdir@,$dir/etc,g" "$hooks/$hook.in" >"$dir/$hook"
done
mkdir "$dir/bin" "$dir/etc"
cat >"$dir/bin/mcast-node" <<SH
#!/bin/sh
case \$1 in
prolog) exit 0 ;;
env) printf 'SLINGSHOT_VNIS=1024\\0SLINGSHOT_DEVICES=cxi0\\0' ;;
share) exec "$program" "\$@" --config "$dir/etc/node.conf" ;;
*) exit 1 ;;
esac
SH
: >"$dir/etc/node.conf"
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/scontrol"
printf '#!/bin/sh\nexit 0\n' >"$dir/bin/squeue"
printf '#!/bin/sh\necho "$@" >>%s/cancelled\n' "$dir" >"$dir/bin/scancel"
grant=$dir/grants/n1.7

# prolog MCASTCTL: Prolog of job 7, with a mcastctl that does this
prolog() {
    printf '#!/bin/sh\n%s\n' "$1" >"$dir/bin/mcastctl"
    chmod 755 "$dir/bin"/*
    env -i MCAST_GRANTS="$dir/grants" MCAST_PATIENCE=60 SLURM_CLUSTER_NAME=elcap SLURM_JOB_ID=7 \
        SLURM_JOB_UID="$owner" SLURM_JOB_GID="$owner" SLURMD_NODENAME=n1 SLURM_NODELIST="${nodes:-n1}" \
        SLURM_JOB_CPUS_PER_NODE=8 ${leader:+SLURM_HET_JOB_ID="$leader"} /bin/sh "$dir/prolog" 2>"$dir/said" ||
        fail "Prolog fails: $(cat "$dir/said")"
}

prolog 'printf "FI_CXI_COLL_JOB_ID=elcap-7\nFI_CXI_COLL_MCAST_TOKEN=tok en\nLD_PRELOAD=/tmp/x.so\n"'
wanted='SLINGSHOT_VNIS=1024
SLINGSHOT_DEVICES=cxi0
FI_CXI_COLL_JOB_ID=elcap-7
FI_CXI_COLL_MCAST_TOKEN=tok en'
[ "$(as_owner tr '\0' '\n' <"$grant")" = "$wanted" ] || fail "it holds $(tr '\0' '\n' <"$grant")"
as_owner cat "$grant" >/dev/null || fail "the owner cannot read it"
if [ "$(id -u)" = 0 ]; then
    [ "$(stat -c %u "$grant")" = 0 ] || fail "it belongs to uid $(stat -c %u "$grant")"
    # shellcheck disable=SC2016 # it is the inner shell's
    as_owner sh -c ': >>"$1"' sh "$grant" 2>/dev/null && fail "the owner can write to it"
    # shellcheck disable=SC2016 # it is the inner shell's
    as_owner sh -c ': >"$1/more"' sh "$dir/grants" 2>/dev/null && fail "the owner can add files"
    setpriv --reuid 5589 --regid "$owner" --clear-groups -- cat "$grant" >/dev/null 2>&1 &&
        fail "another user of his group can read it"
fi
# A TaskProlog is the owner's.
as_owner env -i MCAST_GRANTS="$dir/grants" SLURM_JOB_ID=7 SLURMD_NODENAME=n1 SLURM_STEP_ID=0 \
    /bin/sh "$dir/taskprolog" >"$dir/printed"
grep -qx 'export SLINGSHOT_VNIS=1024' "$dir/printed" || fail "taskprolog: $(cat "$dir/printed")"
grep -qx 'export FI_CXI_COLL_MCAST_TOKEN=tok en' "$dir/printed" || fail "taskprolog: $(cat "$dir/printed")"

# What runs as the owner is his: it writes as much as it likes, to no file of ours.
# shellcheck disable=SC2016 # it is the inner shell's
prolog 'case $(readlink /proc/self/fd/1) in pipe:*) ;; *) exit 9 ;; esac
case $(readlink /proc/self/fd/2) in pipe:*) ;; *) exit 9 ;; esac
head -c 3000000 /dev/zero | tr "\0" x
printf "\nFI_CXI_COLL_JOB_ID=elcap-7\n"'
[ "$(stat -c %s "$grant")" -lt 20000 ] || fail "the owner filled $(stat -c %s "$grant") bytes"
tr '\0' '\n' <"$grant" | grep -qx FI_CXI_COLL_JOB_ID=elcap-7 || fail "it holds $(tr '\0' '\n' <"$grant")"

# A job that is granted nothing more goes on, and the log says why, in printable words: they may be its
# owner's.
prolog 'echo "FI_CXI_COLL_JOB_ID=half"; printf "mcastctl: cannot \033reach mcastd\n" >&2; exit 4'
grep -qx 'job 7 goes without hardware collectives: mcastctl: cannot reach mcastd' "$dir/said" ||
    fail "Prolog says $(cat "$dir/said")"
! tr '\0' '\n' <"$grant" | grep -q FI_CXI || fail "it holds half an environment"

# On several nodes it does not begin, for the others' tasks may have been told: all nodes of a job have
# the variables, or none, and its owner is told (F16).
nodes="n[1-2]"
prolog 'printf "mcastctl: tls.crt cannot be read\n" >&2; exit 1'
[ "$(cat "$dir/cancelled")" = 7 ] || fail "the job runs"
grep -q 'job 7: mcastd: its tasks here would lack .*: tls.crt cannot be read (on n1)' "$dir/said" ||
    fail "Prolog says $(cat "$dir/said")"
prolog 'echo "mcastctl: you have no reservation of job 7" >&2; exit 3' # nor on any other node
grep -q '^job 7 goes without hardware collectives: ' "$dir/said" || fail "Prolog says $(cat "$dir/said")"
[ "$(cat "$dir/cancelled")" = 7 ] || fail "it is ended"
nodes=

# A component's tasks know the leader's id: they are given what this start has, and not what an earlier
# one had whose Epilog has not run here.
leader=6
prolog 'echo FI_CXI_COLL_MCAST_TOKEN=first'
prolog 'echo FI_CXI_COLL_MCAST_TOKEN=second'
tr '\0' '\n' <"$dir/grants/n1.6" | grep -qx FI_CXI_COLL_MCAST_TOKEN=second ||
    fail "by its leader's id a component has $(tr '\0' '\n' <"$dir/grants/n1.6")"
