/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files: every fault is told, with its place and what is allowed. */

#include "tests/unit/unit.h"

#include "broker/config/config.h"
#include "broker/config/table.h"
#include "core/reservation/record.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char heard[16384]; /* reports, one a line, the folder's name cut, "W " before warnings */
static struct config *config;

static void on_report(void *arg, bool fault, const char *line)
{
    size_t length = strlen(heard), cut = strlen(folder);
    bool ours = strncmp(line, folder, cut) == 0 && line[cut] == '/';
    (void)snprintf(heard + length, sizeof heard - length, "%s%s\n", fault ? "" : "W ",
                   ours ? line + cut + 1 : line);
}

static int open_folder(void **state)
{
    strcpy(folder, "/tmp/mcast-config-XXXXXX");
    assert_non_null(mkdtemp(folder));
    heard[0] = '\0';
    config = config_create();
    assert_non_null(config);
    return 0;
}

static int close_folder(void **state)
{
    char command[128];
    config_destroy(config);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return 0;
}

static const char *path_of(const char *name)
{
    static char path[160];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_bytes(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

static int load(void)
{
    return config_load(config, path_of("mcastd.conf"), CONFIG_ANY_OWNER, NULL, on_report, NULL);
}

/* Into a configuration of its own. */
static int load_text(const char *text)
{
    config_destroy(config);
    config = config_create();
    heard[0] = '\0';
    write_text("mcastd.conf", text);
    return load();
}

#define NO_LOGIN "auth = none without mtls_cert: the fabric manager is asked without any login\n"
#define CLUSTER "[cluster \"elcap\"]\nusers = root\n"

/* The file is refused with exactly these reports. */
static void refused(const char *text, const char *reports)
{
    assert_int_equal(load_text(text), ERROR_INVALID);
    assert_string_equal(heard, reports);
}

#define FOLDER_TEST(name) UNIT_WITH(name, open_folder, close_folder)

/* The documented defaults. */
FOLDER_TEST(defaults__are_as_documented)
{
    assert_int_equal(load_text(CLUSTER), 0);
    assert_string_equal(heard, "");
    assert_string_equal(config->socket, "/run/mcastd/mcastd.sock");
    assert_int_equal(config->socket_mode, 0666);
    assert_string_equal(config->socket_group, "");
    assert_string_equal(config->listen, "");
    assert_string_equal(config->admins[0], "root");
    assert_null(config->admins[1]);
    assert_null(config->metrics_users);
    assert_false(config->metrics_anonymous);
    assert_int_equal(config->connections_max, 4096);
    assert_int_equal(config->log_level, 6);
    assert_int_equal(config->store, CONFIG_STORE_SQLITE);
    assert_string_equal(config->state_path, "/var/lib/mcastd/state.db");
    assert_int_equal(config->fm_auth, FMAPI_AUTH_BASIC);
    assert_string_equal(config->fm_authdir, "/etc/fmsim");
    assert_string_equal(config->fm_ca, "");
    assert_true(config->fm_verify);
    assert_int_equal(config->inventory_source, CONFIG_INVENTORY_FM);
    assert_string_equal(config->inventory_file, "");
    assert_int_equal(config->inventory_poll_ms, 60000);
    assert_null(config->nicbook);

    const struct core_config *core = &config->core;
    assert_string_equal(core->fm_urls[0], "");
    assert_false(core->fm_present);
    assert_int_equal(core->call_timeout_ms, 10000);
    assert_int_equal(core->reserve_timeout_ms, RESERVE_TIMEOUT_AUTO);
    assert_int_equal(core->calls_at_once, 16);
    assert_int_equal(core->relist_ms, 600000);
    assert_int_equal(core->stray_grace_ms, 30000);
    assert_int_equal(core->mass_loss_percent, 10);
    assert_int_equal(core->mass_loss_min, 3);
    assert_int_equal(core->link_retry_ms, 1000);
    assert_int_equal(core->min_nodes, 0);
    assert_int_equal(core->addresses_per_job, 0);
    assert_int_equal(core->total_addresses, 0);
    assert_int_equal(core->system_nodes, 0);
    assert_int_equal(core->sharing, 1);
    assert_string_equal(core->job_ca, "yes");
    assert_int_equal(core->vni_pool.count, 65536 - 1024);
    assert_true(idset_has(&core->vni_pool, 1024));
    assert_int_equal(core->vni_per_job, 1);
    assert_true(core->vni_single_node);
    assert_true(core->vni_required);
    assert_int_equal(core->vni_hold_ms, HOLD_UNTIL_REPORTED);
    assert_int_equal(core->classes_default, TC_BEST_EFFORT | TC_LOW_LATENCY);
    assert_int_equal(core->classes_allowed, TC_BEST_EFFORT | TC_LOW_LATENCY);
    assert_int_equal(core->sync_grace_ms, 30000);
    assert_int_equal(core->tombstone_ms, 30000);
    assert_int_equal(core->events_keep, 10000);
    assert_int_equal(core->cluster_count, 1);
    assert_string_equal(core->clusters[0].name, "elcap");
    assert_int_equal(core->clusters[0].budget, 0);
}

/* S2: jobs do not depend on it, so what is wrong in it is a warning. */
FOLDER_TEST(nodefile__is_read_and_its_faults_are_warnings)
{
    char text[512], warning[512];
    (void)state;
    write_text("genders", "n1 nic0=1\nn2 nic0=x\n");
    (void)snprintf(text, sizeof text, CLUSTER "[inventory]\nfile = %s\n", path_of("genders"));
    (void)snprintf(warning, sizeof warning,
                   "W mcastd.conf:4: %s:2: nic0=x: an address is a number of 20 bits, as 0x1200: "
                   "that of the port (DFA) without its lowest 12 bits; the line is left out\n",
                   path_of("genders"));
    assert_int_equal(load_text(text), 0);
    assert_string_equal(heard, warning);
    assert_int_equal(nicbook_count(config->nicbook), 1);
    assert_int_equal(load_text(CLUSTER "[inventory]\nfile = /nonexistent/genders\n"), 0);
    assert_string_equal(heard, "W mcastd.conf:4: /nonexistent/genders cannot be read: No such file "
                               "or directory\n");
    assert_null(config->nicbook);
    assert_true(config->nicbook_unread);
    (void)snprintf(text, sizeof text, CLUSTER "[inventory]\nfile = %s\nsource = off\n",
                   path_of("genders"));
    assert_int_equal(load_text(text), 0);
    assert_string_equal(heard, "");
    assert_null(config->nicbook);
}

FOLDER_TEST(file__sets_every_kind_of_value)
{
    write_text("ca.pem", "");
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "\xef\xbb\xbf; a comment\n"
                   "# another\n"
                   "\n"
                   "[broker]\r\n"
                   "  socket = /run/m.sock   ; indented, with a comment\r\n"
                   "socket_mode=0600\n"
                   "admins = root,\n"
                   "   1000 ; goes on\n"
                   "   1001\n"
                   "[fm]\n"
                   "url = https://fmn:8000/\n"
                   "auth = none\n"
                   "ca = %s/ca.pem\n"
                   "timeout = 500ms\n"
                   "[hwcoll]\n"
                   "min_nodes = 64\n"
                   "total_addresses = 4086\n"
                   "system_nodes = 11136\n"
                   "[vni]\n"
                   "pool = 2000-2999,\n"
                   "\t5000\n"
                   "[cluster \"elcap\"]\n"
                   "users = root\n"
                   "budget = 2000\n"
                   "[cluster \"tuo_1\"]\n"
                   "users = 1000",
                   folder);
    int rc = load_text(text);
    assert_string_equal(heard, "W mcastd.conf:12: " NO_LOGIN);
    assert_int_equal(rc, 0);
    assert_string_equal(config->socket, "/run/m.sock");
    assert_int_equal(config->socket_mode, 0600);
    assert_string_equal(config->admins[0], "root");
    assert_string_equal(config->admins[1], "1000");
    assert_string_equal(config->admins[2], "1001");
    assert_null(config->admins[3]);
    assert_string_equal(config->core.fm_urls[0], "https://fmn:8000");
    assert_true(config->core.fm_present);
    assert_int_equal(config->core.call_timeout_ms, 500);
    assert_string_equal(config->core.job_ca, path_of("ca.pem"));
    assert_int_equal(config->core.vni_pool.count, 1001);
    assert_int_equal(config->core.cluster_count, 2);
    assert_int_equal(config->core.clusters[0].budget, 2000);
    assert_string_equal(config->core.clusters[1].name, "tuo_1");
    assert_string_equal(config->clusters[1].users[0], "1000");
}

FOLDER_TEST(faults__are_all_told)
{
    refused("socket = /x\n"
            "[broker]\n"
            "timeout = 3s\n"
            "frobnicate = 1\n"
            "socket\n"
            "= 3\n"
            "socket_mode = 999\n"
            "[brokr]\n"
            "anything = 1\n"
            "[fm\n"
            "anything = 1\n"
            "[cluster \"El-Cap\"]\n"
            "users = root\n"
            "[vni]\n"
            "hold = 10\n"
            "  11\n"
            "per_job = 1\n"
            "   2\n"
            "per_job = 2\n" CLUSTER "   nobody_by_this_name\n",
            "mcastd.conf:1: socket stands before the first section\n"
            "mcastd.conf:3: timeout is a key of [fm], not of [broker]\n"
            "mcastd.conf:4: there is no key frobnicate in [broker]; there are socket, socket_mode, "
            "socket_group, listen, tls_cert, tls_key, tls_client_ca, munge_socket, "
            "launch_key_file, advertise, admins, metrics_users, metrics_anonymous, root_key_file, "
            "connections_max, log_level, "
            "sync_grace, tombstone\n"
            "mcastd.conf:5: neither a section nor a comment nor \"key = value\": the = is missing\n"
            "mcastd.conf:6: there is no key before the =\n"
            "mcastd.conf:7: socket_mode = 999: allowed is an octal file mode, 0600 to 0777\n"
            "mcastd.conf:8: there is no section [brokr]; there are [broker], [state], [fm], "
            "[hwcoll], [vni], [omnipath], [inventory], [traffic], [cluster \"NAME\"] and "
            "[profile \"NAME\"]; did you mean broker?\n"
            "mcastd.conf:10: a section's line is [NAME], the ] is missing\n"
            "mcastd.conf:12: cluster \"El-Cap\": allowed are 1 to 32 of a-z, 0-9 and _\n"
            "mcastd.conf:15: hold = 10: allowed is reports, or a duration of 0 to 7d, with one "
            "of the units ms, s, m, h, d\n"
            "mcastd.conf:18: an indented line goes on with per_job, which is no list\n"
            "mcastd.conf:19: per_job is set twice, first in line 17\n"
            "mcastd.conf:21: user nobody_by_this_name is not known on this host: create it, or "
            "give its numeric uid\n");
}

/* B5: one that is spelled like one of its section names that. */
FOLDER_TEST(misspelt_keys__are_told_with_what_they_may_be)
{
    (void)load_text("[broker]\nlog_levle = debug\n[vni]\npol = 1024\n[fm]\nx = 1\n");
    assert_non_null(strstr(heard, "mcastd.conf:2: there is no key log_levle in [broker]; did you "
                                  "mean log_level?\n"));
    assert_non_null(strstr(heard, "mcastd.conf:4: there is no key pol in [vni]; did you mean "));
    assert_non_null(strstr(heard, "mcastd.conf:6: there is no key x in [fm]; there are "));
    (void)load_text("[cluster elcap]\nx = 1\n" CLUSTER "user = root\n");
    assert_non_null(strstr(heard, "mcastd.conf:1: there is no section [cluster elcap]; did you "
                                  "mean [cluster \"elcap\"]?\n"));
    assert_non_null(strstr(heard, "user is a key of [state], not of [cluster]; did you mean "
                                  "users?\n"));
}

FOLDER_TEST(later_keys__are_refused_not_ignored)
{
    (void)load_text(CLUSTER "epilog_command = /bin/true\n"
                            "[broker]\nurl = https://mgmt1:7470\n[state]\nstore = postgres\n");
    assert_non_null(strstr(heard, "mcastd.conf:3: there is no key epilog_command in [cluster]"));
    assert_non_null(strstr(heard, "mcastd.conf:5: url is a key of [fm], not of [broker]"));
    assert_non_null(
        strstr(heard, "mcastd.conf:7: store = postgres: allowed is sqlite, memory or etcd"));
}

FOLDER_TEST(lines__are_bounded_and_text)
{
    char text[1024] = CLUSTER "[vni]\npool = 1024-2047";
    memset(text + strlen(text), ' ', 300);
    strcat(text, "\n"); /* trailing blanks do not count */
    size_t length = strlen(text);
    (void)snprintf(text + length, sizeof text - length, "[state]\npath = /");
    memset(text + length + 16, 'x', 300);
    memcpy(text + length + 316, "\nstore = mem\0ory\n", 18);
    write_bytes("mcastd.conf", text, length + 316 + 17);
    assert_int_equal(load(), ERROR_INVALID);
    assert_string_equal(heard, "mcastd.conf:7: a NUL byte: this is no text file\n");
}

FOLDER_TEST(reports__never_hold_control_characters)
{
    refused(CLUSTER "[vni]\nhold = 1\x1b[2J\n",
            "mcastd.conf:4: hold = 1?[2J: allowed is reports, or a duration of 0 to 7d, with one "
            "of the units ms, s, m, h, d\n");
}

FOLDER_TEST(drop_ins__override_in_alphabetical_order)
{
    assert_int_equal(mkdir(path_of("conf.d"), 0700), 0);
    write_text("conf.d/20-b.conf", "[vni]\nper_job = 3\n[cluster \"tuo\"]\nusers = 7\n");
    write_text("conf.d/10-a.conf", "[vni]\nper_job = 2\nhold = 1m\n");
    write_text("conf.d/README", "not read");
    write_text("conf.d/.hidden.conf", "not read");
    write_text("conf.d/30-c.conf", "[cluster \"elcap\"]\nbudget = 5\n");
    assert_int_equal(load_text(CLUSTER "[vni]\nper_job = 1\nrequired = no\n"), 0);
    assert_string_equal(heard, "");
    assert_int_equal(config->core.vni_per_job, 3);
    assert_int_equal(config->core.vni_hold_ms, 60000);
    assert_false(config->core.vni_required);
    assert_int_equal(config->core.cluster_count, 2);
    assert_string_equal(config->clusters[0].users[0], "root");
    assert_int_equal(config->core.clusters[0].budget, 5);
}

FOLDER_TEST(drop_ins__faults_name_their_file)
{
    assert_int_equal(mkdir(path_of("conf.d"), 0700), 0);
    write_text("conf.d/10-a.conf", "\n[vni]\nper_job = 9\n");
    refused(CLUSTER, "conf.d/10-a.conf:3: per_job = 9: allowed is a number of 0 to 4\n");
}

FOLDER_TEST(missing_file__tells_how_to_make_one)
{
    assert_int_equal(load(), ERROR_INVALID);
    assert_memory_equal(heard,
                        "mcastd.conf: cannot be read: No such file or directory; `mcastd "
                        "--sample-config` prints one to begin with\n",
                        60);
}

/* F15: what is impossible is told when the configuration is read, not when a job starts. */
FOLDER_TEST(sizing__must_be_possible)
{
    assert_int_equal(load_text(CLUSTER "[fm]\nurl = http://localhost:1\nauth = none\n"
                                       "[hwcoll]\nmin_nodes = 64\n"),
                     ERROR_INVALID);
    assert_non_null(strstr(heard, "mcastd.conf: [hwcoll]"));
    assert_non_null(strstr(heard, "system_nodes"));
}

FOLDER_TEST(files_named__must_exist)
{
    refused(CLUSTER "[fm]\nca = /nonexistent/ca\n[hwcoll]\njob_ca = /nonexistent/job-ca\n"
                    "[broker]\nsocket_group = no_such_group_here\nadmins = no_such_user_here\n",
            "mcastd.conf:8: group no_such_group_here is not known on this host: create it, or give "
            "its numeric gid\n"
            "mcastd.conf:9: user no_such_user_here is not known on this host: create it, or give "
            "its numeric uid\n"
            "mcastd.conf:4: ca = /nonexistent/ca: No such file or directory\n"
            "mcastd.conf:6: job_ca = /nonexistent/job-ca: No such file or directory\n");
}

/* B7 */
FOLDER_TEST(etcd__needs_endpoints_and_a_url_for_clients)
{
    refused(CLUSTER "[state]\nstore = etcd\nuser = mcastd\nprefix = /a/\n",
            "mcastd.conf:5: user is set but password_file is not: both are needed\n"
            "mcastd.conf:6: prefix = /a/: it must name something and not end with a slash\n"
            "mcastd.conf:4: store = etcd needs endpoints, the URLs of etcd's members\n"
            "mcastd.conf:4: store = etcd needs [broker] advertise, where clients find this broker "
            "while it leads\n");
    refused(CLUSTER "[state]\nstore = etcd\nlease = 1s\n",
            "mcastd.conf:5: lease = 1s: allowed is a duration of 2s to 1m, with one of the units "
            "ms, s, m, h, d\n"
            "mcastd.conf:4: store = etcd needs endpoints, the URLs of etcd's members\n"
            "mcastd.conf:4: store = etcd needs [broker] advertise, where clients find this broker "
            "while it leads\n");
    assert_int_equal(load_text(CLUSTER
                               "[state]\nstore = etcd\nendpoints = https://m1:2379/,\n"
                               "  http://m2:2379\n[broker]\nadvertise = unix:/run/m.sock\n"),
                     0);
    assert_string_equal(
        heard, "W mcastd.conf:5: http://m2:2379: with http ANYONE on the network path can read and "
               "change the ledger, but for its sealed secrets; use https\n"
               "W mcastd.conf:8: unix:/run/m.sock: only clients of this host can follow to it\n");
    assert_string_equal(config->etcd_endpoints[0], "https://m1:2379");
    assert_string_equal(config->etcd_endpoints[1], "http://m2:2379");
    assert_string_equal(config->etcd_prefix, "/mcastd");
    assert_string_equal(config->root_key_file, "");
    assert_int_equal(config->etcd_lease_ms, 5000);
}

/* B7 */
FOLDER_TEST(advertise__must_lead_to_this_broker)
{
    static const struct {
        const char *url, *report;
        int rc;
    } cases[] = {
        {"https://m1:7470",
         "mcastd.conf:4: https://m1:7470: nothing answers there, as listen and "
         "tls_cert are not both set\n",
         ERROR_INVALID},
        {"http://m1:7470",
         "mcastd.conf:4: http://m1:7470: clients use http for this host only: "
         "give an https URL\n",
         ERROR_INVALID},
        {"m1:7470",
         "mcastd.conf:4: advertise is not an http or https URL such as "
         "https://fmn:8000; or unix:/PATH\n",
         ERROR_INVALID},
        {"http://127.0.0.1:7470",
         "W mcastd.conf:4: http://127.0.0.1:7470: clients of other hosts "
         "cannot follow to it\n",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       CLUSTER "[broker]\nadvertise = %s\n"
                               "[state]\nstore = etcd\nendpoints = https://m1:2379\n",
                       cases[i].url);
        assert_int_equal(load_text(text), cases[i].rc);
        assert_string_equal(heard, cases[i].report);
    }
}

#define SIZED "[hwcoll]\naddresses_per_job = 8\n"

FOLDER_TEST(job_ca__follows_the_url)
{
    static const struct {
        const char *text, *job_ca;
    } cases[] = {
        {"[fm]\nurl = http://localhost:8000\n", "no"},
        {"[fm]\nurl = https://fmn:8000\n", "yes"},
        {"job_url = http://localhost:8001/\n[fm]\nurl = https://fmn:8000\n", "no"},
        {"job_ca = no\n[fm]\nurl = https://fmn:8000\n", "no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, CLUSTER SIZED "%sauth = none\n", cases[i].text);
        assert_int_equal(load_text(text), 0);
        assert_string_equal(config->core.job_ca, cases[i].job_ca);
    }
    assert_string_equal(
        heard,
        "W mcastd.conf:8: " NO_LOGIN
        "W mcastd.conf:5: job_ca = no: ANYONE on the network path can impersonate the fabric "
        "manager and read the session tokens of jobs; set it to yes, or to a CA file\n");
}

/* B8: every user whom the kernel cannot name has this uid. */
FOLDER_TEST(users__that_stand_for_unknown_ones_are_refused)
{
    static const char *const users[] = {"nobody", "65534"};
    static const char *const forms[] = {
        "[broker]\nadmins = root\n  %s\n" CLUSTER,
        "[cluster \"elcap\"]\nusers = root %s\n",
    };
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        for (size_t j = 0; j < sizeof forms / sizeof forms[0]; j++) {
            char text[256], words[64];
            (void)snprintf(text, sizeof text, forms[j], users[i]);
            (void)snprintf(words, sizeof words, "mcastd.conf:2: user %s ", users[i]);
            assert_int_equal(load_text(text), ERROR_INVALID);
            assert_non_null(strstr(heard, words));
            assert_non_null(strstr(heard, "that the kernel cannot name: name a user of its own"));
        }
    }
}

/* B8: -1, and numbers that would be cut to another user's. */
FOLDER_TEST(ids__that_none_can_have_are_refused)
{
    static const char *const numbers[] = {"4294967295", "4294967296", "18446744073709551616"};
    static const char *const keys[] = {"admins", "metrics_users", "socket_group"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        for (size_t j = 0; j <= sizeof keys / sizeof keys[0]; j++) {
            bool of_cluster = j == sizeof keys / sizeof keys[0];
            char text[256], words[128];
            (void)snprintf(text, sizeof text, "%s\n%s = %s\n%s",
                           of_cluster ? "[cluster \"elcap\"]" : "[broker]",
                           of_cluster ? "users" : keys[j], numbers[i], of_cluster ? "" : CLUSTER);
            (void)snprintf(words, sizeof words, "mcastd.conf:2: %s %s: no ",
                           strcmp(of_cluster ? "" : keys[j], "socket_group") == 0 ? "group"
                                                                                  : "user",
                           numbers[i]);
            assert_int_equal(load_text(text), ERROR_INVALID);
            assert_non_null(strstr(heard, words));
            assert_non_null(strstr(heard, "is more than 4294967294: give the "));
        }
    }
    assert_int_equal(
        load_text("[broker]\nadmins = 4294967294\nsocket_group = 4294967294\n" CLUSTER), 0);
}

/* F16: what jobs are told carries their tokens. */
FOLDER_TEST(way_of_jobs__that_others_can_read)
{
    static const struct {
        const char *text, *words;
        int rc;
    } cases[] = {
        {"[fm]\nurl = https://fmn https://fmn2\n[hwcoll]\njob_ca = no\n",
         "W mcastd.conf:4: job_ca = no: ANYONE on the network path can impersonate the fabric "
         "manager",
         0},
        {"[fm]\nurl = http://127.0.0.1:1 http://[::1]:1\n[hwcoll]\njob_ca = no\n", "", 0},
        {"[fm]\nurl = https://fmn http://fmn:80\n",
         "mcastd.conf:2: http://fmn:80: with http the session tokens of jobs cross the network",
         ERROR_INVALID},
        {"[fm]\nurl = https://fmn\n[hwcoll]\njob_url = http://10.1.2.3\njob_ca = no\n",
         "mcastd.conf:4: http://10.1.2.3: with http the session tokens of jobs", ERROR_INVALID},
        {"[fm]\nurl = http://fmn\n[hwcoll]\njob_url = https://fmn\n",
         "W mcastd.conf:2: http://fmn: with http the login crosses", 0},
        {"[hwcoll]\njob_url = http://fmn\njob_ca = no\n", "", 0}, /* no job is told */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "%s" CLUSTER, cases[i].text);
        assert_int_equal(load_text(text), cases[i].rc);
        if (!strstr(heard, cases[i].words))
            fail_msg("case %zu: %s", i, heard);
        if (cases[i].words[0] == '\0' && strstr(heard, "job_ca"))
            fail_msg("case %zu: %s", i, heard);
    }
}

