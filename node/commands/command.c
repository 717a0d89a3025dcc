/* SPDX-License-Identifier: Apache-2.0 */
#include "node/commands/command.h"

#include "base/jobid.h"
#include "node/say.h"
#include "node/services/wishes.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_CONFIG = 256,
    OPTION_URL,
    OPTION_CLUSTER,
    OPTION_NODE,
    OPTIONS_MAX = 24,
};

static const struct option shared[] = {
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"url", required_argument, NULL, OPTION_URL},
    {"cluster", required_argument, NULL, OPTION_CLUSTER},
    {"node", required_argument, NULL, OPTION_NODE},
    {"help", no_argument, NULL, 'h'},
};
enum { SHARED_COUNT = sizeof shared / sizeof shared[0] };

const char command_common_usage[] =
    "Common options:\n"
    "  --config FILE    instead of " SETTINGS_DEFAULT_FILE ", which may be missing\n"
    "  --url URL        the broker (default: MCAST_URL, node.conf, or its socket on this host)\n"
    "  --cluster NAME   the resource manager's cluster (default: MCAST_CLUSTER, node.conf)\n"
    "  --node NAME      this node in job's node lists (default: node.conf, SLURMD_NODENAME, or\n"
    "                   the host's name up to its first dot)\n"
    "  -h, --help       this text\n";

/* What the common options say, before node.conf is read. */
struct common {
    const char *config, *url, *cluster, *node;
};

static bool read_common_option(struct common *common, int option, const char *value)
{
    switch (option) {
    case OPTION_CONFIG:
        common->config = value;
        return true;
    case OPTION_URL:
        common->url = value;
        return true;
    case OPTION_CLUSTER:
        common->cluster = value;
        return true;
    case OPTION_NODE:
        common->node = value;
        return true;
    default:
        return false;
    }
}

static const char *get_variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && value[0] ? value : NULL;
}

static const char *first_given(const char *a, const char *b, const char *c)
{
    const char *found = a ? a : b;
    return found ? found : (c && c[0] ? c : NULL);
}

static void name_node(struct node *node, const char *given)
{
    char host[NOTE_NODE_SIZE];
    const char *configured = node->settings.node[0] ? node->settings.node : NULL;
    const char *name = first_given(given, configured, get_variable("SLURMD_NODENAME"));
    node->name_is = given ? "--node" : configured ? "node.conf" : "SLURMD_NODENAME";
    if (!name) {
        node->name_is = "host name";
        if (gethostname(host, sizeof host) < 0)
            host[0] = '\0';
        host[sizeof host - 1] = '\0';
        host[strcspn(host, ".")] = '\0';
        name = host;
    }
    snprintf(node->name, sizeof node->name, "%.*s", NOTE_NODE_SIZE - 1, name);
}

/* node.conf, and over it the environment and the options. */
static int read_configuration(const struct command *command, struct node *node,
                              const struct common *common)
{
    struct settings *settings = &node->settings;
    const char *file = common->config ? common->config : SETTINGS_DEFAULT_FILE;
    settings_init(settings);
    if (settings_read(settings, file, !common->config, stderr) > 0) {
        say("the configuration has faults, so nothing is done");
        return COMMAND_USAGE;
    }
    const char *url = first_given(common->url, get_variable("MCAST_URL"), settings->url);
    const char *spool = get_variable("MCAST_NODE_SPOOL");
    node->cluster = first_given(common->cluster, get_variable("MCAST_CLUSTER"), settings->cluster);
    if (node->cluster && !cluster_name_valid(node->cluster))
        return command_misused(command, "'%.80s' is not a cluster name: 1 to %d of a-z, 0-9 and _",
                               node->cluster, CLUSTER_NAME_MAX);
    if ((url && strlen(url) >= sizeof settings->url) ||
        (spool && strlen(spool) >= sizeof settings->spool))
        return command_misused(command, "a name is longer than %zu characters",
                               sizeof settings->url - 1);
    if (url && url != settings->url)
        strcpy(settings->url, url);
    if (spool)
        strcpy(settings->spool, spool);
    name_node(node, common->node);
    return COMMAND_GO_ON;
}

