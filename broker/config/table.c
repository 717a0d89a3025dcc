/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/table.h"

#include "base/roff.h"
#include "broker/config/config.h"
#include "broker/config/value.h"

#include <assert.h>
#include <string.h>
#include <syslog.h>

#define AT(member)                                                                                 \
    .offset = offsetof(struct config, member), .size = sizeof((struct config *)0)->member
#define IN_CLUSTER(member)                                                                         \
    .offset = offsetof(struct config_cluster, member),                                             \
    .size = sizeof((struct config_cluster *)0)->member

#define MINUTE (60 * INT64_C(1000))
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* clang-format off */
static const struct config_key table[] = {
    {"broker", "socket", CONFIG_PATH, "/run/mcastd/mcastd.sock", AT(socket), .restart = true,
     .sentence = "Unix socket for resource managers, mcastctl and hooks of this host."},
    {"broker", "socket_mode", CONFIG_MODE, "0666", AT(socket_mode), .restart = true,
     .sentence = "Mode of the socket file. Every user may connect: the kernel gives the uid of "
                 "each client, and job owners may read their own reservations."},
    {"broker", "socket_group", CONFIG_TEXT, NULL, AT(socket_group), .restart = true, .example = "slurm",
     .sentence = "Group of the socket file, for a socket_mode such as 0660."},
    {"broker", "listen", CONFIG_LISTEN, NULL, AT(listen), .restart = true, .example = "0.0.0.0:7470",
     .sentence = "TCP address besides the socket, with TLS unless it is loopback; port 0 takes a "
                 "free one, the log's READY line names it."},
    {"broker", "tls_cert", CONFIG_PATH, NULL, AT(tls_cert), .example = "/etc/mcastd/tls.crt",
     .sentence = "The broker's own certificate with its chain, PEM; read again at each reload."},
    {"broker", "tls_key", CONFIG_PATH, NULL, AT(tls_key), .example = "/etc/mcastd/tls.key",
     .sentence = "Its key, PEM; only the service's user may be able to read it."},
    {"broker", "tls_client_ca", CONFIG_PATH, NULL, AT(tls_client_ca), .example = "/etc/mcastd/client-ca.pem",
     .sentence = "CA file for clients' certificates; unset: client certificates are not "
                 "accepted."},
    {"broker", "munge_socket", CONFIG_PATH, NULL, AT(munge_socket), .example = "/run/munge/munge.socket.2",
     .sentence = "Socket of this host's munged; unset: MUNGE credentials are not taken. Root of "
                 "any host with the same MUNGE key can impersonate any user, but never root of "
                 "this one."},
    {"broker", "admins", CONFIG_USERS, "root", AT(admins),
     .sentence = "Users who may do everything; cert:NAME is a client with a certificate of that "
                 "name. The user nobody is refused: it stands for every user that the kernel "
                 "cannot name."},
    {"broker", "metrics_users", CONFIG_USERS, NULL, AT(metrics_users), .example = "cert:prometheus",
     .sentence = "Users who may read /metrics besides those with a role (admins, resource "
                 "managers, nodes), written as in admins; they may do nothing else."},
    {"broker", "metrics_anonymous", CONFIG_BOOL, "no", AT(metrics_anonymous),
     .sentence = "Whether every client that can connect may read /metrics, without "
                 "authentication."},
    {"broker", "root_key_file", CONFIG_PATH, NULL, AT(root_key_file), .restart = true,
     .example = "/var/lib/mcastd/root.keys",
     .sentence = "Keys that the broker's own bearer tokens are made with; made when missing, "
                 "mode 0600, replaced by mcastctl token rotate, and read again at each reload. "
                 "Unset: root.keys beside the ledger."},
    {"broker", "connections_max", CONFIG_NUMBER, "4096", AT(connections_max), .restart = true, .min = 16, .max = 65536,
     .sentence = "Connections at once; further ones get an answer to retry later."},
    {"broker", "log_level", CONFIG_CHOICE, "info", AT(log_level), .min = LOG_ERR,
     .words = "error|warning|notice|info|debug",
     .sentence = "Messages of this level and above are logged; debug logs each decision."},
    {"broker", "sync_grace", CONFIG_DURATION, "30s", AT(core.sync_grace_ms), .min = 10, .max = DAY,
     .sentence = "A job is released when two syncs of its cluster, or two runs of its "
                 "list_command, at least this far apart, both lack it."},
    {"broker", "tombstone", CONFIG_DURATION, "30s", AT(core.tombstone_ms), .min = 0, .max = HOUR,
     .sentence = "How long a release of an unknown job is remembered, for a reserve that it "
                 "overtook."},

    {"state", "store", CONFIG_CHOICE, "sqlite", AT(store), .restart = true, .min = CONFIG_STORE_SQLITE, .words = "sqlite|memory",
     .sentence = "Where reservations are kept; memory forgets everything at a restart."},
    {"state", "path", CONFIG_PATH, "/var/lib/mcastd/state.db", AT(state_path), .restart = true,
     .sentence = "The ledger's file, for store = sqlite; made when missing."},
    {"state", "key_file", CONFIG_PATH, "/etc/mcastd/state.key", AT(state_key_file), .restart = true,
     .sentence = "Key that seals secrets in the ledger; made at the first start, mode 0600. Keep "
                 "it out of the backups that hold the ledger."},
    {"state", "events_keep", CONFIG_NUMBER, "10000", AT(core.events_keep), .min = 1, .max = 10000000,
     .sentence = "Events kept for subscribers that come back and ask for what they missed."},
    {"state", "events_age", CONFIG_DURATION, "30d", AT(core.events_age_ms), .min = 0, .max = 3650 * DAY,
     .sentence = "Older events are dropped, in lots of 256; 0: however old."},

    {"fm", "url", CONFIG_URLS, NULL, AT(core.fm_urls), .example = "https://fmn:8000",
     .sentence = "Base URL of the fabric manager, or several of one fabric, tried in turn; the "
                 "one in use is handed to jobs. Unset: VNIs only, no multicast addresses."},
    {"fm", "auth", CONFIG_CHOICE, "basic", AT(fm_auth), .min = CONFIG_AUTH_BASIC, .words = "basic|oauth|none",
     .sentence = "How to log in to the fabric manager: basic, oauth (OAuth2 client credentials), "
                 "or none beside mtls_cert."},
    {"fm", "authdir", CONFIG_PATH, NULL, AT(fm_authdir), .example = "/etc/wlm-client-auth",
     .sentence = "Folder with the login; basic: the file passwd with the password of the user "
                 "cxi (unset: /etc/fmsim); oauth: endpoint, client-id, client-secret (unset: "
                 "/etc/wlm-client-auth). Only the service's user may be able to read them."},
    {"fm", "mtls_cert", CONFIG_PATH, NULL, AT(fm_mtls_cert), .example = "/etc/mcastd/fm-client.crt",
     .sentence = "Client certificate, PEM, shown to the fabric manager and to the OAuth2 "
                 "endpoint."},
    {"fm", "mtls_key", CONFIG_PATH, NULL, AT(fm_mtls_key), .example = "/etc/mcastd/fm-client.key",
     .sentence = "Its key, PEM; only the service's user may be able to read it."},
    {"fm", "ca", CONFIG_PATH, NULL, AT(fm_ca), .example = "/etc/mcastd/fm-ca.pem",
     .sentence = "CA file, or hashed CA folder, for the fabric manager's certificate; unset: the "
                 "system's."},
    {"fm", "verify", CONFIG_BOOL, "yes", AT(fm_verify),
     .sentence = "Whether the fabric manager's certificate is verified. With no, anyone on the "
                 "network path can read its login."},
    {"fm", "timeout", CONFIG_DURATION, "10s", AT(core.call_timeout_ms), .min = 100, .max = 10 * MINUTE,
     .sentence = "Longest time for one call of the fabric manager."},
    {"fm", "reserve_timeout", CONFIG_DURATION, "2s", AT(core.reserve_timeout_ms), .min = 10, .max = 5 * MINUTE,
     .sentence = "Longest time that a job's start waits for the fabric manager; then it runs "
                 "without."},
    {"fm", "parallel", CONFIG_NUMBER, "16", AT(core.calls_at_once), .min = 1, .max = 256,
     .sentence = "Calls of the fabric manager in progress at once."},
    {"fm", "relist", CONFIG_DURATION, "10m", AT(core.relist_ms), .min = 0, .max = 7 * DAY,
     .sentence = "How often all reservations are compared with the fabric manager's list; 0: "
                 "only after a reconnect."},
    {"fm", "grace", CONFIG_DURATION, "30s", AT(core.stray_grace_ms), .min = 10, .max = DAY, .older = "stray_grace",
     .sentence = "Time between two looks before something at the fabric manager is taken for "
                 "lost, or for a leftover. Its older name, stray_grace, is read too."},
    {"fm", "mass_loss_percent", CONFIG_NUMBER, "10", AT(core.mass_loss_percent), .min = 1, .max = 100,
     .sentence = "When more than this share of the reservations, and at least mass_loss_min, are "
                 "missing at the fabric manager, none is declared lost and none is deleted until "
                 "it agrees again or an administrator decides: mcastctl accept-loss."},
    {"fm", "mass_loss_min", CONFIG_NUMBER, "3", AT(core.mass_loss_min), .min = 1, .max = 1000000,
     .sentence = "How many must be missing at least for that; fewer are always lost one by one."},
    {"fm", "link_retry", CONFIG_DURATION, "1s", AT(core.link_retry_ms), .min = 10, .max = HOUR,
     .sentence = "First wait before logging in again after trouble; doubles up to 32 times it."},

    {"hwcoll", "min_nodes", CONFIG_NUMBER, NULL, AT(core.min_nodes), .min = 1, .max = 1000000, .example = "64",
     .sentence = "Jobs of at least this size get multicast addresses; unset: only jobs that ask."},
    {"hwcoll", "addresses_per_job", CONFIG_AUTO, "auto", AT(core.addresses_per_job), .min = 1, .max = 65536,
     .sentence = "Addresses for each job; auto is (total_addresses / (system_nodes / min_nodes)) "
                 "/ sharing."},
    {"hwcoll", "total_addresses", CONFIG_NUMBER, NULL, AT(core.total_addresses), .min = 1, .max = 65536,
     .example = "4086",
     .sentence = "Multicast addresses of the fabric; jobs together never ask for more."},
    {"hwcoll", "system_nodes", CONFIG_NUMBER, NULL, AT(core.system_nodes), .min = 1, .max = 1000000,
     .example = "11136",
     .sentence = "Nodes of the system."},
    {"hwcoll", "sharing", CONFIG_NUMBER, "1", AT(core.sharing), .min = 1, .max = 1024,
     .sentence = "Jobs that may share one node."},
    {"hwcoll", "job_url", CONFIG_URL, NULL, AT(core.job_url), .example = "https://fmn:8001",
     .sentence = "Base URL of the fabric manager that jobs get instead of the one in use: "
                 "libfabric shows no client certificate, so where [fm] url demands one, jobs "
                 "need another address, which does not. It must be https, or this host: jobs "
                 "send their session tokens there."},
    {"hwcoll", "job_ca", CONFIG_JOB_CA, "auto", AT(core.job_ca),
     .sentence = "How jobs verify the fabric manager: yes (the node's system store), no, or a "
                 "path that exists on this host and on the nodes; auto: no for http, else [fm] "
                 "ca, else yes."},

    {"hwcoll", "cleanup_timeout", CONFIG_DURATION, "10m", AT(core.cleanup_timeout_ms), .min = 100, .max = DAY,
     .sentence = "How long the broker retries to remove the trees of a step at the request of a "
                 "bearer of the job's token, also while the fabric manager is not reachable; "
                 "after that they stay until the job ends or the request is repeated."},
    {"hwcoll", "cleanup_login", CONFIG_BOOL, "no", AT(core.cleanup_login),
     .sentence = "Whether the broker's own login may be used for that, where the fabric manager "
                 "takes the job's token for neither the job nor its trees."},

    {"vni", "pool", CONFIG_IDSET, "1024-65535", AT(core.vni_pool),
     .sentence = "VNIs to give to jobs; 1 and 10 are never given, whatever stands here."},
    {"vni", "per_job", CONFIG_NUMBER, "1", AT(core.vni_per_job), .min = 0, .max = 4,
     .sentence = "VNIs of a job that does not say how many."},
    {"vni", "single_node", CONFIG_BOOL, "yes", AT(core.vni_single_node),
     .sentence = "Whether jobs of one node get VNIs too; MPI libraries want one there as well."},
    {"vni", "required", CONFIG_BOOL, "yes", AT(core.vni_required),
     .sentence = "Whether a job fails when it cannot have its VNIs."},
    {"vni", "hold", CONFIG_DURATION, "reports", AT(core.vni_hold_ms), .min = 0, .max = 7 * DAY, .words = "reports",
     .sentence = "How long a released VNI stays quarantined for nodes of its job that have not "
                 "reported. reports: until each reports that it is clean, or is fenced. A "
                 "duration: so long at most, for a site whose nodes do not report: a node that "
                 "has not reported may still use the VNI. Once all have reported it is free at "
                 "once; while one has reported services, only its report that they are gone or "
                 "that it has booted since, or a fence, frees it."},
    {"vni", "traffic_classes", CONFIG_CLASSES, "best_effort low_latency", AT(core.classes_default),
     .sentence = "Traffic classes of a job that does not say which. What node.conf of a node "
                 "does not allow, it does not get there."},
    {"vni", "allowed_traffic_classes", CONFIG_CLASSES, "best_effort low_latency",
     AT(core.classes_allowed),
     .sentence = "Those that a job may ask for; with any other it is refused. What is added here "
                 "has to be added to node.conf of the nodes, too: the prolog of a job that has "
                 "only others there fails."},

    {"cluster", "users", CONFIG_USERS, NULL, IN_CLUSTER(users), .example = "flux",
     .sentence = "Users who may act as the cluster's resource manager; cert:NAME is a client "
                 "with a certificate of that name."},
    {"cluster", "nodes", CONFIG_TEXT, NULL, IN_CLUSTER(nodes), .example = "elcap[1-11136]",
     .sentence = "Its nodes, as a host list: whose certificate carries one of these names may "
                 "act as that node, and so may root by a MUNGE credential that was made on an "
                 "address of the name."},
    {"cluster", "budget", CONFIG_NUMBER, NULL, IN_CLUSTER(budget), .min = 1, .max = 65536, .example = "2043",
     .sentence = "Multicast addresses that the cluster's jobs may hold together; unset: no limit "
                 "of its own."},
    {"cluster", "list_command", CONFIG_COMMAND, NULL, IN_CLUSTER(list_command),
     .example = "/usr/bin/squeue -h -a -r -t CF,R,RS,SI,S,ST,SO,CG,RQ -o %A",
     .sentence = "Prints the ids of all jobs that are active, one a line: jobs that it does not "
                 "name twice in a row, at least sync_grace apart, are released. It runs as the "
                 "service's user, without a shell. Only root and that user may be able to change "
                 "it."},
    {"cluster", "list_every", CONFIG_DURATION, "5m", IN_CLUSTER(list_every_ms), .min = 0, .max = 7 * DAY,
     .sentence = "How often list_command is run; 0: only after a start and when the fabric "
                 "manager is back."},
    {"cluster", "list_timeout", CONFIG_DURATION, "30s", IN_CLUSTER(list_timeout_ms), .min = 100, .max = HOUR,
     .sentence = "How long it may take; then it is killed, and nothing is concluded from it."},
};
/* clang-format on */

