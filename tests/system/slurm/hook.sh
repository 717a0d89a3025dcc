#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What slurm.conf of a test names as a hook, by a link of the hook's name in hooks/: runs that of
# slurm/, and waits before or after it while a file in hold/ says so (site.h).
PATH=/usr/bin:/bin
folder=${0%/hooks/*}
hook=${0##*/}

stay() {
    here=$hook.$SLURM_JOB_ID${SLURMD_NODENAME:+.$SLURMD_NODENAME}
    [ -e "$folder/hold/$hook.$1" ] || [ -e "$folder/hold/$hook.$1.$SLURM_JOB_ID" ] || return 0
    : >"$folder/reached/$1.$here"
    while [ -e "$folder/hold/$hook.$1" ] || [ -e "$folder/hold/$hook.$1.$SLURM_JOB_ID" ]; do
        sleep 0.1
    done
    : >"$folder/reached/$1.$here.on"
}

# When which job was given which VNIs, for overlap.h.
record() {
    MCAST_URL=$folder/mcastd.sock "$folder/bin/mcastctl" show --json --cluster elcap \
        "$SLURM_JOB_ID" | tr -d ' \n' |
        sed 's/.*"vnis":\[\([0-9,]*\)\].*"created":"\([^"]*\)".*/\2 '"$SLURM_JOB_ID"' \1\n/' \
            >>"$folder/reservations"
}

stay before
"$folder/slurm/$hook" 2>>"$folder/log/$hook.err"
status=$?
if [ "$hook$status" = prologslurmctld0 ]; then
    record
fi
stay after
exit $status