FOLDER_TEST(urls__are_several_of_one_fabric)
{
    assert_int_equal(load_text(CLUSTER SIZED "[fm]\nurl = https://fmn1:8000 https://fmn2:8000/\n"
                                             "  https://fmn3:8000\nauth = none\n"),
                     0);
    assert_int_equal(config->core.fm_url_count, 3);
    assert_string_equal(config->core.fm_urls[1], "https://fmn2:8000");
    assert_string_equal(config->core.fm_urls[2], "https://fmn3:8000");
    assert_string_equal(config->core.job_ca, "yes");
    refused(
        CLUSTER "[fm]\nurl = http://a http://b http://c http://d http://e\nauth = none\n",
        "mcastd.conf:4: url = http://a http://b http://c http://d http://e: more than 4 URLs\n");
}

/* Slurm's folders, as sites have them (fabric-manager.md, "Login"). */
FOLDER_TEST(authdir__follows_auth)
{
    (void)load_text(CLUSTER SIZED "[fm]\nurl = http://localhost:1\nauth = oauth\n");
    assert_string_equal(config->fm_authdir, "/etc/wlm-client-auth");
    (void)load_text(CLUSTER SIZED "[fm]\nurl = http://localhost:1\n");
    assert_string_equal(config->fm_authdir, "/etc/fmsim");
}

