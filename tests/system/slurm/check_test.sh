#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What deploy/slurm/check says of a Slurm, without one: each line that is missing is named as it is to
# be written (F23). usage: check_test.sh HOOKS, the folder deploy/slurm
set -eu
source=$1
dir=$(mktemp -d)
chmod 755 "$dir" # for other users
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
    fill check-plugin
    fill site.sh
    for hook in prologslurmctld epilogslurmctld prolog epilog taskprolog; do
        printf '#!/bin/sh\n' >"$hooks/$hook"
        chmod 755 "$hooks/$hook"
    done
    echo 'cat "${0%/bin/*}/shown"' | program scontrol
    echo 'echo "      --mcast=words"' | program srun
    echo 'exit 0' | program slurmd
    echo 'case $1 in is-active) ;; show) echo slurm ;; esac' | program systemctl
    echo 'case $1 in list) ;; explain) echo a job gets all ;; *) exit 3 ;; esac' | program mcast-node
    echo 'exit 3' | program mcastctl
    echo 'echo n2; echo n1' | program sinfo
    echo 'echo ctl.site.org' | program uname
    # root asks as others: which one is in "user".
    printf '%s\n' "[ \"\$1\" = --reuid ] || exit 9; echo \"\$2\" >>$dir/users" \
        'while [ "$1" != -- ]; do shift; done; shift; exec "$@"' | program setpriv
    echo 'case $* in -u) echo 0 ;; -un) echo root ;; *" no"*) exit 1 ;; *) echo 64030 ;; esac' | program id
    echo MCAST_LAUNCH_USER=0 >"$dir/settings"
    echo "optional $dir/mcast_spank.so" >"$dir/plugstack.conf"
    echo '... of mcastd 1.2.3.' >"$dir/mcast_spank.so"
    cat >"$dir/shown" <<TEXT
Configuration data as of 2026-11-21T21:21:55
BOOT_TIME               = 2026-11-21T21:00:00
ClusterName             = elcap
Epilog[0]               = $hooks/epilog
EpilogSlurmctld         = $hooks/epilogslurmctld
HealthCheckInterval     = 300 sec
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
expect mcast-node ok "and the broker answers it"
expect SlurmUser ok "takes slurm for the resource manager of elcap"
! grep -q "${tab}owners$tab" "$dir/said" || fail "no owner asks the socket of a node"
sed -i 's/-u) echo 0/-u) echo 7/' "$dir/bin/id"
check
expect mcast-node ok "only root can see" "as root"
! grep -q "${tab}SlurmUser$tab" "$dir/said" || fail "only root can ask as SlurmUser"
for fact in "nodes${tab}n1,n2" "cluster${tab}elcap" "hooks$tab$hooks" "controller${tab}yes" "user${tab}slurm(64030)"; do
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

# The hooks' own steps, as those who do them (F23).
# shellcheck disable=SC2016 # what programs write is for their shell to expand
check_steps() {
    refresh
    echo 'MCAST_URL=https://mgmt1:7470 MCAST_CACERT=/etc/mcastd/tls.crt' >>"$dir/settings"
    : >"$dir/users"
    check
    expect owners ok "can ask the broker"
    [ "$(tr '\n' ' ' <"$dir/users")" = 'slurm 65534 ' ] || fail "it asks as $(cat "$dir/users")"
    echo 'echo "mcastctl: tls.crt cannot be read" >&2; [ "$3" != env ] || exit 4; exit 3' | program mcastctl
    check
    expect owners problem "cannot ask the broker from here: tls.crt cannot be read" "chmod 644 /etc/mcastd/tls.crt"
    echo 'echo "mcastctl: only its resource manager may" >&2; [ "$3" != launch ] || exit 1; exit 3' | program mcastctl
    check
    expect SlurmUser problem "as slurm is refused: only its resource manager may" 'users = slurm'
    expect owners ok "can ask"
    with "SlurmUser=none(99)"
    expect SlurmUser problem "no user none" "slurm.conf: SlurmUser"
    expect lost problem "mcastd-slurm runs as slurm, and Slurm's own user is none" "User=none"
    refresh
    echo 'case $1 in list) ;; explain) echo "the node has 0 NICs, and a job needs 1" ;; *) exit 3 ;; esac' |
        program mcast-node
    check
    expect mcast-node problem "the node has 0 NICs" "min_nics=0"
    echo 'case $1 in list | explain) ;; *) echo "mcast-node: cannot reach mcastd at https://wrong:1" >&2; exit 4 ;; esac' |
        program mcast-node
    check
    expect mcast-node problem "cannot reach mcastd at https://wrong:1" "node.conf: url"
}
check_steps

