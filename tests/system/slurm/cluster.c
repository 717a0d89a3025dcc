/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/slurm/cluster.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 160, COMMAND_SIZE = 4096, FIRST_PORT = 20000, PORT_RANGE = 12000 };

struct cluster {
    char folder[FOLDER_PATH_SIZE];
    char host[64], user[64];
    int port; /* of slurmctld; the nodes' are the next ones */
    struct process *munged, *controller, *nodes[CLUSTER_NODES];
    char text[CLUSTER_TEXT_SIZE];
};

/* ---- commands ---- */

static int run(struct cluster *cluster, const char *command)
{
    char whole[COMMAND_SIZE + PATH_SIZE];
    snprintf(whole, sizeof whole, "exec 2>&1; export SLURM_CONF=%s/slurm.conf; %s", cluster->folder,
             command);
    FILE *pipe = popen(whole, "re");
    assert_non_null(pipe);
    size_t length = fread(cluster->text, 1, sizeof cluster->text - 1, pipe);
    cluster->text[length] = '\0';
    while (fgetc(pipe) != EOF)
        ; /* more than anybody looks at */
    while (length > 0 && cluster->text[length - 1] == '\n')
        cluster->text[--length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void format(char out[COMMAND_SIZE], const char *command, va_list args)
{
    int length = vsnprintf(out, COMMAND_SIZE, command, args);
    assert_in_range(length, 0, COMMAND_SIZE - 1);
}

int cluster_run(struct cluster *cluster, const char *command, ...)
{
    char text[COMMAND_SIZE];
    va_list args;
    va_start(args, command);
    format(text, command, args);
    va_end(args);
    return run(cluster, text);
}

void cluster_expect(struct cluster *cluster, const char *command, ...)
{
    char text[COMMAND_SIZE];
    va_list args;
    va_start(args, command);
    format(text, command, args);
    va_end(args);
    const int status = run(cluster, text);
    if (status != 0)
        fail_msg("%s ended with %d: %s", text, status, cluster->text);
}

const char *cluster_text(const struct cluster *cluster)
{
    return cluster->text;
}

struct wish {
    struct cluster *cluster;
    const char *command;
};

static bool is_granted(void *arg)
{
    const struct wish *wish = arg;
    return run(wish->cluster, wish->command) == 0;
}

void cluster_await(struct cluster *cluster, const char *command, ...)
{
    char text[COMMAND_SIZE];
    va_list args;
    va_start(args, command);
    format(text, command, args);
    va_end(args);
    struct wish wish = {cluster, text};
    if (await(is_granted, &wish, AWAIT_DEADLINE_MS))
        return;
    print_error("never came true: %s\nit said: %s\n", text, cluster->text);
    run(cluster, "squeue -a -t all; sinfo -R; tail -n 25 \"${SLURM_CONF%/*}\"/log/*.log");
    print_error("%s\n", cluster->text);
    fail();
}

unsigned int cluster_submit(struct cluster *cluster, const char *options, ...)
{
    char text[COMMAND_SIZE];
    va_list args;
    va_start(args, options);
    format(text, options, args);
    va_end(args);
    if (cluster_run(cluster, "cd %s/out && sbatch --parsable -o %%A.out %s", cluster->folder,
                    text) != 0)
        fail_msg("sbatch: %s", cluster->text);
    unsigned long id = strtoul(cluster->text, NULL, 10);
    assert_in_range(id, 1, UINT32_MAX);
    return (unsigned int)id;
}

void cluster_await_idle(struct cluster *cluster)
{
    cluster_await(cluster, "[ \"$(sinfo -h -o '%%T %%D')\" = 'idle %d' ]", CLUSTER_NODES);
}

void cluster_await_empty(struct cluster *cluster)
{
    cluster_await(cluster, "q=$(squeue -h -a) && [ -z \"$q\" ]");
}

/* ---- which Slurm ---- */

const char *cluster_munge_origin, *cluster_user;

const char *cluster_prefix(void)
{
    const char *prefix = getenv("MCAST_SLURM_PREFIX");
    return prefix && prefix[0] ? prefix : "/usr";
}

int cluster_release(void)
{
    char command[PATH_SIZE];
    int year = 0, month = 0;
    snprintf(command, sizeof command, "%s/sbin/slurmctld -V", cluster_prefix());
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%*s %d.%d", &year, &month), 2); /* "slurm-wlm 22.05.8" */
    assert_int_equal(pclose(pipe), 0);
    return year * 100 + month;
}

/* Its commands, before those that are installed besides. */
static void set_path(void)
{
    static bool is_set; /* by an earlier cluster of this program */
    char path[COMMAND_SIZE];
    if (is_set)
        return;
    snprintf(path, sizeof path, "%s/bin:%s/sbin:%s", cluster_prefix(), cluster_prefix(),
             getenv("PATH"));
    assert_int_equal(setenv("PATH", path, 1), 0);
    is_set = true;
}

/* ---- where it lives ---- */

static bool is_free(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool is = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return is;
}

/* slurm.conf wants numbers. Below those that the kernel gives to whoever wants any, so that none is
 * taken between this look and the programs' start. */
int cluster_find_ports(void)
{
    for (int try = 0; try < PORT_RANGE / 8; try++) {
        int first = FIRST_PORT + (((int)getpid() + try) * 8) % PORT_RANGE, taken = 0;
        for (int i = 0; i < CLUSTER_PORTS; i++)
            taken += !is_free(first + i);
        if (taken == 0)
            return first;
    }
    fail_msg("no free ports");
    return 0;
}

static void make_folder(const struct cluster *cluster, const char *name, mode_t mode)
{
    char path[PATH_SIZE];
    folder_path(path, sizeof path, cluster->folder, name);
    assert_true(mkdir(path, mode) == 0 || errno == EEXIST);
    assert_int_equal(chmod(path, mode), 0);
}

static void write_key(const struct cluster *cluster)
{
    char path[PATH_SIZE], key[129] = "";
    FILE *random = fopen("/dev/urandom", "re"), *file;
    assert_non_null(random);
    assert_int_equal(fread(key, 1, sizeof key - 1, random), sizeof key - 1);
    fclose(random);
    assert_non_null(file =
                        fopen(folder_path(path, sizeof path, cluster->folder, "munge.key"), "we"));
    assert_int_equal(fchmod(fileno(file), 0400), 0);
    assert_int_equal(fwrite(key, 1, sizeof key - 1, file), sizeof key - 1);
    fclose(file);
}

void cluster_set_hooks(struct cluster *cluster, const char *hooks)
{
    const char *f = cluster->folder;
    char text[COMMAND_SIZE];
    int length = snprintf(
        text, sizeof text,
        "ClusterName=elcap\nSlurmctldHost=%s(127.0.0.1)\nSlurmctldPort=%d\nSlurmUser=%s\n"
        "SlurmdUser=%s\nAuthType=auth/munge\nAuthInfo=socket=%s/munge.sock\nCredType=cred/munge\n"
        "StateSaveLocation=%s/ctld\nSlurmdSpoolDir=%s/spool/%%n\nSlurmctldPidFile=%s/log/ctld.pid\n"
        "SlurmdPidFile=%s/log/%%n.pid\nSlurmctldLogFile=%s/log/slurmctld.log\n"
        "SlurmdLogFile=%s/log/%%n.log\nPlugStackConfig=%s/plugstack.conf\n"
        "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\n"
        "MpiDefault=none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
        "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n"
        "ReturnToService=2\nKillWait=1\nMinJobAge=300\nSlurmdTimeout=20\n"
        /* Het jobs are started by the backfill scheduler only, every half minute by default. */
        "SchedulerParameters=bf_interval=1,sched_min_interval=0\n"
        "PrologFlags=Alloc\nSlurmdParameters=config_overrides\nDisableRootJobs=NO\n%s\n"
        "NodeName=n[1-%d] NodeHostname=%s NodeAddr=127.0.0.1 Port=[%d-%d] CPUs=8\n"
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
        cluster->host, cluster->port, cluster_user ? cluster_user : cluster->user, cluster->user, f,
        f, f, f, f, f, f, f, hooks, CLUSTER_NODES, cluster->host, cluster->port + 1,
        cluster->port + CLUSTER_NODES);
    assert_in_range(length, 1, sizeof text - 1);
    assert_int_equal(folder_write(f, "slurm.conf", 0644, text), 0);
    /* Named, slurmd does not look for it, which fails where none is mounted; nothing here uses it.
     */
    assert_int_equal(folder_write(f, "cgroup.conf", 0644, "CgroupPlugin=cgroup/v1\n"), 0);
}

/* ---- its programs ---- */

static struct process *start(const struct cluster *cluster, const char *const argv[],
                             const char *log)
{
    char name[64], path[PATH_SIZE];
    snprintf(name, sizeof name, "log/%s.out", log);
    folder_path(path, sizeof path, cluster->folder, "slurm.conf");
    assert_int_equal(setenv("SLURM_CONF", path, 1), 0);
    struct process *process =
        process_start(argv, folder_path(path, sizeof path, cluster->folder, name));
    assert_non_null(process);
    return process;
}

static void start_munged(struct cluster *cluster)
{
    const char *const parts[] = {"munge.key", "munge.sock", "log/munged.pid", "log/munged.log",
                                 "log/munged.seed"};
    const char *const options[] = {
        "--key-file=", "--socket=", "--pid-file=", "--log-file=", "--seed-file="};
    char words[5][PATH_SIZE + 16], origin[64] = "--origin=127.0.0.1";
    for (int i = 0; i < 5; i++)
        snprintf(words[i], sizeof words[i], "%s%s/%s", options[i], cluster->folder, parts[i]);
    if (cluster_munge_origin)
        snprintf(origin, sizeof origin, "--origin=%s", cluster_munge_origin);
    /* --force: a folder that others can look into is good enough here. */
    const char *const argv[] = {"/usr/sbin/munged",
                                "--foreground",
                                "--force",
                                words[0],
                                words[1],
                                words[2],
                                words[3],
                                words[4],
                                cluster_munge_origin ? origin : NULL,
                                NULL};
    cluster->munged = start(cluster, argv, "munged");
    cluster_await(cluster, "munge -n -S %s/munge.sock", cluster->folder);
}

void cluster_start_controller(struct cluster *cluster)
{
    char program[PATH_SIZE];
    const char *const argv[] = {program, "-D", "-i", NULL};
    snprintf(program, sizeof program, "%s/sbin/slurmctld", cluster_prefix());
    cluster->controller = start(cluster, argv, "slurmctld");
    cluster_await(cluster, "scontrol ping | grep -q 'is UP'");
}

void cluster_start_node(struct cluster *cluster, int node)
{
    char name[16], program[PATH_SIZE];
    const char *const argv[] = {program, "-N", name, "-D", NULL};
    snprintf(program, sizeof program, "%s/sbin/slurmd", cluster_prefix());
    snprintf(name, sizeof name, "n%d", node);
    cluster->nodes[node - 1] = start(cluster, argv, name);
}

void cluster_kill_controller(struct cluster *cluster)
{
    process_kill(cluster->controller); /* slurmscriptd, which runs its hooks, ends with it */
    cluster->controller = NULL;
}

void cluster_kill_node(struct cluster *cluster, int node)
{
    process_kill(cluster->nodes[node - 1]);
    cluster->nodes[node - 1] = NULL;
    /* A slurmstepd says its node by its log only; tasks by their environment. */
    (void)cluster_run(cluster,
                      "log=${SLURM_CONF%%/*}/log/n%d.log; for p in /proc/[0-9]*; do "
                      "if [ -n \"$(find $p/fd -lname \"$log\" 2>/dev/null)\" ] || "
                      "{ tr '\\0' '\\n' <$p/environ | grep -q -x -F \"SLURM_CONF=$SLURM_CONF\" && "
                      "tr '\\0' '\\n' <$p/environ | grep -q -x SLURMD_NODENAME=n%d; } 2>/dev/null; "
                      "then kill -9 ${p#/proc/}; fi; done",
                      node, node);
}

struct cluster *cluster_create(const char *folder, const char *hooks)
{
    struct cluster *cluster = calloc(1, sizeof *cluster);
    const struct passwd *user = getpwuid(getuid());
    assert_non_null(cluster);
    assert_non_null(user);
    set_path();
    snprintf(cluster->folder, sizeof cluster->folder, "%s", folder);
    snprintf(cluster->user, sizeof cluster->user, "%s", user->pw_name);
    assert_int_equal(gethostname(cluster->host, sizeof cluster->host), 0);
    cluster->host[strcspn(cluster->host, ".")] = '\0';
    cluster->port = cluster_find_ports();
    make_folder(cluster, ".", 0755); /* jobs of others run in it */
    make_folder(cluster, "log", 0755);
    make_folder(cluster, "ctld", 0700);
    make_folder(cluster, "spool", 0755);
    make_folder(cluster, "out", 0777);
    assert_int_equal(folder_write(folder, "plugstack.conf", 0644, ""), 0);
    cluster_set_hooks(cluster, hooks);
    if (cluster_user)
        cluster_expect(cluster, "chown %s ${SLURM_CONF%%/*}/ctld ${SLURM_CONF%%/*}/log",
                       cluster_user);
    write_key(cluster);
    start_munged(cluster);
    cluster_start_controller(cluster);
    for (int i = 1; i <= CLUSTER_NODES; i++)
        cluster_start_node(cluster, i);
    cluster_await_idle(cluster);
    return cluster;
}

void cluster_destroy(struct cluster *cluster)
{
    if (!cluster)
        return;
    if (cluster->controller && process_alive(cluster->controller)) {
        run(cluster, "scancel -u '*' 2>/dev/null; scancel -t PD,R,S -n '*' 2>/dev/null; "
                     "squeue -h -a -r -o %i | xargs -r scancel");
        cluster_await_empty(cluster);
    }
    /* A slurmd takes seconds to stop, so all do it at once. */
    for (int i = 0; i < CLUSTER_NODES; i++)
        if (cluster->nodes[i])
            process_signal(cluster->nodes[i], SIGTERM);
    if (cluster->controller)
        (void)process_stop(cluster->controller);
    for (int i = 0; i < CLUSTER_NODES; i++)
        if (cluster->nodes[i])
            (void)process_stop(cluster->nodes[i]);
    if (cluster->munged)
        (void)process_stop(cluster->munged);
    free(cluster);
}