static int load_as(uid_t user)
{
    config_destroy(config);
    config = config_create();
    heard[0] = '\0';
    return config_load(config, path_of("mcastd.conf"), user, NULL, on_report, NULL);
}

/* B8: each file and the folder by itself, also where there are other faults. */
FOLDER_TEST(files__that_others_can_change_are_no_configuration)
{
    write_text("mcastd.conf", CLUSTER);
    assert_int_equal(load_as(geteuid()), 0);
    assert_string_equal(heard, "");
    assert_int_equal(chmod(path_of("mcastd.conf"), 0664), 0);
    assert_int_equal(mkdir(path_of("conf.d"), 0755), 0);
    write_text("conf.d/10.conf", "[vni]\nper_job = 9\n");
    assert_int_equal(chmod(path_of("conf.d/10.conf"), 0646), 0);
    assert_int_equal(load_as(geteuid()), ERROR_INVALID);
    assert_non_null(strstr(heard, "\nmcastd.conf: others than its owner can write to "));
    assert_non_null(strstr(heard, "conf.d/10.conf:2: per_job = 9"));
    assert_non_null(strstr(heard, "\nconf.d/10.conf: others than its owner can write to "));
    assert_int_equal(chmod(path_of("mcastd.conf"), 0644), 0);
    assert_int_equal(unlink(path_of("conf.d/10.conf")), 0);
    assert_int_equal(chmod(path_of("conf.d"), 01777), 0);
    assert_int_equal(load_as(geteuid()), ERROR_INVALID);
    assert_non_null(strstr(heard, "mcastd.conf: others can make files in "));
    assert_int_equal(chmod(path_of("conf.d"), 0755), 0);
    assert_int_equal(load_as(geteuid()), 0);
}