static_assert(sizeof table / sizeof table[0] <= CONFIG_KEYS_MAX, "raise CONFIG_KEYS_MAX");

const struct config_key *config_keys(size_t *count)
{
    *count = sizeof table / sizeof table[0];
    return table;
}

const struct config_key *config_key_find(const char *section, const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct config_key *key = &table[i];
        if (strcmp(key->section, section) == 0 &&
            (strcmp(key->name, name) == 0 || (key->older != NULL && strcmp(key->older, name) == 0)))
            return key;
    }
    return NULL;
}

/* ---- --help-config, the sample file, mcastd.conf(5) ---- */

/* Breaks the sentence into lines of at most 78 columns. */
static void print_wrapped(FILE *out, const char *prefix, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column != 0 && column + 1 + word > 78) {
            fputc('\n', out);
            column = 0;
        }
        if (column == 0)
            column = (size_t)fprintf(out, "%s%.*s", prefix, (int)word, text);
        else
            column += (size_t)fprintf(out, " %.*s", (int)word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static bool new_section(const struct config_key *keys, size_t row)
{
    return row == 0 || strcmp(keys[row].section, keys[row - 1].section) != 0;
}

void config_print_help(FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    fputs(
        "mcastd reads " CONFIG_DEFAULT_PATH " (--config FILE: another) and then *.conf in the\n"
        "folder conf.d beside it, in alphabetical order; what is read later overrides.\n"
        "Comments begin with ';' or '#' at the start of a line, or with ';' after a blank.\n"
        "Lists may go on in indented lines. SIGHUP (systemctl reload mcastd) applies changes, all\n"
        "of them or none; keys marked so need a restart.\n",
        out);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char allowed[CONFIG_ALLOWED_SIZE];
        config_value_allowed(key, allowed, sizeof allowed);
        if (new_section(keys, i))
            fprintf(out, strcmp(key->section, "cluster") == 0 ? "\n[%s \"NAME\"]\n" : "\n[%s]\n",
                    key->section);
        fprintf(out, "  %s = %s\n      default: %s%s\n", key->name, allowed,
                key->initial != NULL ? key->initial : "unset",
                key->restart ? "; a change needs a restart" : "");
        print_wrapped(out, "      ", key->sentence);
    }
}

