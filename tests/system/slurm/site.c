/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/boottime.h"
#include "tests/system/rig/folder.h"
#include "tests/system/slurm/overlap.h"

#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 192, TEXT_SIZE = 4096, NOBODY = 65534 };

static const char *const hooks[] = {"prologslurmctld", "epilogslurmctld", "prolog", "epilog"};

static void make_folder(const struct site *site, const char *name, mode_t mode)
{
    char path[PATH_SIZE];
    folder_path(path, sizeof path, site->folder, name);
    assert_int_equal(mkdir(path, mode), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* The hooks with their folders filled in, as `cmake --install` does it. */
static void install(const struct site *site)
{
    char command[TEXT_SIZE];
    snprintf(command, sizeof command,
             "cp %s/../lost/follow.sh %s/slurm && for f in %s/*.in; do o=%s/slurm/$(basename $f "
             ".in); sed -e 's,@hooks@,%s/slurm,g' "
             "-e 's,@bindir@,%s,g' -e 's,@sysconfdir@,%s/etc,g' -e 's,@release@,%s,g' $f >$o && "
             "chmod 755 $o || exit; "
             "done",
             DEPLOY_SLURM, site->folder, DEPLOY_SLURM, site->folder, site->folder, PROGRAMS,
             site->folder, MCAST_VERSION);
    assert_int_equal(system(command), 0);
}

/* Links in the folder: hooks that can be held, and the programs. */
static void link_to(const struct site *site, const char *target, const char *name)
{
    char path[PATH_SIZE];
    assert_int_equal(symlink(target, folder_path(path, sizeof path, site->folder, name)), 0);
}

static void wrap(const struct site *site, const char *hook)
{
    char name[64];
    snprintf(name, sizeof name, "hooks/%s", hook);
    link_to(site, HOOK_SCRIPT, name);
}

/* As README.md of the hooks says: the broker on a TCP port, with TLS. */
static bool with_tls;
static int tls_port;
static bool with_second; /* brokers share a ledger in etcd */

void site_set_settings(struct site *site, const char *lines)
{
    char text[TEXT_SIZE], url[PATH_SIZE + 32], ca[PATH_SIZE + 32] = "";
    snprintf(url, sizeof url, "unix:%s", testbed_socket(site->testbed));
    if (with_tls) {
        snprintf(url, sizeof url, "https://127.0.0.1:%d", tls_port);
        snprintf(ca, sizeof ca, "MCAST_CACERT=%s/tls.crt\n", site->folder);
    } else if (with_second)
        snprintf(url, sizeof url, "unix:%s,unix:%s/second/mcastd.sock",
                 testbed_socket(site->testbed), site->folder);
    snprintf(text, sizeof text,
             "MCAST_URL=%s\n%s"
             "PATH=%s/bin:$PATH\n"
             "SLURM_CONF=%s/slurm.conf\n"
             "MCAST_GRANTS=%s/run\n"
             "MCAST_RETRY_BUSY=0s\n"
             "MCAST_LAUNCH_USER=%u\n"
             "MCAST_MUNGE_SOCKET=%s/munge.sock\n"
             "MOCK_CXI=%s/cxi/$SLURMD_NODENAME\n"
             "MCAST_NODE_SPOOL=%s/node/$SLURMD_NODENAME\n"
             "LD_LIBRARY_PATH=%s\n"
             "LD_PRELOAD=%s\n"
             "TEST_BOOTED=%lld\n"
             "export MOCK_CXI MCAST_NODE_SPOOL LD_LIBRARY_PATH LD_PRELOAD TEST_BOOTED\n"
             "%s",
             url, ca, cluster_prefix(), site->folder, site->folder, (unsigned)getuid(),
             site->folder, site->folder, site->folder, MOCK_CXI_FOLDER, RIG_BOOTED,
             (long long)boottime_usual(), lines);
    char from[PATH_SIZE], to[PATH_SIZE];
    assert_int_equal(folder_write(site->folder, "etc/mcastd/new", 0644, text), 0);
    assert_int_equal(rename(folder_path(from, sizeof from, site->folder, "etc/mcastd/new"),
                            folder_path(to, sizeof to, site->folder, "etc/mcastd/slurm-hooks")),
                     0);
}

void site_set_nics(struct site *site, int node, const char *text)
{
    char whole[TEXT_SIZE], folder[PATH_SIZE], from[PATH_SIZE + 16], to[PATH_SIZE + 16];
    snprintf(folder, sizeof folder, "%s/cxi/n%d", site->folder, node);
    snprintf(whole, sizeof whole, "[mock]\nprivileged = any\nshared_vnis = no\nlog = yes\n%s",
             text);
    assert_int_equal(folder_write(folder, "new", 0644, whole), 0);
    /* In one step: programs may read it at any time. */
    assert_int_equal(rename(folder_path(from, sizeof from, folder, "new"),
                            folder_path(to, sizeof to, folder, "cxi.conf")),
                     0);
}

static void make_nodes(struct site *site)
{
    char name[32];
    make_folder(site, "cxi", 0755);
    make_folder(site, "node", 0755);
    make_folder(site, "run", 0755);
    for (int i = 1; i <= CLUSTER_NODES; i++) {
        snprintf(name, sizeof name, "cxi/n%d", i);
        make_folder(site, name, 0755);
        site_set_nics(site, i, "nics = 2\n");
    }
}

static const char *pool;   /* of [vni] */
static char vni_lines[64]; /* of [vni]; the stage reads it whenever it starts the broker */

/* With a time the broker makes no launch documents, and nodes ask it. */
static const char *usual_hold = "10m";

static void set_hold(const char *hold)
{
    snprintf(vni_lines, sizeof vni_lines, "pool = %s\nhold = %s\n", pool, hold);
}

void site_start_broker(struct site *site)
{
    assert_int_equal(testbed_start_broker(site->testbed), 0);
    assert_int_equal(testbed_await_link(site->testbed), 0);
}

void site_stop_broker(struct site *site)
{
    assert_int_equal(testbed_stop_broker(site->testbed), 0);
}

static void add_tls(const struct site *site, char *broker, size_t size)
{
    char command[TEXT_SIZE];
    const size_t used = strlen(broker);
    tls_port = cluster_find_ports() + CLUSTER_PORTS - 1; /* the cluster's own are before it */
    snprintf(
        command, sizeof command,
        "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 "
        "-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout tls.key -out tls.crt "
        "2>/dev/null && chmod 600 tls.key",
        site->folder);
    assert_int_equal(system(command), 0);
    snprintf(broker + used, size - used,
             "listen = 127.0.0.1:%d\ntls_cert = %s/tls.crt\ntls_key = %s/tls.key\n", tls_port,
             site->folder, site->folder);
}

/* What docs/high-availability.md adds to the configuration of each, and what differs. */
static void add_second(struct site *site, char *broker, size_t size, char *state, size_t state_size)
{
    static const char key[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
    char host[TEXT_SIZE];
    const size_t used = strlen(broker);
    site->etcd = etcdcluster_create(&(struct etcdcluster_options){0});
    assert_non_null(site->etcd);
    snprintf(broker + used, size - used, "advertise = unix:%s\n", testbed_socket(site->testbed));
    snprintf(state, state_size,
             "store = etcd\nendpoints = %s\nprefix = /mcastd/elcap\nlease = 8s\n",
             etcdcluster_endpoints(site->etcd));
    assert_int_equal(folder_write(site->folder, "state.key", 0600, key), 0);
    make_folder(site, "second", 0755);
    make_folder(site, "second/conf.d", 0755);
    link_to(site, "../mcastd.conf", "second/mcastd.conf");
    snprintf(host, sizeof host,
             "[broker]\nsocket = %s/second/mcastd.sock\nadvertise = unix:%s/second/mcastd.sock\n"
             "[state]\npath = %s/second/state.db\n",
             site->folder, site->folder, site->folder);
    assert_int_equal(folder_write(site->folder, "second/conf.d/host.conf", 0644, host), 0);
}

void site_start_second(struct site *site)
{
    char config[PATH_SIZE], log[PATH_SIZE];
    const char *const argv[] = {
        MCASTD, "--config", folder_path(config, sizeof config, site->folder, "second/mcastd.conf"),
        NULL};
    folder_path(log, sizeof log, site->folder, "second/log");
    (void)unlink(log);
    site->second = process_start(argv, log);
    assert_non_null(site->second);
    cluster_await(site->cluster, "grep -q 'mcastd.sock leads' $SITE/second/log");
}

static void create_broker(struct site *site)
{
    static char clusters[TEXT_SIZE], broker[TEXT_SIZE], ledger[TEXT_SIZE];
    const struct testbed_options options = {.mcastd = MCASTD,
                                            .mock_fm = MOCK_FM,
                                            .broker = broker,
                                            .state = ledger,
                                            .fm = "grace = 200ms\n",
                                            .hwcoll = "min_nodes = 2\naddresses_per_job = 4\n",
                                            .vni = vni_lines,
                                            .users = cluster_user,
                                            .clusters = clusters};
    set_hold(usual_hold);
    site->testbed = testbed_create(&options);
    assert_non_null(site->testbed);
    snprintf(site->folder, sizeof site->folder, "%s", testbed_folder(site->testbed));
    snprintf(broker, sizeof broker, "sync_grace = 1s\nmunge_socket = %s/munge.sock\n",
             site->folder);
    if (with_tls)
        add_tls(site, broker, sizeof broker);
    if (with_second)
        add_second(site, broker, sizeof broker, ledger, sizeof ledger);
    snprintf(clusters, sizeof clusters, "%slist_command = %s/slurm/jobs\nlist_every = 2s\n",
             with_tls ? "nodes = n[1-4]\n" : "", site->folder);
    make_folder(site, "slurm", 0755);
    install(site);
    make_folder(site, "etc", 0755);
    make_folder(site, "etc/mcastd", 0755);
    site_set_settings(site, "");
    assert_int_equal(testbed_start_fm(site->testbed), 0);
    site_start_broker(site);
}

void site_hook_lines(const struct site *site, const char *controllers, const char *nodes, char *out,
                     size_t size)
{
    const char *f = site->folder;
    int length =
        snprintf(out, size,
                 "PrologSlurmctld=%s/%s/prologslurmctld\nEpilogSlurmctld=%s/%s/epilogslurmctld\n"
                 "Prolog=%s/%s/prolog\nEpilog=%s/%s/epilog\nTaskProlog=%s/%s/taskprolog\n"
                 "HealthCheckProgram=%s/slurm/healthcheck\nHealthCheckInterval=2",
                 f, controllers, f, controllers, f, nodes, f, nodes, f,
                 strcmp(nodes, "hooks") == 0 ? "slurm" : nodes, f);
    assert_in_range(length, 1, size - 1);
}

static int create(void **state, const char *hook_folder)
{
    struct site *site = calloc(1, sizeof *site);
    char lines[TEXT_SIZE];
    assert_non_null(site);
    *state = site;
    site->uid = getuid() == 0 ? NOBODY : (unsigned int)getuid();
    if (getuid() == 0)
        snprintf(site->as_user, sizeof site->as_user, "--uid=%u", site->uid);
    create_broker(site);
    snprintf(lines, sizeof lines, PROGRAMS "/mcastctl --url unix:%s",
             testbed_socket(site->testbed));
    assert_int_equal(setenv("SITE", site->folder, 1), 0);
    assert_int_equal(setenv("AS_USER", site->as_user, 1), 0);
    assert_int_equal(setenv("MCASTCTL", lines, 1), 0);
    snprintf(lines, sizeof lines, "setpriv --reuid=%u --clear-groups", site->uid);
    assert_int_equal(setenv("AS", getuid() == 0 ? lines : "", 1), 0);
    make_nodes(site);
    make_folder(site, "log", 0755);
    make_folder(site, "hooks", 0755);
    make_folder(site, "hold", 0755);
    make_folder(site, "reached", 0755);
    assert_int_equal(
        folder_write(site->folder, "report", 0755,
                     "#!/bin/sh\n"
                     "env | grep -E '^(SLINGSHOT|FI_CXI)_' | sort | sed \"s/^/$1./\"\n"),
        0);
    link_to(site, PROGRAMS, "bin");
    for (size_t i = 0; i < sizeof hooks / sizeof hooks[0]; i++)
        wrap(site, hooks[i]);
    site_hook_lines(site, hook_folder, hook_folder, lines, sizeof lines);
    site->cluster = cluster_create(site->folder, lines);
    return 0;
}

int site_create_launching(void **state)
{
    usual_hold = "reports";
    return site_create(state);
}

int site_create_documented_large(void **state)
{
    with_tls = true;
    cluster_munge_origin = "192.0.2.1";
    cluster_user = "slurm"; /* root by MUNGE could be root of any host */
    return site_create_launching_large(state);
}

int site_create_launching_large(void **state)
{
    usual_hold = "reports";
    return site_create_large(state);
}

int site_create_two_brokers(void **state)
{
    with_second = true;
    const int rc = site_create_launching_large(state);
    site_start_second(*state);
    return rc;
}

int site_create(void **state)
{
    pool = "2000-2011";
    return create(state, "hooks");
}

int site_create_large(void **state)
{
    pool = "2000-4999";
    return create(state, "slurm");
}

int site_destroy(void **state)
{
    struct site *site = *state;
    cluster_destroy(site->cluster);
    process_kill(site->second);
    etcdcluster_destroy(site->etcd);
    testbed_destroy(site->testbed);
    free(site);
    return 0;
}

/* ---- holding a hook ---- */

void site_hold(struct site *site, const char *hook, const char *where)
{
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "hold/%s.%s", hook, where);
    assert_int_equal(folder_write(site->folder, name, 0644, ""), 0);
}

void site_let_go(struct site *site, const char *hook, const char *where)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/hold/%s.%s", site->folder, hook, where);
    assert_int_equal(unlink(path), 0);
}

void site_await_held(struct site *site, const char *hook, const char *where, unsigned int job,
                     const char *node)
{
    cluster_await(site->cluster, "[ -e $SITE/reached/%s.%s.%u%s%s ]", where, hook, job,
                  node ? "." : "", node ? node : "");
}

/* ---- looking ---- */

void site_await_state(struct site *site, unsigned int job, const char *state)
{
    cluster_await(site->cluster,
                  "s=$(squeue -h -r -t all -j %u -o '%%A %%T' | sed -n 's/^%u //p'); echo \"$s\"; "
                  "[ \"$s\" = '%s' ]",
                  job, job, state);
}

void site_await_output(struct site *site, unsigned int job, const char *text)
{
    cluster_await(site->cluster, "cat $SITE/out/%u.out && grep -q -F -e '%s' $SITE/out/%u.out", job,
                  text, job);
}

const char *site_output_value(struct site *site, unsigned int job, const char *name, int which)
{
    /* Each task writes its own lines, so those of another one may be there first. */
    cluster_await(site->cluster,
                  "v=$(sed -n 's/^%s=//p' $SITE/out/%u.out | sed -n %dp) && [ -n \"$v\" ] && echo "
                  "\"$v\"",
                  name, job, which + 1);
    return cluster_text(site->cluster);
}

static size_t count_of(struct plainhttp *http, const char *path, const char *field)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(http, "GET", path, NULL, &reply), 200);
    const json_t *array = json_object_get(reply.json, field);
    assert_true(json_is_array(array));
    size_t count = json_array_size(array);
    plainhttp_reply_release(&reply);
    return count;
}