FOLDER_TEST(tcp__beyond_this_host_needs_tls)
{
    refused(CLUSTER "[broker]\nlisten = 0.0.0.0:7470\n",
            "mcastd.conf:4: unencrypted connections are allowed on loopback only: set tls_cert and "
            "tls_key, or listen on 127.0.0.1, [::1] or localhost\n");
    write_text("half.pem", "x");
    char text[1024];
    (void)snprintf(text, sizeof text,
                   CLUSTER "[broker]\nlisten = 127.0.0.1:0\ntls_cert = %s\ntls_client_ca = %s\n"
                           "[fm]\nmtls_key = %s\n",
                   path_of("half.pem"), path_of("half.pem"), path_of("half.pem"));
    refused(text, "mcastd.conf:5: tls_cert is set but tls_key is not: both are needed\n"
                  "mcastd.conf:8: mtls_key is set but mtls_cert is not: both are needed\n");
}

/* F14: without a minimum size a job may ask, but then the site has to say for how many. */
FOLDER_TEST(sizing__that_serves_no_job_is_warned_of)
{
    assert_int_equal(load_text(CLUSTER "[fm]\nurl = http://localhost:1\nauth = none\n"), 0);
    assert_non_null(strstr(heard, "W mcastd.conf: no job can get multicast addresses"));
}

