#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What deploy/slurm/check says of a Slurm, without one: each line that is missing is named as it is to
# be written (F23). usage: check_test.sh HOOKS, the folder deploy/slurm
set -eu
source=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hooks=$dir/mcastd/slurm
mkdir -p "$hooks" "$dir/bin" "$dir/etc"
tab='	'

fill() { # FILE: as it is installed
    sed "s,@hooks@,$hooks,g; s,@bindir@,$dir/bin,g; s,@sysconfdir@,$dir/etc,g; s,@release@,1.2.3,g
        s,@plugin@,$dir/mcast_spank.so,g" "$source/$1.in" >"$hooks/$1"
}
program() { # NAME: its text is standard input
    { echo '#!/bin/sh' && cat; } >"$dir/bin/$1"
    chmod 755 "$dir/bin/$1"
}
# shellcheck disable=SC2016 # what programs write is for their shell to expand
refresh() { # a host on which all is well
    rm -rf "$dir/scripts"
    mkdir "$dir/scripts"
    fill check
    fill site.sh
    for hook in prologslurmctld epilogslurmctld prolog epilog taskprolog; do
        printf '#!/bin/sh\n' >"$hooks/$hook"
        chmod 755 "$hooks/$hook"
    done
    echo 'cat "${0%/bin/*}/shown"' | program scontrol
    echo 'echo "      --mcast=words"' | program srun
    echo 'exit 0' | program slurmd
    echo '[ "$*" = "is-active --quiet mcastd-slurm" ]' | program systemctl
    echo '[ "$1" = list ] || exit 3' | program mcast-node
    program mcastctl </dev/null
    echo 'echo ctl.site.org' | program uname
    echo MCAST_LAUNCH_USER=0 >"$dir/settings"
    echo "optional $dir/mcast_spank.so" >"$dir/plugstack.conf"
    echo '... of mcastd 1.2.3.' >"$dir/mcast_spank.so"
    cat >"$dir/shown" <<TEXT
Configuration data as of 2026-11-21T21:21:55
BOOT_TIME               = 2026-11-21T21:00:00
ClusterName             = elcap
Epilog[0]               = $hooks/epilog
EpilogSlurmctld         = $hooks/epilogslurmctld
HealthCheckProgram      = $hooks/healthcheck
PrivateData             = none
PrologFlags             = Alloc,Contain
Prolog[0]               = $hooks/prolog  
PrologEpilogTimeout     = 65534
PrologSlurmctld         = $hooks/prologslurmctld
SLURM_CONF              = $dir/slurm.conf
SlurmctldHost[0]        = ctl(10.0.0.1)
SlurmUser               = slurm(64030)
SwitchType              = switch/none
TaskProlog              = (null)
TaskPluginParam         = (null type)

Slurmctld(primary) at ctl is UP
TEXT
}
shows() { # KEY [VALUE]: as scontrol shows it; without a value, not at all
    sed -i "/^$1[ []/d" "$dir/shown"
    [ $# -eq 1 ] || printf '%-23s = %s\n' "$1" "$2" >>"$dir/shown"
}
check() { # OPTIONS: as mcastctl runs it
    sh "$hooks/check" --settings "$dir/settings" --node "$@" >"$dir/said" 2>"$dir/errors" ||
        fail "check ends with $?"
    [ ! -s "$dir/errors" ] || fail "check writes errors: $(cat "$dir/errors")"
}
fail() {
    printf 'check_test.sh: %s\n' "$*" >&2
    cat "$dir/said" >&2
    exit 1
}
# expect CHECK LEVEL FINDING [ADVICE]: one line of this check, of this level, with these words
expect() {
    line=$(grep -E "^(problem|warning|ok)$tab$1$tab" "$dir/said") || fail "says nothing of $1"
    case $line in
    "$2$tab$1$tab"*"$3"*"$tab"*"${4:-no advice is expected}"*) [ $# -eq 4 ] && return ;;
    "$2$tab$1$tab"*"$3"*"$tab"*) ;;
    "$2$tab$1$tab"*"$3"*) [ $# -eq 3 ] && return ;;
    esac
    fail "of $1 it says: $line, not: $*"
}
with() { # KEY=VALUE...: a host on which all is well but for what scontrol shows of these
    refresh
    for setting; do shows "${setting%%=*}" "${setting#*=}"; done
    check
}

