/* SPDX-License-Identifier: Apache-2.0 */
#include "node/settings.h"

#include "base/duration.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/nodelist.h"
#include "base/roff.h"
#include "base/text.h"
#include "core/reservation/record.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum type {
    TEXT,
    PATH,     /* absolute, or "" */
    CLUSTER,  /* a cluster's name, or "" */
    DURATION, /* int64_t ms */
    BOOL,
    NUMBER,   /* uint32_t, 0 to max */
    CLASSES,  /* uint32_t */
    COUNTERS, /* names, as in a node list, or "" */
    IDSET,
};

static const char *const allowed_words[] = {
    [TEXT] = "text",
    [PATH] = "an absolute path",
    [CLUSTER] = "1 to 32 of a-z, 0-9 and _",
    [DURATION] = "a duration such as 500ms, 5s or 10m, up to 24h",
    [BOOL] = "yes or no",
    [CLASSES] = "one or more of best_effort, low_latency, bulk_data, dedicated_access",
    [COUNTERS] = "names of at most 64 counters such as hni_tx_paused_[0-7], or nothing",
    [IDSET] = "ids and ranges such as 1024-2047,4096",
};

struct key {
    const char *name;
    enum type type;
    size_t offset;
    uint32_t max; /* NUMBER */
    const char *initial;
    const char *sentence;
};

#define AT(member) offsetof(struct settings, member)