FOLDER_TEST(doubtful_settings__are_warned_of)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "[fm]\nurl = http://fmn:8000\nauthdir = %s\nverify = no\n"
                   "[hwcoll]\njob_url = https://fmn:8001\n"
                   "[cluster \"foo\"]\nusers = root\n"
                   "[cluster \"foo2\"]\n",
                   folder);
    assert_int_equal(load_text(text), 0);
    assert_non_null(strstr(heard, "W mcastd.conf:4: verify = no: ANYONE"));
    assert_non_null(strstr(heard, "W mcastd.conf:2: http://fmn:8000: with http the login crosses"));
    assert_non_null(strstr(heard, "W mcastd.conf:9: cluster \"foo2\" has no users"));
    assert_non_null(strstr(heard, "W mcastd.conf:9: cluster \"foo2\" begins with the name of "
                                  "cluster \"foo\""));
    assert_null(strstr(heard, "cluster \"foo\" begins"));
}

/* B9, B2: a Slurm with its own plugin logs in somewhere, and gives VNIs of its own. */
FOLDER_TEST(plugin__wants_a_place_to_log_in_and_its_own_vnis)
{
    static const char login[] = "[cluster \"alps\"]\nplugin_login = /etc/alps\n";
    static const char front[] = "[front]\nlisten = 127.0.0.1:7471\nurl = http://127.0.0.1:7471\n";
    char text[512];
    assert_int_equal(load_text(login), ERROR_INVALID);
    assert_non_null(strstr(heard, "[cluster \"alps\"] plugin_login: set listen in [front]"));
    (void)snprintf(text, sizeof text, "%s%s", front, login);
    assert_int_equal(load_text(text), 0);
    assert_null(strstr(heard, "has no users"));
    assert_null(strstr(heard, "set pool to"));
    assert_false(config->core.clusters[0].limit_refused);
    (void)snprintf(text, sizeof text, "%s%splugin_limit = refuse\n" CLUSTER, front, login);
    assert_int_equal(load_text(text), 0);
    assert_non_null(strstr(heard, "the Slurm of \"alps\" gives its own: set pool to"));
    assert_true(config->core.clusters[0].limit_refused);
    assert_true(config->core.clusters[0].plugin && !config->core.clusters[1].plugin);
    (void)snprintf(text, sizeof text, "%s%s" CLUSTER "[vni]\npool = 1024-2047\n", front, login);
    assert_int_equal(load_text(text), 0);
    assert_null(strstr(heard, "set pool to"));
}