# Settings that no shell takes, or that end the hook.
refresh
echo 'MCAST_URL="https://mgmt1' >>"$dir/settings"
check
expect settings problem "no hook works" "sh -n $dir/settings"
! grep -q ^fact "$dir/said" || fail "nothing else can be found out"
echo 'exit 0' >"$dir/settings"
check
expect settings problem "ends them" "NAME=value"
echo 'MCAST_LAUNCH_USER=0; MCAST_UR L=x' >"$dir/settings"
check
expect settings warning "says on standard error" "correct it"
expect ClusterName ok elcap

# Where relayed jobs make their trees (B9).
front() { # PROXY
    http_proxy=$1 https_proxy=$1 no_proxy=$2 sh "$hooks/check" --settings "$dir/settings" --node --cluster elcap \
        --front https://m1:7471 --job-ca "$dir/ca.pem" >"$dir/said" 2>"$dir/errors" || fail "check ends with $?"
    [ ! -s "$dir/errors" ] || fail "check writes errors: $(cat "$dir/errors")"
}
refresh
front '' ''
expect trees problem "owners cannot read $dir/ca.pem" "chmod 644 $dir/ca.pem"
: >"$dir/ca.pem"
front '' ''
expect trees ok "make them through https://m1:7471"
front http://proxy:80 other,m1
! grep -q ^warning "$dir/said" || fail "m1 needs no proxy"
front http://proxy:80 other
grep -qF "no_proxy=other,m1" "$dir/said" || fail "libfabric would ask the proxy"
echo 'echo "mcastctl: cannot reach mcastd at https://m1:7471: refused" >&2; exit 4' | program mcastctl
front '' ''
expect trees problem "cannot make trees through https://m1:7471: cannot reach" "[front]"

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

# Slurm looks at the script's own exit status.
for line in '"%s/prolog"' '%s/prolog || true\nexit 0' '%s/prolog | logger' 'x() {\n%s/prolog\n}\nx'; do
    # shellcheck disable=SC2059 # it is one
    printf "#!/bin/sh\n$line\necho done\n" "$hooks" >"$dir/scripts/own"
    check
    expect Prolog problem "own does not end as mcastd's prolog did" "in $dir/scripts/own: $hooks/prolog || exit 1"
done
for line in 'set -eu\n%s/prolog\necho' '%s/prolog || exit 1\necho' 'echo\nexec %s/prolog' 'echo\n%s/prolog' \
    '%s/prolog\nexit $?' 'if ! %s/prolog; then\nexit 1\nfi' '%s/prolog || fail'; do
    # shellcheck disable=SC2059 # it is one
    printf "#!/bin/sh\n$line\n" "$hooks" >"$dir/scripts/own"
    check
    expect Prolog ok 'ow*'
done

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
expect hooks problem "/site.sh is not there" "install the package mcast-slurm here"
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
expect SwitchType problem "VNIs as well" "fm_url name the broker: docs/facade.md"
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
with "HealthCheckInterval=0 sec"
expect HealthCheckProgram problem "HealthCheckInterval is 0 sec, so Slurm never runs it" HealthCheckInterval=300
with JobRequeue=0 RequeueExit=2-9
expect JobRequeue warning "end instead of being held" JobRequeue=1
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

