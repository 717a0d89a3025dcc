#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What PrologSlurmctld makes of a job's size and wishes, without a Slurm: which options mcastctl gets
# (F2, F12). usage: wishes_test.sh HOOKS, the folder deploy/slurm
set -eu
hooks=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for hook in site.sh job.sh prologslurmctld; do
    sed "s,@hooks@,$dir,g; s,@bindir@,$dir/bin,g; s,@sysconfdir@,$dir/etc,g" "$hooks/$hook.in" >"$dir/$hook"
done
mkdir "$dir/bin"
cat >"$dir/bin/mcastctl" <<'SH'
#!/bin/sh
printf '%s\n' "$*" >"${0%/bin/*}/asked"
cat "${0%/bin/*}/document" 2>/dev/null || :
SH
cat >"$dir/bin/logger" <<'SH'
#!/bin/sh
printf '%s\n' "$*" >>"${0%/bin/*}/logged"
SH
printf '#!/bin/sh\nexit 1\n' >"$dir/bin/scontrol"
cp "$dir/bin/scontrol" "$dir/bin/squeue"
chmod +x "$dir/bin/"*

# asks NODES WISHES OPTIONS: a job on so many nodes with these wishes is reserved with these options
asks() {
    rm -f "$dir/asked"
    env -i MCAST_LAUNCH="${launch:-none}" SLURM_JOB_RESTART_COUNT=2 alone=0 SLURM_CLUSTER_NAME=elcap SLURM_JOB_ID=7 SLURM_JOB_UID=5588 \
        SLURM_JOB_NODELIST="n[1-$1]" SLURM_JOB_NUM_NODES="$1" ${2:+SLURM_JOB_COMMENT="mcast:$2"} \
        /bin/sh "$dir/prologslurmctld"
    said=$(cat "$dir/asked")
    wanted="reserve --anew --uid 5588 --nodes n[1-$1]$3 7"
    [ "$said" = "$wanted" ] || {
        printf '%s nodes, "%s": asked for\n%s\ninstead of\n%s\n' "$1" "$2" "$said" "$wanted" >&2
        exit 1
    }
}

asks 4 '' ''
launch=comment asks 4 '' ' --launch --restart 2'
# A document that finds no room: the hook succeeds, so Slurm keeps its words for itself.
printf 'MCASTM.%01100d\n' 0 >"$dir/document"
launch=comment asks 4 '' ' --launch --restart 2' 2>/dev/null
grep -q 'mcast-slurm -- job 7: its comment leaves no room for the launch document' "$dir/logged"
grep -q 'job 7: its launch document is not in comment; its nodes ask mcastd' "$dir/logged"
rm "$dir/document"
launch=
asks 1 '' ''
asks 1 single-node=off ' --vnis 0'
asks 1 single-node=on ' --vnis 1'
asks 1 vnis=2,single-node=on ' --vnis 1 --vnis 2'
asks 10 '' ''
asks 11 '' ''
asks 10 vnis=2 ' --vnis 2'
asks 2 single-node=off ''
asks 2 vnis=2,vni=1 ' --vnis 2'
asks 4 vnis=1,shared=daos:a.b_c-1 ' --vnis 1 --shared-vni daos,a.b_c-1'
asks 4 profile=large,vnis=2 ' --profile large --vnis 2'
asks 4 vnis=2,hwcoll=required,tc=bulk_data:low_latency ' --vnis 2 --hwcoll required --tc bulk_data,low_latency'

# refuses WISHES: nothing is reserved, and the job is not begun
refuses() {
    rm -f "$dir/asked"
    if env -i SLURM_CLUSTER_NAME=elcap SLURM_JOB_ID=7 SLURM_JOB_UID=5588 SLURM_JOB_NODELIST='n[1-4]' \
        SLURM_JOB_NUM_NODES=4 SPANK__SLURM_SPANK_OPTION_mcast_mcast="$1" \
        /bin/sh "$dir/prologslurmctld" 2>/dev/null || [ -e "$dir/asked" ]; then
        printf '"%s" is not refused\n' "$1" >&2
        exit 1
    fi
}

# What our plugin would not let through can come from another one, which a user has put in its place.
refuses 'res_txqs=2048 no_adjust_limits'
refuses "$(printf 'res_txqs=2048\rno_adjust_limits')"
refuses "$(printf 'vnis=1\nvnis=2')"
# shellcheck disable=SC2016 # nobody shall expand it
refuses 'vnis=$(id)'
refuses 'vnis'
refuses 'what=1'
refuses "$(printf '%0600d' 0 | tr 0 ,)"
