/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "base/duration.h"
#include "cli/doctor/findings.h"
#include "base/jobid.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_URL = 256,
    OPTION_JSON,
    OPTION_CLUSTER,
    OPTION_CACERT,
    OPTION_CERT,
    OPTION_KEY,
    OPTION_MUNGE_SOCKET,
    OPTION_SERVER_USER,
    OPTION_PATIENCE,
};

enum { PATIENCE_MAX_S = 86400 };

const struct option command_shared_options[] = {
    {"url", required_argument, NULL, OPTION_URL},
    {"cluster", required_argument, NULL, OPTION_CLUSTER},
    {"json", no_argument, NULL, OPTION_JSON},
    {"cacert", required_argument, NULL, OPTION_CACERT},
    {"cert", required_argument, NULL, OPTION_CERT},
    {"key", required_argument, NULL, OPTION_KEY},
    {"munge-socket", required_argument, NULL, OPTION_MUNGE_SOCKET},
    {"server-user", required_argument, NULL, OPTION_SERVER_USER},
    {"patience", required_argument, NULL, OPTION_PATIENCE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, COMMAND_VERSION},
};
const size_t command_shared_count =
    sizeof(command_shared_options) / sizeof(command_shared_options[0]);

const char command_common_usage[] =
    "Common options:\n"
    "  --url URL        the broker: unix:/path, /path or https://host:port\n"
    "                   (default: MCAST_URL, or " MCAST_DEFAULT_SOCKET ")\n"
    "  --cluster NAME   the resource manager's cluster (default: MCAST_CLUSTER)\n"
    "  --json           JSON for programs\n"
    "  --cacert FILE    what signed the broker's certificate (default: MCAST_CACERT, or the\n"
    "                   system's store)\n"
    "  --cert FILE --key FILE\n"
    "                   certificate that says who asks (default: MCAST_CERT, MCAST_KEY)\n"
    "  --munge-socket PATH\n"
    "                   munged that says who asks, where there is no certificate (default:\n"
    "                   MCAST_MUNGE_SOCKET, or libmunge's own)\n"
    "  --server-user USER\n"
    "                   who may serve the broker's Unix socket besides root and the owner of its\n"
    "                   folder (default: MCAST_SERVER_USER)\n"
    "  --patience TIME  how long to ask on while the broker is away or says \"not now\": 30s, 2m;\n"
    "                   a mere number is seconds (default: not at all)\n"
    "  -h, --help       this text\n"
    "  --version        the release\n";

bool command_store(struct common *common, int option, const char *value)
{
    switch (option) {
    case OPTION_URL:
        common->url = value;
        return true;
    case OPTION_CLUSTER:
        common->cluster = value[0] ? value : NULL;
        return true;
    case OPTION_JSON:
        common->json = true;
        return true;
    case OPTION_CACERT:
        common->cacert = value;
        return true;
    case OPTION_CERT:
        common->cert = value;
        return true;
    case OPTION_KEY:
        common->key = value;
        return true;
    case OPTION_MUNGE_SOCKET:
        common->munge_socket = value;
        return true;
    case OPTION_SERVER_USER:
        common->server_user = value;
        return true;
    case OPTION_PATIENCE:
        common->patience = value;
        return true;
    default:
        return false;
    }
}

static int apply_shared_option(const struct command *command, struct common *common, int option)
{
    if (command_store(common, option, optarg))
        return COMMAND_GO_ON;
    switch (option) {
    case COMMAND_VERSION:
        printf("mcastctl %s\n", mcast_version());
        return command_finish();
    case 'h':
        fputs(command->usage, stdout);
        printf("\n%s", command_common_usage);
        return command_finish();
    default:
        return command_misused(command, NULL); /* getopt has said what is wrong */
    }
}

int command_options(const struct command *command, struct common *common, int argc, char **argv,
                    const struct option *own, command_option_fn *take, void *data)
{
    struct option all[COMMAND_OPTIONS_MAX] = {0};
    size_t used = command_shared_count;
    memcpy(all, command_shared_options, sizeof(command_shared_options));
    for (; own && own->name; own++)
        all[used++] = *own;
    assert(used < COMMAND_OPTIONS_MAX);
    int option, rc;
    optind = 0; /* the command line's second part begins anew */
    while ((option = getopt_long(argc, argv, "h", all, NULL)) != -1) {
        if (option >= 256 || option == 'h' || option == '?')
            rc = apply_shared_option(command, common, option);
        else
            rc = take(option, optarg, data);
        if (rc != COMMAND_GO_ON)
            return rc;
    }
    return COMMAND_GO_ON;
}