static const struct key keys[] = {
    {"url", TEXT, AT(url), 0, "",
     "The broker: https://host:port, or unix:/path; or several, separated by commas, of which the "
     "one that leads is followed. Empty: MCAST_URL, or its socket on this host."},
    {"cacert", PATH, AT(cacert), 0, "",
     "What signed the broker's certificate, a PEM file. Name one: the system's store takes longer "
     "to read than all else that mcast-node does."},
    {"cert", PATH, AT(cert), 0, "",
     "Certificate that names this node, PEM. Without it, and but on the socket of the broker's own "
     "host, root's MUNGE credential says which host this is."},
    {"key", PATH, AT(key), 0, "", "The certificate's key, PEM, readable by root alone."},
    {"munge_socket", PATH, AT(munge_socket), 0, "",
     "Of munged, where there is no certificate. Empty: libmunge's own."},
    {"server_user", TEXT, AT(server_user), 0, "",
     "Who may serve the broker's Unix socket besides root and the owner of its folder: a name or a "
     "uid. Empty: MCAST_SERVER_USER, if it is set."},
    {"launch_user", TEXT, AT(launch_user), 0, "mcastd",
     "Who makes launch documents: the user that the broker runs as, by name or uid, which the "
     "environment's MCAST_LAUNCH_USER overrides. A document of another user is refused."},
    {"launch_key", PATH, AT(launch_key), 0, "",
     "File with what mcastd --node-launch-key prints, where launch documents are sealed with the "
     "broker's launch key: readable by root alone. Empty: they are MUNGE credentials."},
    {"timeout", DURATION, AT(timeout_ms), 0, "30s",
     "How long to wait for one answer, the connection included, which has five seconds at most "
     "until it is open: a busy broker accepts all nodes at once and serves them one after the "
     "other."},
    {"busy_retry", DURATION, AT(busy_ms), 0, "30s",
     "How long to ask on while the broker is busy or does not answer in time: all nodes of a large "
     "job come to it at once. prolog and env, which need its answer, also wait so long for one "
     "that is being restarted."},
    {"cluster", CLUSTER, AT(cluster), 0, "",
     "The resource manager's cluster that this node is in."},
    {"node", TEXT, AT(node), 0, "",
     "This node's name in job's node lists. Empty: SLURMD_NODENAME, or the host's name up to its "
     "first dot."},
    {"spool", PATH, AT(spool), 0, "/var/lib/mcast-node",
     "Folder for the services that the node made and the reports that the broker has not received "
     "yet. It must outlive processes, and may be lost when the machine boots."},
    {"report", BOOL, AT(report), 0, "yes",
     "Whether created and destroyed services are reported to the broker. With no, for nodes that "
     "cannot reach it, a released VNI is quarantined for as long as [vni] hold says."},
    {"missed_every", DURATION, AT(missed_ms), 0, "30m",
     "The longest time after which tend asks the broker again for jobs that were over before this "
     "node heard of them (cancelled before their prologs). Their VNIs wait for this node's report. "
     "0s: it never asks; they wait until the node has booted or is fenced."},
    {"inventory", BOOL, AT(inventory), 0, "yes",
     "Whether tend reports the node's NICs to the broker when they have changed."},
    {"inventory_spread", DURATION, AT(inventory_ms), 0, "10m",
     "After a boot they are reported within this time, at a moment that depends on the node's "
     "name: "
     "all nodes of a machine may boot together."},
    {"sysfs", PATH, AT(sysfs), 0, "/sys/class/cxi",
     "Where the driver's files about NICs are: serial numbers, firmware, counters."},
    {"traffic", BOOL, AT(traffic), 0, "yes",
     "Whether the NICs' counters are read before and after a job and told with the report that it "
     "has ended here."},
/* clang-format off */
#define COUNTERS_(key, kind, names, words)                                                        \
    {"traffic_" key, COUNTERS, AT(counters[kind]), 0, names,                                      \
     "Counters of a NIC (below sysfs, in telemetry) that together are " words "."},
    COUNTERS_("tx_octets", TRAFFIC_TX_OCTETS, "hni_sts_tx_ok_octets", "what it has sent")
    COUNTERS_("rx_octets", TRAFFIC_RX_OCTETS, "hni_sts_rx_ok_octets", "what it has received")
    COUNTERS_("tx_packets", TRAFFIC_TX_PACKETS, "hni_pkts_sent_by_tc_[0-7]", "the packets sent")
    COUNTERS_("rx_packets", TRAFFIC_RX_PACKETS, "hni_pkts_recv_by_tc_[0-7]", "the packets received")
    COUNTERS_("paused", TRAFFIC_PAUSED, "hni_rx_paused_[0-7],hni_tx_paused_[0-7]",
              "how long it was paused, in cycles of its clock")
#undef COUNTERS_
    /* clang-format on */
    {"libcxi", TEXT, AT(libcxi), 0, "libcxi.so.1",
     "HPE's library, by name or path; it is opened when it is needed."},
    {"min_nics", NUMBER, AT(min_nics), 16, "1",
     "A job with VNIs fails on a node with fewer NICs. 0: nodes without NICs take part."},
    {"single_node", BOOL, AT(single_node), 0, "yes",
     "Whether jobs on a single node get services, if they have VNIs. With no, some MPIs do not "
     "start on one node."},
    {"traffic_classes", CLASSES, AT(traffic_classes), 0, "best_effort low_latency",
     "What jobs may have here, of best_effort, low_latency, bulk_data, dedicated_access. A job "
     "gets those of its reservation that are allowed."},
    {"vnis", IDSET, AT(vnis), 0, "1024-65535",
     "VNIs that jobs may have here, which the broker's [vni] pool lies within. For others no "
     "service is made, whatever the broker says; never for 1 and 10, which are the system's."},
    {"pool", IDSET, AT(pool), 0, "",
     "VNIs that are mcastd's alone on this node, such as 1024-65535: a service for one of them "
     "that is not known is a leftover. Empty: only what this node remembers to have made is."},
    {"adjust_limits", BOOL, AT(adjust_limits), 0, "yes",
     "Whether a job gets what is left when a NIC has less free than the job is to have reserved. "
     "With no, it fails."},
    {"epilog_retry", DURATION, AT(epilog_ms), 0, "5s",
     "How long epilog tries to destroy a service that is busy."},
    {"housekeeping", BOOL, AT(housekeeping), 0, "no",
     "Whether housekeeping follows on each epilog here, as under Flux. With yes, what an epilog "
     "leaves busy is reported as lingering by housekeeping only, when nothing else is to come but "
     "draining the "
     "node."},
    {"housekeeping_retry", DURATION, AT(housekeeping_ms), 0, "5m", "How long housekeeping does."},
/* clang-format off */
#define LIMITS_(type, key, words, per_core, most, total)                                           \
    {"def_" #key, NUMBER, AT(limits.of[CXI_RSRC_TYPE_##type].def), 65535, #per_core,               \
     "Reserved per core: " words "."},                                                             \
    {"res_" #key, NUMBER, AT(limits.of[CXI_RSRC_TYPE_##type].res), 65535, "0",                     \
     "Reserved for a job, however many cores it has; 0: def_" #key " for each core."},             \
    {"max_" #key, NUMBER, AT(limits.of[CXI_RSRC_TYPE_##type].max), 65535, #most,                   \
     "The most of them that a job may use or reserve; no more than the NIC has."},
    /* clang-format on */
    LIMITS_RESOURCES(LIMITS_)
#undef LIMITS_
};

enum { COUNTERS_MAX = 64, KEY_COUNT = sizeof keys / sizeof keys[0] };

static const char *allowed_values(const struct key *key, char out[64])
{
    if (key->type != NUMBER)
        return allowed_words[key->type];
    snprintf(out, 64, "a number from 0 to %u", key->max);
    return out;
}

bool settings_duration(const char *text, unsigned int forms, int64_t *ms)
{
    const int64_t parsed = duration_parse(text, forms, DURATION_DAY_MS);
    if (parsed >= 0)
        *ms = parsed;
    return parsed >= 0;
}

bool settings_number(const char *text, uint32_t max, uint32_t *out)
{
    uint64_t value = 0;
    bool good = text_number(text, 10, max, &value);
    if (good)
        *out = (uint32_t)value;
    return good;
}

static bool set_classes(char *text, uint32_t *out)
{
    uint32_t bits = 0;
    for (char *word; (word = strsep(&text, " \t,"));) {
        int bit = word[0] ? traffic_class_from_word(word) : 0;
        if (word[0] && bit == 0)
            return false;
        bits |= (uint32_t)bit;
    }
    if (bits != 0)
        *out = bits;
    return bits != 0;
}

/* value is changed. */
static bool set_key_value(const struct key *key, struct settings *settings, char *value)
{
    void *place = (char *)settings + key->offset;
    uint32_t count;
    switch (key->type) {
    case PATH:
        if (value[0] != '\0' && value[0] != '/')
            return false;
        break;
    case CLUSTER:
        if (value[0] != '\0' && !cluster_name_valid(value))
            return false;
        break;
    case DURATION:
        return settings_duration(value, 0, place);
    case BOOL:
        *(bool *)place = strcmp(value, "yes") == 0;
        return *(bool *)place || strcmp(value, "no") == 0;
    case NUMBER:
        return settings_number(value, key->max, place);
    case CLASSES:
        return set_classes(value, place);
    case COUNTERS:
        if (value[0] != '\0' && (nodelist_count(value, &count, NULL) < 0 || count > COUNTERS_MAX))
            return false;
        break;
    case IDSET:
        return idset_parse(place, value, NULL) == 0;
    case TEXT:
        break;
    }
    if (strlen(value) >= SETTINGS_TEXT_SIZE)
        return false;
    strcpy(place, value);
    return true;
}

void settings_init(struct settings *settings)
{
    *settings = (struct settings){0};
    for (size_t i = 0; i < KEY_COUNT; i++) {
        char value[SETTINGS_TEXT_SIZE];
        snprintf(value, sizeof value, "%s", keys[i].initial);
        bool good = set_key_value(&keys[i], settings, value);
        assert(good);
        (void)good;
    }
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

/* ---- The file ---- */

/* What is wrong with the line goes to err; negative then. */
static int read_line(struct settings *settings, char *line, unsigned int number,
                     unsigned int seen[KEY_COUNT], struct error *err)
{
    char allowed[64], *equals = strchr(line, '=');
    line = text_trim(line);
    if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
        return 0;
    if (!equals)
        return error_set(err, ERROR_INVALID, "'%.80s' is not key = value", line);
    *equals = '\0';
    const char *name = text_trim(line);
    const struct key *key = find_key(name);
    if (!key)
        return error_set(err, ERROR_INVALID,
                         "there is no key '%.80s'; mcast-node --help-config lists them", name);
    unsigned int *before = &seen[key - keys];
    if (*before)
        return error_set(err, ERROR_INVALID, "%s is set in line %u already", key->name, *before);
    *before = number;
    if (!set_key_value(key, settings, text_trim(equals + 1)))
        return error_set(err, ERROR_INVALID, "%s must be %s", key->name,
                         allowed_values(key, allowed));
    return 0;
}

unsigned int settings_parse(struct settings *settings, char *text, const char *name, FILE *faults)
{
    unsigned int seen[KEY_COUNT] = {0};
    unsigned int number = 0, count = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        struct error err;
        if (read_line(settings, line, ++number, seen, &err) == 0)
            continue;
        fprintf(faults, "%s:%u: %s\n", name, number, err.text);
        count++;
    }
    if ((settings->cert[0] == '\0') != (settings->key[0] == '\0')) {
        fprintf(faults, "%s: cert and key go together\n", name);
        count++;
    }
    return count;
}

unsigned int settings_read(struct settings *settings, const char *path, bool may_be_missing,
                           FILE *faults)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT && may_be_missing)
        return 0;
    errno = file ? 0 : errno;
    ssize_t length = file ? getdelim(&text, &size, '\0', file) : -1;
    unsigned int count = 0;
    if (!file || ferror(file)) {
        fprintf(faults, "%s: it cannot be read: %s\n", path, strerror(errno));
        count = 1;
    } else if (length >= 0 && strlen(text) != (size_t)length) {
        fprintf(faults, "%s: it is not a text file\n", path);
        count = 1;
    } else if (length >= 0) {
        count = settings_parse(settings, text, path, faults);
    }
    if (file)
        fclose(file);
    free(text);
    return count;
}

