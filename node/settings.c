/* SPDX-License-Identifier: Apache-2.0 */
#include "node/settings.h"

#include "base/duration.h"
#include "base/names.h"
#include "core/reservation/record.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum type {
    TYPE_TEXT,
    TYPE_PATH,     /* absolute, or "" */
    TYPE_CLUSTER,  /* a cluster's name, or "" */
    TYPE_DURATION, /* int64_t ms */
    TYPE_BOOL,
    TYPE_NUMBER,  /* uint32_t, 0 to max */
    TYPE_CLASSES, /* uint32_t */
    TYPE_IDSET,
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
    {"url", TYPE_TEXT, AT(url), 0, "",
     "The broker: https://host:port, or unix:/path. Empty: MCAST_URL, or its socket on this host."},
    {"cacert", TYPE_PATH, AT(cacert), 0, "",
     "What signed the broker's certificate, a PEM file. Name one: the system's store takes longer "
     "to read than all else that mcast-node does."},
    {"cert", TYPE_PATH, AT(cert), 0, "",
     "Certificate that names this node, PEM. Without it, and but on the socket of the broker's own "
     "host, root's MUNGE credential says which host this is."},
    {"key", TYPE_PATH, AT(key), 0, "", "The certificate's key, PEM, readable by root alone."},
    {"munge_socket", TYPE_PATH, AT(munge_socket), 0, "",
     "Of munged, where there is no certificate. Empty: libmunge's own."},
    {"server_user", TYPE_TEXT, AT(server_user), 0, "",
     "Who may serve the broker's Unix socket besides root and the owner of its folder: a name or a "
     "uid. Empty: MCAST_SERVER_USER, if it is set."},
    {"timeout", TYPE_DURATION, AT(timeout_ms), 0, "5s",
     "How long to wait for one answer, the connection included, which has five seconds at most."},
    {"busy_retry", TYPE_DURATION, AT(busy_ms), 0, "30s",
     "How long to ask on while the broker is busy or does not answer in time: all nodes of a large "
     "job come to it at once. prolog and env, which need its answer, also wait so long for one "
     "that is being restarted."},
    {"cluster", TYPE_CLUSTER, AT(cluster), 0, "",
     "The resource manager's cluster that this node is in."},
    {"node", TYPE_TEXT, AT(node), 0, "",
     "This node's name in job's node lists. Empty: SLURMD_NODENAME, or the host's name up to its "
     "first dot."},
    {"spool", TYPE_PATH, AT(spool), 0, "/var/lib/mcast-node",
     "Folder for the services that the node made and the reports that the broker has not received "
     "yet. It must outlive processes, and may be lost when the machine boots."},
    {"report", TYPE_BOOL, AT(report), 0, "yes",
     "Whether created and destroyed services are reported to the broker. With no, for nodes that "
     "cannot reach it, a released VNI is quarantined for as long as [vni] hold says."},
    {"libcxi", TYPE_TEXT, AT(libcxi), 0, "libcxi.so.1",
     "HPE's library, by name or path; it is opened when it is needed."},
    {"min_nics", TYPE_NUMBER, AT(min_nics), 16, "1",
     "A job with VNIs fails on a node with fewer NICs. 0: nodes without NICs take part."},
    {"single_node", TYPE_BOOL, AT(single_node), 0, "yes",
     "Whether jobs on a single node get services, if they have VNIs. With no, some MPIs do not "
     "start on one node."},
    {"traffic_classes", TYPE_CLASSES, AT(traffic_classes), 0, "best_effort low_latency",
     "What jobs may have here, of best_effort, low_latency, bulk_data, dedicated_access. A job "
     "gets those of its reservation that are allowed."},
    {"vnis", TYPE_IDSET, AT(vnis), 0, "1024-65535",
     "VNIs that jobs may have here, which the broker's [vni] pool lies within. For others no "
     "service is made, whatever the broker says; never for 1 and 10, which are the system's."},
    {"pool", TYPE_IDSET, AT(pool), 0, "",
     "VNIs that are mcastd's alone on this node, such as 1024-65535: a service for one of them "
     "that "
     "is not known is a leftover. Empty: only what this node remembers to have made is."},
    {"adjust_limits", TYPE_BOOL, AT(adjust_limits), 0, "yes",
     "Whether a job gets what is left when a NIC has less free than the job is to have reserved. "
     "With no, it fails."},
    {"epilog_retry", TYPE_DURATION, AT(epilog_ms), 0, "5s",
     "How long epilog tries to destroy a service that is busy."},
    {"housekeeping", TYPE_BOOL, AT(housekeeping), 0, "no",
     "Whether housekeeping follows on each epilog here, as under Flux. With yes, what an epilog "
     "leaves busy is "
     "reported as lingering by housekeeping only, when nothing else is to come but draining the "
     "node."},
    {"housekeeping_retry", TYPE_DURATION, AT(housekeeping_ms), 0, "5m",
     "How long housekeeping does."},