refresh
check
! grep -E '^(problem|warning)' "$dir/said" || fail "all is well"
expect HealthCheckProgram ok "are ended"
expect hooks ok "$hooks: of mcastd 1.2.3"
expect ClusterName ok elcap
expect SwitchType ok "only mcastd"
expect plugstack ok "and --mcast"
expect launch ok "comes with the job (MCAST_LAUNCH=auto)"
if [ "$(id -u)" = 0 ]; then
    expect mcast-node ok "and the broker answers it"
else
    expect mcast-node ok "only root can see" "as root"
fi
for fact in "cluster${tab}elcap" "hooks$tab$hooks" "controller${tab}yes" "user${tab}slurm(64030)"; do
    grep -qxF "fact$tab$fact" "$dir/said" || fail "no fact $fact"
done

# Which way launch data takes.
refresh
echo MCAST_LAUNCH_USER=no_such_user >"$dir/settings"
check
expect launch warning "does not know the user no_such_user" "launch_user"
echo MCAST_LAUNCH=none >"$dir/settings"
check
expect launch ok "each node asks the broker"
echo MCAST_LAUNCH=Extra >"$dir/settings"
check
expect launch problem "MCAST_LAUNCH=Extra is none of" "correct it"
with "SchedulerParameters=bf_interval=1,extra_constraints"
echo MCAST_LAUNCH=extra >"$dir/settings"
check
expect launch problem "would be a constraint" "MCAST_LAUNCH=comment"
echo MCAST_LAUNCH_USER=0 >"$dir/settings" # auto takes the comment
check
expect launch ok "comes with the job (MCAST_LAUNCH=auto)"
expect launch ok "takes those of uid 0 alone"

# What becomes of a job that loses its addresses.
refresh
check
expect lost ok "is ended (MCAST_LOST=end)"
echo MCAST_LOST=notify >"$dir/settings"
check
expect lost ok "is told so in its AdminComment, and runs on"
echo MCAST_LOST=requeu >"$dir/settings"
check
expect lost problem "MCAST_LOST=requeu is none of end, requeue and notify" "correct it"
refresh
echo 'exit 3' | program systemctl
check
expect lost warning "runs on, with collectives that fail" "systemctl enable --now mcastd-slurm"
shows SlurmctldHost other
check
! grep -q "${tab}lost${tab}" "$dir/said" || fail "the service is for controllers"

# Nothing is there.
refresh
rm "$dir/plugstack.conf"
for key in PrologSlurmctld EpilogSlurmctld Prolog Epilog PrologFlags HealthCheckProgram; do shows $key; done
check
expect PrologSlurmctld problem "nothing is reserved" "slurm.conf: PrologSlurmctld=$hooks/prologslurmctld"
expect Epilog problem "stay on the nodes" "slurm.conf: Epilog=$hooks/epilog"
expect PrologFlags problem "without Alloc" "slurm.conf: PrologFlags=Alloc"
expect plugstack problem neither "$dir/plugstack.conf: optional $dir/mcast_spank.so"
expect HealthCheckProgram ok "never came" "/healthcheck HealthCheckInterval=300"