void config_print_sample(FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    fputs("# mcastd's configuration. Every key is here; a key that is commented out shows its\n"
          "# default, or an example where there is none. `mcastd --help-config` says more,\n"
          "# `mcastd --check` reports faults.\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char allowed[CONFIG_ALLOWED_SIZE];
        config_value_allowed(key, allowed, sizeof allowed);
        if (new_section(keys, i) && strcmp(key->section, "cluster") == 0)
            fputs("\n# One such section for each resource manager; names are [a-z0-9_]+. On a "
                  "fabric\n"
                  "# shared with Slurm, a name must not begin with the name of a Slurm cluster.\n"
                  "#[cluster \"elcap\"]\n",
                  out);
        else if (new_section(keys, i))
            fprintf(out, "\n[%s]\n", key->section);
        fputc('\n', out);
        print_wrapped(out, "# ", key->sentence);
        fprintf(out, "# Allowed: %s.\n", allowed);
        fprintf(out, "#%s = %s\n", key->name, key->initial != NULL ? key->initial : key->example);
    }
}

/* ---- the manual page ---- */

static void man_key(FILE *out, const struct config_key *key)
{
    char allowed[CONFIG_ALLOWED_SIZE];
    config_value_allowed(key, allowed, sizeof allowed);
    fputs(".TP\n.B ", out);
    roff_text(out, key->name);
    fputc('\n', out);
    roff_text(out, key->sentence);
    fputs("\n.br\nAllowed: ", out);
    roff_text(out, allowed);
    fputs(".\n.br\n", out);
    fputs(key->initial != NULL ? "Default: " : "Default: unset", out);
    roff_text(out, key->initial != NULL ? key->initial : "");
    fputs(key->restart ? "; a change needs a restart.\n" : ".\n", out);
}