static bool is_clean(void *arg)
{
    struct site *site = arg;
    return count_of(testbed_http(site->testbed), "/v1/jobs", "jobs") == 0 &&
           count_of(testbed_fm_http(site->testbed), "/mock/state", "jobs") == 0 &&
           count_of(testbed_fm_http(site->testbed), "/mock/state", "multicasts") == 0;
}

static void expect_one_user_of_a_vni(struct site *site)
{
    char reservations[PATH_SIZE], logs[CLUSTER_NODES][PATH_SIZE], wrong[TEXT_SIZE];
    const char *paths[CLUSTER_NODES];
    size_t looked;
    folder_path(reservations, sizeof reservations, site->folder, "reservations");
    for (int i = 0; i < CLUSTER_NODES; i++) {
        snprintf(logs[i], sizeof logs[i], "%s/cxi/n%d/log", site->folder, i + 1);
        paths[i] = logs[i];
    }
    if (overlap_find(reservations, paths, CLUSTER_NODES, wrong, sizeof wrong, &looked) > 0)
        fail_msg("I1: %s", wrong);
    site->looked = looked;
}

static void await_clean_nodes(struct site *site)
{
    for (int i = 1; i <= CLUSTER_NODES; i++)
        cluster_await(
            site->cluster,
            "export LD_LIBRARY_PATH=%s MOCK_CXI=$SITE/cxi/n%d MCAST_NODE_SPOOL=$SITE/node/n%d; "
            "%s/mcast-node list --json | tee /dev/stderr | grep -c '\"system\": *false' | grep -q "
            "-x 0 && [ -z \"$(ls $SITE/run)\" ]",
            MOCK_CXI_FOLDER, i, i, PROGRAMS);
}