# A site has its own scripts, which call mcastd's, or are mcastd's in a folder of patterns.
refresh
printf '#!/bin/sh\n"%s/prolog" || exit 1\n' "$hooks" >"$dir/scripts/own"
printf '#!/bin/sh\nexit 0\n' >"$dir/scripts/other"
chmod 755 "$dir"/scripts/*
# shellcheck disable=SC2016 # it is the script's
echo 'exec $D/mcastd/slurm/epilogslurmctld' >"$dir/scripts/unable"
shows Prolog "$dir/scripts/ow*"
shows Epilog "$dir/scripts/other"
shows EpilogSlurmctld "$dir/scripts/unable"
shows PrologSlurmctld /nowhere/mcastd/slurm/prologslurmctld
check
expect Prolog ok 'ow*'
expect Epilog problem "does not call mcastd's" "/epilog || exit 1"
expect EpilogSlurmctld problem "cannot be run here" chmod
expect PrologSlurmctld problem "No such file" install

# What a script calls has to be there, too; a comment calls nothing, nor does a longer name.
printf '#!/bin/sh\nexec /nowhere/mcastd/slurm/prolog || exit 1\n' >"$dir/scripts/own"
printf '#!/bin/sh\n # /usr/libexec/mcastd/slurm/epilog\n/usr/libexec/mcastd/slurm/epilogslurmctld\n' \
    >"$dir/scripts/other"
check
expect Prolog problem "cannot be run here: /nowhere/mcastd/slurm/prolog: No such file" install
expect Epilog problem "does not call mcastd's" "/epilog || exit 1"

# Hooks that were copied, moved, or forgotten when mcastd was upgraded; and two folders of them.
refresh
mkdir -p "$dir/old/mcastd/slurm"
for hook in prolog epilog; do
    printf '#!/bin/sh\n' >"$dir/old/mcastd/slurm/$hook"
    chmod 755 "$dir/old/mcastd/slurm/$hook"
    shows "$(echo $hook | sed 's/./\U&/')" "$dir/old/mcastd/slurm/$hook"
done
shows PrologSlurmctld
shows EpilogSlurmctld
check
expect hooks problem "/site.sh is not there" "install mcastd here"
printf '# of mcastd 0.0.9 need\nPATH=%s:/usr/bin\n' "$dir/bin" >"$dir/old/mcastd/slurm/site.sh"
check
expect hooks warning "are of mcastd 0.0.9, mcastctl is of 1.2.3" "$hooks"
sed -i 's,^PATH=[^:]*,PATH=/nowhere/bin,' "$dir/old/mcastd/slurm/site.sh"
check
expect hooks problem "look for /nowhere/bin/mcastctl, which is not there" --prefix
shows Epilog "$hooks/epilog"
check
grep -qF "slurm.conf names some in $dir/old/mcastd/slurm, some in $hooks: two" "$dir/said" || fail "one folder"

# On a host where it does not run, a script of the site's may not be.
refresh
echo 'exit 1' | program slurmd
shows SlurmctldHost other
shows PrologSlurmctld /nowhere/ctld.sh
sh "$hooks/check" --settings "$dir/settings" >"$dir/said"
expect PrologSlurmctld warning "is not on this host" "grep mcastd/slurm/prologslurmctld /nowhere/ctld.sh"
expect Prolog ok "not looked at: it runs on nodes; --node"
! grep -q mcast-node "$dir/said" || fail "it is no node"

# Settings that break it.
with PrologFlags=Alloc,NoHold,X11 SwitchType=switch/hpe_slingshot PrologEpilogTimeout=30 \
    PrivateData=accounts,jobs ClusterName=El-Cap RequeueExit=100,0-2,142
expect PrologFlags problem NoHold "slurm.conf: PrologFlags=Alloc,X11"
expect SwitchType problem "VNIs as well" "slurm.conf: SwitchType=switch/none"
expect PrologEpilogTimeout problem "after 30 s" "slurm.conf: PrologEpilogTimeout=600"
expect PrivateData warning "their own jobs only" MCAST_SEES_ALL_JOBS=yes
expect ClusterName problem "'El-Cap'" MCAST_CLUSTER=NAME
expect RequeueExit warning "without end" RequeueExitHold=1
printf 'MCAST_SEES_ALL_JOBS=yes\nMCAST_RETRY_BUSY=10s\nMCAST_PATIENCE=20\nMCAST_CLUSTER=el\n' >"$dir/settings"
check
! grep -q PrivateData "$dir/said" || fail "mcastd sees all jobs"
expect PrologEpilogTimeout ok "the time they need"
expect ClusterName ok "El-Cap; mcastd knows it as el"
check --cluster el-cap
expect ClusterName problem "'el-cap'" MCAST_CLUSTER=NAME
with JobRequeue=0 RequeueExit=2-9
expect JobRequeue ok "end instead of being held" JobRequeue=1
! grep -q RequeueExit "$dir/said" || fail "1 is not in 2-9"
refresh
echo "ClusterName=elcap" >"$dir/slurm.conf"
check
expect slurmctld warning "a reconfigure is not enough" "restart slurmctld"
rm "$dir/slurm.conf"

# A Slurm that asks the fabric manager itself deletes what is mcastd's (B4).
url=vnis=1-2,fm_url=https://fmn:8000
with SwitchType=switch/hpe_slingshot SwitchParameters=$url
expect SwitchParameters problem "deletes those of running jobs" "no fm_url in SwitchParameters"
check --cluster elcap2
expect SwitchParameters problem "takes what begins with its name elcap" "no fm_url in SwitchParameters"
check --cluster other
expect SwitchParameters problem "once more" "no fm_url in SwitchParameters"
with SwitchParameters=$url
expect SwitchParameters warning "is ignored" "no fm_url in SwitchParameters"

# How tasks get their environment: plugstack.conf and what it includes, and TaskProlog.
refresh
mkdir -p "$dir/stack.d"
printf '# optional a.so\ninclude %s/stack.d/*\n' "$dir" >"$dir/plugstack.conf"
printf 'optional other.so\nOptional mcast_spank.so\n\trequired mcast_spank.so # mine' >"$dir/stack.d/x"
check
expect plugstack warning required "optional $dir/mcast_spank.so"
echo "include $dir/plugstack.conf" >"$dir/stack.d/x"
check # without end
expect plugstack problem neither "$dir/plugstack.conf: optional"
refresh
echo 'echo no such option' | program srun
check
expect plugstack problem "does not offer --mcast" "built with this Slurm's headers"
refresh
echo 'MCAST_GRANTS=/run/elsewhere' >"$dir/settings"
check
expect plugstack problem "looks in /run/mcast-slurm" "optional $dir/mcast_spank.so grants=/run/elsewhere"
echo "optional $dir/mcast_spank.so a=1 grants=/x grants=/run/elsewhere" >"$dir/plugstack.conf"
check
expect plugstack ok "and --mcast"
with "TaskProlog=$hooks/taskprolog"
expect TaskProlog warning hwcoll=off "no TaskProlog"
: >"$dir/plugstack.conf"
check
expect plugstack ok "--comment=mcast:"
refresh
mkdir -p "$dir/opt"
echo 'hooks of mcastd run; mcast_spank.so of mcastd 0.0.9.' >"$dir/opt/mcast_spank.so"
echo 'optional mcast_spank.so' >"$dir/plugstack.conf"
shows PluginDir "/nowhere:$dir/opt"
check
expect plugstack warning "$dir/opt/mcast_spank.so is of mcastd 0.0.9" "optional $dir/mcast_spank.so"

# slurm.conf itself, instead of what scontrol shows.
refresh
printf '%s\n' "# Prolog=/no" "ClusterName=fromfile SlurmctldHost=ctl(10.0.0.1)#Epilog=/no" \
    "$tab""SlurmctldHost=b" "Prolog=\"$hooks/prolog\" Epilog=$hooks/epilog" "PrologFlags=X11,\\" \
    "NodeName=n[1-2] \\" "   SwitchType=switch/hpe_slingshot" 'Nothing=' '=x a= b==c' 'A="x y' \
    "SlurmUser=last" >"$dir/own.conf"
check --conf "$dir/own.conf"
for fact in "cluster${tab}fromfile" "controller${tab}yes" "user${tab}last"; do
    grep -qxF "fact$tab$fact" "$dir/said" || fail "no fact $fact"
done
expect Prolog ok "$hooks/prolog"
expect SwitchType problem "VNIs as well" "switch/none"
expect EpilogSlurmctld problem "not set" EpilogSlurmctld=
check --conf "$dir/nowhere"
expect slurm.conf problem "$dir/nowhere cannot be read: No such file"
! grep -q ^fact "$dir/said" || fail "there is no configuration"
echo 'echo "slurm_load_ctl_conf error" >&2; exit 1' | program scontrol
check
expect slurm.conf problem "fails: slurm_load_ctl_conf error" "--conf FILE"