int command_options(const struct command *command, struct node *node, int argc, char **argv,
                    const struct option *own, command_option_fn *take, void *data)
{
    struct option all[OPTIONS_MAX] = {0};
    struct common common = {0};
    size_t used = SHARED_COUNT;
    int option;
    memcpy(all, shared, sizeof shared);
    for (; own->name && used < OPTIONS_MAX - 1; own++)
        all[used++] = *own;
    optind = 0; /* the command line's second part begins anew */
    while ((option = getopt_long(argc, argv, "h", all, NULL)) != -1) {
        if (read_common_option(&common, option, optarg))
            continue;
        if (option == 'h') {
            printf("%s\n%s", command->usage, command_common_usage);
            return command_finish(COMMAND_DONE);
        }
        int rc = option == '?' ? command_misused(command, NULL) : take(option, optarg, data);
        if (rc != COMMAND_GO_ON)
            return rc;
    }
    if (optind < argc)
        return command_misused(command, "'%.80s' is not understood: %s takes options only",
                               argv[optind], command->name);
    return read_configuration(command, node, &common);
}

void command_take_subject(struct command_subject *subject, int option, const char *value)
{
    if (option == 'j')
        subject->job = value;
    else if (option == 'r')
        subject->reservation = value;
    else if (option == 'n')
        subject->dry_run = true;
}

int command_misused(const struct command *command, const char *format, ...)
{
    char text[512];
    if (format) {
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        say("%s", text);
    }
    say("see mcast-node %s%s--help", command ? command->name : "", command ? " " : "");
    return COMMAND_USAGE;
}

int command_failed(const struct error *err)
{
    say("%s", err->text);
    return COMMAND_REFUSED;
}

int command_exit(const struct mcast_error *error)
{
    switch (error->code) {
    case MCAST_USAGE:
        return COMMAND_USAGE;
    case MCAST_NOT_FOUND:
        return COMMAND_NOT_FOUND;
    case MCAST_UNREACHABLE:
    case MCAST_UNCLEAR:
        return COMMAND_UNREACHABLE;
    default:
        return error->status >= 500 || mcast_later(error, NULL) ? COMMAND_UNREACHABLE
                                                                : COMMAND_REFUSED;
    }
}

int command_unanswered(const struct mcast_error *error)
{
    say("%s", error->text);
    return command_exit(error);
}

int command_no_memory(void)
{
    say("memory is exhausted");
    return COMMAND_REFUSED;
}

int command_job(const struct command *command, const char *text, char out[JOB_ID_MAX + 1])
{
    if (!text)
        return command_misused(command, "--job JOB is required");
    if (!jobid_plain(text, out, JOB_ID_MAX + 1) || !job_id_valid(out))
        return command_misused(command, "'%.140s' is not a job id: 1 to %d of A-Za-z0-9._:@+-",
                               text, JOB_ID_MAX);
    return COMMAND_GO_ON;
}

int command_duration(const struct command *command, const char *option, const char *text,
                     int64_t *ms)
{
    if (settings_duration(text, ms))
        return COMMAND_GO_ON;
    return command_misused(command, "%s %.40s: a duration such as 500ms, 5s or 10m, up to 24h",
                           option, text);
}

int command_broker_retry(const struct command *command, const char *text, int64_t *ms)
{
    char seconds[16];
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] || digits > sizeof seconds - 2)
        return command_duration(command, "--patience", text, ms);
    snprintf(seconds, sizeof seconds, "%ss", text);
    return command_duration(command, "--patience", seconds, ms);
}

int command_cores(const struct command *command, const char *text, uint32_t *cores)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || value < 1 || value > UINT16_MAX)
        return command_misused(command, "--cores %.40s: a number from 1 to %d", text, UINT16_MAX);
    *cores = (uint32_t)value;
    return COMMAND_GO_ON;
}

static void warn_of_wish(void *arg, const char *sentence)
{
    (void)arg;
    say("warning: --limits: %s", sentence);
}

void command_wishes(struct node *node, const char *text)
{
    struct settings *settings = &node->settings;
    if (text)
        wishes_take(&settings->limits, &settings->adjust_limits, text, warn_of_wish, NULL);
}

int command_finish(int rc)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    say("the output could not be written: %s", strerror(errno));
    return COMMAND_REFUSED;
}

int command_end(struct node *node, int rc)
{
    node_release(node);
    return command_finish(rc);
}