static void man_restart_keys(FILE *out, const struct config_key *keys, size_t count)
{
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        if (!keys[i].restart)
            continue;
        fputs(before, out);
        roff_text(out, "[");
        roff_text(out, keys[i].section);
        roff_text(out, "] ");
        roff_text(out, keys[i].name);
        before = ",\n";
    }
    fputs(".\n", out);
}

void config_print_man(FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    roff_title(out, "MCASTD.CONF", 5);
    fputs(".SH NAME\nmcastd.conf \\- configuration of mcastd\n"
          ".SH SYNOPSIS\n.I /etc/mcastd/mcastd.conf\n.br\n.I /etc/mcastd/conf.d/*.conf\n"
          ".SH DESCRIPTION\n.BR mcastd (8)\n"
          "reads the file and then those in the folder\n.I conf.d\nbeside it whose names end in\n"
          ".IR .conf ,\nin alphabetical order; what is read later overrides.\n"
          ".PP\nSections are\n.BR [ name ]\nlines, keys are\n.IB key \" = \" value\nlines.\n"
          "Comments begin with ; or # at the start of a line, or with ; after a blank.\n"
          "Lists may go on in indented lines.\nDurations are like 500ms, 2s, 10m, 1h or 7d.\n"
          ".PP\n.B mcastd --check\nreports faults, with file and line.\n"
          ".B mcastd --sample-config\nprints a file to begin with.\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (new_section(keys, i))
            fprintf(out,
                    /* In the arguments of a request, quotes are roff's. */
                    strcmp(keys[i].section, "cluster") == 0 ? ".SH [%s \\(dqNAME\\(dq]\n"
                                                            : ".SH [%s]\n",
                    keys[i].section);
        if (new_section(keys, i) && strcmp(keys[i].section, "cluster") == 0)
            fputs("One such section for each resource manager; names are of a\\-z, 0\\-9 and _.\n"
                  "On a fabric shared with Slurm, a name must not begin with the name of a Slurm\n"
                  "cluster that talks to the fabric manager itself: Slurm deletes by prefix.\n",
                  out);
        man_key(out, &keys[i]);
    }
    fputs(".SH RELOAD\n"
          "On SIGHUP\n.B mcastd\nreads all of it again and applies it wholly, or changes nothing "
          "and\n"
          "logs why. Certificates, keys and logins are read again with it.\nA restart is needed "
          "for\n",
          out);
    man_restart_keys(out, keys, count);
    fputs(".SH SEE ALSO\n.BR mcastd (8),\n.BR mcastctl (1)\n", out);
}