/* S6: which interconnect a cluster's jobs are on, and what they get on Omni-Path. */
FOLDER_TEST(interconnects__are_configured)
{
    assert_int_equal(load_text("[omnipath]\npartition_keys = 1-14\npartition_key_hold = 5m\n"
                               "service_level = 3\ncontexts = 16\n"
                               "opx_hfi_select = numa:0:0,numa:1:1\npsm3_nic = hfi1_*\n"
                               "[cluster \"a\"]\nusers = root\n"
                               "[cluster \"b\"]\nusers = root\ninterconnect = omnipath\n"
                               "[cluster \"c\"]\nusers = root\ninterconnect = none\n"),
                     0);
    assert_string_equal(heard, "");
    const struct core_config *core = &config->core;
    assert_int_equal(core->omnipath.pkeys.count, 14);
    assert_int_equal(core->omnipath.pkey_hold_ms, 300000);
    assert_int_equal(core->omnipath.service_level, 3);
    assert_int_equal(core->omnipath.contexts, 16);
    assert_string_equal(core->omnipath.opx_hfi_select, "numa:0:0,numa:1:1");
    assert_string_equal(core->omnipath.psm3_nic, "hfi1_*");
    assert_int_equal(core->clusters[0].interconnect, INTERCONNECT_SLINGSHOT);
    assert_int_equal(core->clusters[1].interconnect, INTERCONNECT_OMNIPATH);
    assert_int_equal(core->clusters[2].interconnect, INTERCONNECT_NONE);
    assert_int_equal(load_text("[cluster \"a\"]\nusers = root\ninterconnect = omnipath\n"), 0);
    assert_int_equal(config->core.omnipath.pkey_hold_ms, 60000);
    assert_non_null(strstr(heard, "W mcastd.conf:3: interconnect = omnipath without "
                                  "partition_keys"));
    refused("[omnipath]\npartition_keys = 32767\nservice_level = 32\n" CLUSTER
            "interconnect = elan\n",
            "mcastd.conf:3: service_level = 32: allowed is a number of 0 to 31\n"
            "mcastd.conf:6: interconnect = elan: allowed is slingshot, omnipath or none\n"
            "mcastd.conf: [omnipath] partition_keys: those that jobs can have are 1-32766 "
            "(0x7ffe), without the bit of full membership\n");
}