/* ---- What a job wants ---- */

/* ERROR_INVALID: it is not understood; ERROR_FULL: as much of it is given as is allowed. */
static int apply_job_limit(const struct limits_rules *site, struct settings *settings, char *word,
                           struct error *err)
{
    char *value = strchr(word, '=');
    uint32_t number;
    bool adjust = strcmp(word, "adjust_limits") == 0;
    if (adjust || strcmp(word, "no_adjust_limits") == 0) {
        settings->adjust_limits = adjust;
        return 0;
    }
    if (value)
        *value = '\0';
    const struct key *key = value ? find_key(word) : NULL;
    if (value)
        *value = '=';
    if (!key || key->offset < AT(limits) || !settings_number(value + 1, key->max, &number))
        return error_set(
            err, ERROR_INVALID,
            "'%.60s' is not understood, the job goes without: def_, res_ or max_ and one "
            "of txqs, tgqs, eqs, cts, tles, ptes, les, acs, = and a number up to "
            "65535; or adjust_limits, or no_adjust_limits",
            word);
    uint32_t most = site->of[(key->offset - AT(limits)) / sizeof site->of[0]].max;
    *(uint32_t *)((char *)settings + key->offset) = number < most ? number : most;
    if (number <= most)
        return 0;
    return error_set(err, ERROR_FULL, "%s is too much, the job gets %u (node.conf: max_%s)", word,
                     most, key->name + sizeof "max_" - 1);
}