#define LIMITS_(type, key, words, per_core, most)                                                  \
    {"def_" #key, TYPE_NUMBER, AT(limits.of[CXI_RSRC_TYPE_##type].def),                            \
     65535,       #per_core,   "Reserved per core: " words "."},                                   \
        {"res_" #key,                                                                              \
         TYPE_NUMBER,                                                                              \
         AT(limits.of[CXI_RSRC_TYPE_##type].res),                                                  \
         65535,                                                                                    \
         "0",                                                                                      \
         "Reserved for a job, however many cores it has; 0: def_" #key " for each core."},         \
        {"max_" #key,                                                                              \
         TYPE_NUMBER,                                                                              \
         AT(limits.of[CXI_RSRC_TYPE_##type].max),                                                  \
         65535,                                                                                    \
         #most,                                                                                    \
         "The most of them that a job may use or reserve; no more than the NIC has."},
    LIMITS_RESOURCES(LIMITS_)
#undef LIMITS_
};

enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static const char *allowed_values(const struct key *key, char out[64])
{
    switch (key->type) {
    case TYPE_TEXT:
        return "text";
    case TYPE_PATH:
        return "an absolute path";
    case TYPE_CLUSTER:
        return "1 to 32 of a-z, 0-9 and _";
    case TYPE_DURATION:
        return "a duration such as 500ms, 5s or 10m, up to 24h";
    case TYPE_BOOL:
        return "yes or no";
    case TYPE_CLASSES:
        return "one or more of best_effort, low_latency, bulk_data, dedicated_access";
    case TYPE_IDSET:
        return "ids and ranges such as 1024-2047,4096";
    case TYPE_NUMBER:
        break;
    }
    snprintf(out, 64, "a number from 0 to %u", key->max);
    return out;
}

bool settings_duration(const char *text, int64_t *ms)
{
    int64_t value = duration_parse(text, 0, DURATION_DAY_MS);
    if (value >= 0)
        *ms = value;
    return value >= 0;
}

static bool set_number(const char *text, uint32_t max, uint32_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || errno || value > max)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool set_classes(char *text, uint32_t *out)
{
    uint32_t bits = 0;
    for (char *word; (word = strsep(&text, " \t,")) != NULL;) {
        int bit = word[0] ? traffic_class_from_word(word) : 0;
        if (word[0] && bit == 0)
            return false;
        bits |= (uint32_t)bit;
    }
    if (bits != 0)
        *out = bits;
    return bits != 0;
}

static bool set_text(const char *text, char *out)
{
    size_t length = strlen(text);
    if (length >= SETTINGS_TEXT_SIZE)
        return false;
    memcpy(out, text, length + 1);
    return true;
}

/* value is changed. */
static bool set_key_value(const struct key *key, struct settings *settings, char *value)
{
    void *place = (char *)settings + key->offset;
    switch (key->type) {
    case TYPE_TEXT:
        return set_text(value, place);
    case TYPE_PATH:
        return (value[0] == '\0' || value[0] == '/') && set_text(value, place);
    case TYPE_CLUSTER:
        return (value[0] == '\0' || cluster_name_valid(value)) && set_text(value, place);
    case TYPE_DURATION:
        return settings_duration(value, place);
    case TYPE_BOOL:
        *(bool *)place = strcmp(value, "yes") == 0;
        return *(bool *)place || strcmp(value, "no") == 0;
    case TYPE_NUMBER:
        return set_number(value, key->max, place);
    case TYPE_CLASSES:
        return set_classes(value, place);
    case TYPE_IDSET:
        return idset_parse(place, value, NULL) == 0;
    }
    return false;
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

static char *trim_blanks(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    }
    return NULL;
}

/* Begins a fault's line, which the caller ends. */
static FILE *begin_fault_line(FILE *out, const char *name, unsigned int line)
{
    fprintf(out, "%s:%u: ", name, line);
    return out;
}

static unsigned int read_line(struct settings *settings, char *line, const char *name,
                              unsigned int number, unsigned int seen[KEY_COUNT], FILE *faults)
{
    line = trim_blanks(line);
    if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
        return 0;
    char *equals = strchr(line, '=');
    if (!equals) {
        fprintf(begin_fault_line(faults, name, number), "'%.80s' is not key = value\n", line);
        return 1;
    }
    *equals = '\0';
    const char *word = trim_blanks(line);
    const struct key *key = find_key(word);
    if (!key) {
        fprintf(begin_fault_line(faults, name, number),
                "there is no key '%.80s'; mcast-node --help-config lists them\n", word);
        return 1;
    }
    unsigned int *before = &seen[key - keys];
    if (*before) {
        fprintf(begin_fault_line(faults, name, number), "%s is set in line %u already\n", key->name,
                *before);
        return 1;
    }
    *before = number;
    if (!set_key_value(key, settings, trim_blanks(equals + 1))) {
        char text[64];
        fprintf(begin_fault_line(faults, name, number), "%s must be %s\n", key->name,
                allowed_values(key, text));
        return 1;
    }
    return 0;
}

unsigned int settings_parse(struct settings *settings, char *text, const char *name, FILE *faults)
{
    unsigned int seen[KEY_COUNT] = {0};
    unsigned int number = 0, count = 0;
    for (char *line; (line = strsep(&text, "\n")) != NULL;)
        count += read_line(settings, line, name, ++number, seen, faults);
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

void settings_each(settings_key_fn *each, void *arg)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        char text[64];
        each(arg, keys[i].name, allowed_values(&keys[i], text), keys[i].initial, keys[i].sentence);
    }
}

static void print_key(void *arg, const char *name, const char *allowed_values, const char *initial,
                      const char *sentence)
{
    FILE *out = arg;
    fprintf(out, "\n# %s\n# %s\n#%s =%s%s\n", sentence, allowed_values, name, initial[0] ? " " : "",
            initial);
}

void settings_print_sample(FILE *out)
{
    fputs("# mcast-node's configuration. What is commented out is the default.\n", out);
    settings_each(print_key, out);
}