/* Allowed, but what was meant by it does not come about. */
FOLDER_TEST(settings__without_effect_are_warned_of)
{
    assert_int_equal(load_text("[broker]\nmunge_socket = /nowhere/munge\nadmins = root cert:ops\n"
                               "[fm]\nurl = https://localhost:1\nauth = none\n"
                               "[hwcoll]\naddresses_per_job = 8\ntotal_addresses = 4086\n"
                               "[cluster \"elcap\"]\nusers = root\nbudget = 5000\n"),
                     0);
    assert_string_equal(heard, "W mcastd.conf:3: cert:ops matches no client: without tls_client_ca "
                               "in [broker] no certificate is accepted\n"
                               "W mcastd.conf:2: munge_socket = /nowhere/munge: No such file or "
                               "directory; credentials are refused until munged makes it\n"
                               "W mcastd.conf:6: " NO_LOGIN
                               "W mcastd.conf:12: budget = 5000 limits nothing: total_addresses in "
                               "[hwcoll] is 4086\n");
    heard[0] = '\0';
    write_text("a.pem", "");
    char text[512];
    (void)snprintf(text, sizeof text, CLUSTER "[broker]\ntls_cert = %s\ntls_key = %s\n",
                   path_of("a.pem"), path_of("a.pem"));
    assert_int_equal(load_text(text), 0);
    assert_string_equal(heard, "W mcastd.conf:4: the certificate is not used: set listen "
                               "too, or leave both out\n");
}

FOLDER_TEST(user__of_a_certificate_without_a_name_is_refused)
{
    refused("[cluster \"elcap\"]\nusers = root, cert: ops\n",
            "mcastd.conf:2: after cert: the name in the certificate is missing: cert:NAME, without "
            "a blank\n"
            "mcastd.conf:2: user ops is not known on this host: create it, or give its numeric "
            "uid\n");
}

/* What mcastd would not start with, the configuration's reader refuses. */
FOLDER_TEST(nodes__must_be_a_host_list)
{
    static const char *const bad[] = {"elcap[1-", "elcap[9-1]", "elcap[1-99999999]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[256], start[64];
        (void)snprintf(text, sizeof text, CLUSTER "nodes = %s\n", bad[i]);
        (void)snprintf(start, sizeof start, "mcastd.conf:3: nodes = %s: ", bad[i]);
        heard[0] = '\0';
        assert_int_equal(load_text(text), ERROR_INVALID);
        assert_memory_equal(heard, start, strlen(start));
    }
    assert_int_equal(load_text(CLUSTER "nodes = elcap[1-11136],login1\n"), 0);
}

/* One fault is one line: what seems to be missing because of it is not told too. */
FOLDER_TEST(fault__is_not_told_again_as_what_is_missing)
{
    refused(CLUSTER "[fm]\nurl = http://localhost:1\nauth = none\n[hwcoll]\nmin_nodes = many\n",
            "mcastd.conf:7: min_nodes = many: allowed is a number of 1 to 1000000\n");
}