int command_misused(const struct command *command, const char *format, ...)
{
    if (format) {
        va_list args;
        va_start(args, format);
        fputs("mcastctl: ", stderr);
        vfprintf(stderr, format, args);
        fputc('\n', stderr);
        va_end(args);
    }
    fprintf(stderr, "Try 'mcastctl %s%s--help'.\n", command ? command->name : "",
            command ? " " : "");
    return EXIT_USAGE;
}

int command_failed(const struct mcast_error *error)
{
    const char *step = "";
    if (strcmp(error->word, "no-connection") == 0)
        step = ", or name it with --url";
    fprintf(stderr, "mcastctl: %s%s\n", error->text, step);
    return (int)mcast_exit_status(error);
}

int command_job(const struct command *command, const struct common *common, int argc, char **argv,
                char *job, size_t size)
{
    if (argc - optind != 1)
        return command_misused(command, argc == optind ? "which job?" : "one job at a time");
    if (!common->cluster)
        return command_misused(command, "which cluster? give --cluster NAME or set MCAST_CLUSTER");
    if (!jobid_plain(argv[optind], job, size))
        return command_misused(command, "'%.140s' is too long for a job id", argv[optind]);
    return COMMAND_GO_ON;
}

int command_no_arguments(const struct command *command, int argc, char **argv)
{
    if (optind < argc)
        return command_misused(command, "'%s' is not understood: %s takes no arguments",
                               argv[optind], command->name);
    return COMMAND_GO_ON;
}

bool command_number(const char *text, uint64_t max, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > max)
        return false;
    *out = value;
    return true;
}

static void print_wait(const struct mcast_error *why, void *data)
{
    (void)data;
    fprintf(stderr, "mcastctl: %s; asking on, as long as --patience says\n", why->text);
}

static int set_retry_timeout(struct mcast *handle, const char *text, struct mcast_error *error)
{
    uint64_t seconds = 0;
    int64_t ms = 0;
    if (command_number(text, PATIENCE_MAX_S, &seconds))
        ms = (int64_t)seconds * 1000;
    else if ((ms = duration_parse(text, DURATION_DAYS, PATIENCE_MAX_S * 1000LL)) == 0)
        ms = -1;
    if (ms >= 0)
        return mcast_set_patience(handle, (unsigned)ms, print_wait, NULL, error);
    *error = (struct mcast_error){.code = MCAST_USAGE};
    snprintf(error->text, sizeof(error->text),
             "--patience %.40s: a time such as 500ms, 30s or 2m, up to 24h", text);
    return MCAST_USAGE;
}

int command_connect(const struct common *common, struct mcast **out, struct mcast_error *error)
{
    int rc = mcast_open(out, common->url, error);
    if (rc == 0 && common->cacert)
        rc = mcast_set_cacert(*out, common->cacert, error);
    if (rc == 0 && (common->cert || common->key))
        rc = mcast_set_certificate(*out, common->cert, common->key, error);
    if (rc == 0 && common->munge_socket)
        rc = mcast_set_munge(*out, MCAST_MUNGE_ALWAYS, common->munge_socket, error);
    if (rc == 0 && common->server_user)
        rc = mcast_set_server_user(*out, common->server_user, error);
    if (rc == 0 && common->patience)
        rc = set_retry_timeout(*out, common->patience, error);
    if (rc < 0) {
        mcast_close(*out);
        *out = NULL;
    }
    return rc;
}

int command_open(const struct common *common, struct mcast **out)
{
    struct mcast_error error;
    return command_connect(common, out, &error) < 0 ? command_failed(&error) : COMMAND_GO_ON;
}

int command_print_json(char *json)
{
    if (!json) {
        fputs("mcastctl: memory is exhausted\n", stderr);
        return EXIT_REFUSED;
    }
    puts(json);
    free(json);
    return command_finish();
}

int command_print_findings(const struct findings *findings, bool json)
{
    if (!json)
        return findings_print(findings);
    json_t *all = findings_json(findings);
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    return command_print_json(text);
}

int command_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    fprintf(stderr, "mcastctl: the output could not be written: %s\n", strerror(errno));
    return EXIT_REFUSED;
}