void settings_apply_job_limits(struct settings *settings, const char *text, settings_warn_fn *warn,
                               void *arg)
{
    const struct limits_rules site = settings->limits;
    char *copy = memory_text(text), *rest = copy;
    for (char *word; (word = strsep(&rest, " \t\r\n,"));) {
        struct error err;
        if (word[0] && apply_job_limit(&site, settings, word, &err) < 0)
            warn(arg, err.text);
    }
    free(copy);
}

/* ---- For people ---- */

void settings_print_sample(FILE *out)
{
    char text[64];
    fputs("# mcast-node's configuration. What is commented out is the default.\n", out);
    for (const struct key *key = keys; key < keys + KEY_COUNT; key++)
        fprintf(out, "\n# %s\n# %s\n#%s =%s%s\n", key->sentence, allowed_values(key, text),
                key->name, key->initial[0] ? " " : "", key->initial);
}

void settings_print_page(FILE *out)
{
    char text[64];
    for (const struct key *key = keys; key < keys + KEY_COUNT; key++) {
        fputs(".TP\n.B ", out);
        roff_text(out, key->name);
        fputc('\n', out);
        roff_text(out, key->sentence);
        fputs("\n.br\nAllowed: ", out);
        roff_text(out, allowed_values(key, text));
        fputs("; default: ", out);
        roff_text(out, key->initial[0] ? key->initial : "none");
        fputs(".\n", out);
    }
}