/* A wrong file is told as such, not line for line. */
FOLDER_TEST(file__of_another_kind_is_given_up)
{
    char text[4096] = "";
    for (int i = 0; i < 500; i++)
        strcat(text, "\x7f"
                     "ELF..\n");
    assert_int_equal(load_text(text), ERROR_INVALID);
    size_t lines = 0;
    for (const char *at = heard; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 21);
    assert_non_null(strstr(heard, "20 faults: the rest of this file was not read\n"));
    heard[0] = '\0';
    assert_int_equal(config_load(config, folder, CONFIG_ANY_OWNER, NULL, on_report, NULL),
                     ERROR_INVALID);
    assert_non_null(strstr(heard, ": is a folder: name the file in it"));
    assert_null(strstr(heard, "no cluster"));
}

FOLDER_TEST(no_cluster__is_warned_of)
{
    assert_int_equal(load_text(""), 0);
    assert_string_equal(heard,
                        "W mcastd.conf: no cluster is configured, so every reservation is refused: "
                        "add [cluster \"NAME\"]\n");
}

/* P3: what jobs can ask for by one name. */
FOLDER_TEST(profiles__are_read)
{
    assert_int_equal(
        load_text("[cluster \"elcap\"]\nusers = root\n[cluster \"tuo\"]\nusers = root\n"
                  "[profile \"large\"]\ndescription = many nodes, and trees\n"
                  "vnis = 0\nhwcoll = on\ntraffic_classes = low_latency\n"
                  "clusters = tuo\naddresses = 46\n[profile \"plain\"]\n"),
        0);
    const struct profile_config *large = &config->core.profiles[0], *plain = large + 1;
    assert_int_equal(config->core.profile_count, 2);
    assert_string_equal(large->name, "large");
    assert_string_equal(config->profiles[0].description, "many nodes, and trees");
    assert_int_equal(large->vni_count, 0);
    assert_int_equal(large->wish, WISH_ON);
    assert_int_equal(large->classes, TC_LOW_LATENCY);
    assert_int_equal(large->clusters, 2);
    assert_int_equal(large->addresses, 46);
    assert_int_equal(large->interconnect, -1);
    assert_int_equal(plain->vni_count, -1);
    assert_int_equal(plain->wish, 0);
    assert_int_equal(plain->addresses, 0);
    assert_true(plain->clusters & 3);
}

FOLDER_TEST(profiles__that_cannot_be_are_refused)
{
#define ELCAP "[cluster \"elcap\"]\nusers = root\n"
    refused(ELCAP "[profile \"Large\"]\n",
            "mcastd.conf:3: profile \"Large\": allowed are 1 to 32 of a-z, 0-9 and _\n");
    refused(ELCAP "[profile \"large\"]\nclusters = elcap tuo\n",
            "mcastd.conf:4: clusters: there is no [cluster \"tuo\"]: name those that may use the "
            "profile\n");
    refused(ELCAP "[profile \"large\"]\nvnis = 5\n",
            "mcastd.conf:4: vnis = 5: allowed is site, 0, 1, 2, 3 or 4\n");
    refused(ELCAP "[profile \"large\"]\nvnis = 1\nvnis = 2\n",
            "mcastd.conf:5: vnis is set twice, first in line 4\n");
    refused(ELCAP "[profile \"large\"]\ntraffic_classes = bulk_data\n",
            "mcastd.conf: [profile \"large\"] traffic_classes: bulk_data is not in [vni] "
            "allowed_traffic_classes\n");
}

FOLDER_TEST(too_many_clusters__are_refused)
{
    char text[4096] = "";
    for (int i = 0; i <= CLUSTERS_MAX; i++) {
        size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "[cluster \"%c%c\"]\nusers = root\n",
                       'a' + i / 26, 'a' + i % 26);
    }
    refused(text, "mcastd.conf:129: cluster \"cm\" is one too many, at most 64 are allowed\n");
}

/* Takes the '#' from "#key = value" and "#[cluster …]". */
static void uncomment(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        bool starts = from == text || from[-1] == '\n';
        if (!(starts && *from == '#' && from[1] != ' '))
            *to++ = *from;
    }
    *to = '\0';
}

FOLDER_TEST(sample__is_a_configuration)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    config_print_sample(out);
    fclose(out);
    assert_int_equal(load_text(text), 0);
    assert_string_equal(heard,
                        "W mcastd.conf: no cluster is configured, so every reservation is refused: "
                        "add [cluster \"NAME\"]\n");

    /* With every key: all are known and well formed; only what this host lacks is told. */
    uncomment(text);
    heard[0] = '\0';
    (void)load_text(text);
    free(text);
    for (char *line = strtok(heard, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "W ", 2) != 0 && !strstr(line, "is not known on this host") &&
            !strstr(line, "No such file"))
            fail_msg("%s", line);
    }
    assert_int_equal(config->core.min_nodes, 64);
    assert_int_equal(config->core.cluster_count, 1);
}

FOLDER_TEST(help__explains_every_key)
{
    char *text;
    size_t length, count;
    FILE *out = open_memstream(&text, &length);
    config_print_help(out);
    fclose(out);
    const struct config_key *keys = config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "\n  %s = ", keys[i].name);
        assert_non_null(strstr(text, line));
    }
    assert_non_null(strstr(text, "[cluster \"NAME\"]"));
    free(text);
}

UNIT_RUN(NULL, NULL)