static void restart_broker(struct site *site, const char *hold)
{
    set_hold(hold);
    site_stop_broker(site);
    site_start_broker(site);
}

void site_end_holding(struct site *site)
{
    cluster_await_empty(site->cluster);
    await_clean_nodes(site);
    cluster_await(site->cluster, "held=$($MCASTCTL list --held) || exit 1; echo \"$held\"; case "
                                 "$held in *created:* | *lingering:*) exit 1 ;; esac");
    restart_broker(site, "10ms");
    assert_true(await(is_clean, site, AWAIT_DEADLINE_MS));
    restart_broker(site, "10m");
}

void site_expect_nothing_left(struct site *site)
{
    cluster_await_empty(site->cluster);
    if (!await(is_clean, site, AWAIT_DEADLINE_MS)) {
        cluster_run(site->cluster, "$MCASTCTL list; $MCASTCTL list --held; cat $SITE/log/*.err; "
                                   "tail -n 30 $SITE/mcastd.log");
        fail_msg("something is left: %s", cluster_text(site->cluster));
    }
    await_clean_nodes(site);
    expect_one_user_of_a_vni(site);
}

void site_use_plugin(struct site *site, const char *plugin, const char *words)
{
    char line[TEXT_SIZE];
    snprintf(line, sizeof line,
             "optional %s grants=%s/run url=unix:%s mcastctl=%s/mcastctl mcast_node=%s/mcast-node "
             "mcast_cleanup=%s/mcast-cleanup timeout=60000 %s\n",
             plugin, site->folder, testbed_socket(site->testbed), PROGRAMS, PROGRAMS, PROGRAMS,
             words);
    assert_int_equal(folder_write(site->folder, "plugstack.conf", 0644, line), 0);
}