# A Slurm that keeps its own plugin, and has no hooks: its fm_url is the broker's (B9).
# shellcheck disable=SC2016 # what programs write is for their shell to expand
plugin() { # a host on which all is well; SwitchParameters beside those that are needed
    refresh
    for hook in PrologSlurmctld EpilogSlurmctld Prolog Epilog HealthCheckProgram; do shows $hook; done
    shows SwitchType switch/hpe_slingshot
    shows SwitchParameters "vnis=32768-65535,fm_url=https://broker:7471,hwcoll_num_nodes=64,$*"
    shows SlurmctldParameters enable_stepmgr
    rm -rf "$dir/login"
    mkdir "$dir/login"
    echo 0123456789abcdef >"$dir/login/passwd"
    chmod 600 "$dir/login/passwd"
    # It has to be given the login by its standard input.
    cat >"$dir/answer" <<'TEXT'
case $* in *0123456789abcdef*) exit 9 ;; *' --url '*://*) ;; *) exit 8 ;; esac # the last is no option
case $*,$(cat) in
*oauth2/token,*client_secret=0123456789abcdef*) printf '{"access_token": "opened"}\n200' ;;
*/fabric/collectives/jobs/,*'cxi:0123456789abcdef"'* | */fabric/collectives/jobs/,*'Bearer opened"'*) printf '{}\n200' ;;
*/fabric/collectives/jobs/,*) printf '{}\n401' ;;
esac
TEXT
    program curl <"$dir/answer"
    echo 'exit 1' | program pidof
    printf 'echo export FI_CXI_COLL_FABRIC_MGR_CACERT=%s/ca.pem\n' "$dir" >"$dir/scripts/task"
    : >"$dir/ca.pem"
    shows TaskProlog "$dir/scripts/task"
    : >"$dir/users"
}
check_plugin() {
    plugin fm_auth=BASIC,fm_authdir="$dir/login"
    check
    ! grep -E '^(problem|warning)' "$dir/said" || fail "all is well"
    for who in slurm root; do
        grep -qxF "ok${tab}login${tab}https://broker:7471 takes the login in $dir/login, read as $who" "$dir/said" ||
            fail "$who logs in"
    done
    expect TaskProlog ok "tasks verify https://broker:7471 with $dir/ca.pem"
    grep -q slurm "$dir/users" || fail "it asks as $(cat "$dir/users")"
    grep -qxF "fact${tab}plugin${tab}yes" "$dir/said" || fail "no fact plugin"
    grep -qF "fact${tab}parameters${tab}vnis=32768-65535,fm_url=" "$dir/said" || fail "no fact parameters"
    ! grep -E "^[a-z]+$tab(Prolog|plugstack|list_command)" "$dir/said" || fail "it has no hooks"
    ! grep -F 0123456789abcdef "$dir/said" || fail "it shows the password"
    echo fedcba9876543210 >"$dir/login/passwd"
    check
    expect login problem "refuses the login" 'plugin_login of [cluster "elcap"]'
    echo 0123456789abcdef >"$dir/login/passwd"
    chmod 644 "$dir/login/passwd"
    check
    grep -qF "others than its owner can read $dir/login/passwd" "$dir/said" || fail "the password is open"
    rm "$dir/login/passwd"
    check
    expect login problem "cannot read $dir/login/passwd" facade.md
    plugin fm_auth=BASIC,fm_authdir="$dir/login",fm_authdir_ctld=/nowhere
    check
    grep -qF "problem${tab}login${tab}slurm cannot read /nowhere/passwd" "$dir/said" || fail "slurmctld has a folder of its own"
    grep -qF "ok${tab}login$tab" "$dir/said" || fail "root has the other one"
    printf '%s\n' 'echo "curl: (7) Failed to connect"; echo; printf 000; exit 7' | program curl
    check
    expect TaskProlog problem "cannot ask https://broker:7471" tls_cert
    grep -qF "root cannot ask https://broker:7471: curl: (7) Failed" "$dir/said" || fail "it is not there"
    printf 'printf "{}\\n404"\n' | program curl
    check
    grep -qF "answers 404: that is not [front] listen" "$dir/said" || fail "another answers"
}
check_plugin
plugin fm_authdir="$dir/login" # OAuth2 when nothing is said
echo slurm >"$dir/login/client-id"
echo 0123456789abcdef >"$dir/login/client-secret"
echo https://broker:7471/oauth2/token >"$dir/login/endpoint"
chmod 600 "$dir/login"/*
check
! grep -E '^(problem|warning)' "$dir/said" || fail "all is well"
echo https://elsewhere/oauth2/token >"$dir/login/endpoint"
check
grep -qF "is https://elsewhere/oauth2/token, and not at the broker" "$dir/said" || fail "another endpoint"
echo -K/tmp/x://y >"$dir/login/endpoint" # SlurmUser may write it, and root's curl reads no file of his
check
grep -qF "is -K/tmp/x://y, and not at the broker" "$dir/said" || fail "an option for an endpoint"
plugin fm_auth=BASIC,fm_authdir="$dir/login"
printf '%s\n' 'a"b\c' >"$dir/login/passwd"
sed 's/0123456789abcdef"/a\\"b\\\\c"/' "$dir/answer" | program curl
check
! grep -E '^(problem|warning)' "$dir/said" || fail "a password with a quotation mark"
plugin fm_auth=BASIC,fm_authdir="$dir/login"
shows SlurmctldParameters other
shows PrologFlags Alloc
shows ClusterName El-cap
shows TaskProlog
check
expect SlurmctldParameters problem "without enable_stepmgr" SlurmctldParameters=enable_stepmgr
expect PrologFlags problem "without Contain" PrologFlags=Contain
expect ClusterName problem "'El-cap'" facade.md
expect TaskProlog warning "does not set FI_CXI_COLL_FABRIC_MGR_CACERT" "echo export"
plugin fm_auth=BASIC,fm_authdir="$dir/login"
rm "$dir/ca.pem"
check
expect TaskProlog problem "owners cannot read $dir/ca.pem" "chmod 644"
https_proxy=http://proxy:80 no_proxy=other sleep 60 &
daemon=$!
: >"$dir/ca.pem"
echo "echo $daemon" | program pidof
check
expect no_proxy warning "asks that instead of broker" no_proxy=broker
kill "$daemon"
https_proxy=http://proxy:80 no_proxy=other,broker sleep 60 &
daemon=$!
echo "echo $daemon" | program pidof
check
! grep -q "${tab}no_proxy$tab" "$dir/said" || fail "broker needs no proxy"
kill "$daemon"
plugin fm_auth=BASIC,fm_authdir="$dir/login"
shows Prolog "$hooks/prolog" # hooks as well
check
expect SwitchParameters problem "deletes those of running jobs" "no fm_url"

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
