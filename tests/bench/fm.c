/* SPDX-License-Identifier: Apache-2.0 */
/* bench-fm: a fabric manager that reserves for jobs, gives back and lists, as fast as can be, so
 * that it is not what is measured. It has mock-fm's options, and ignores most: each login is right,
 * nothing outlives it, and it knows no faults and no trees. */
#include <arpa/inet.h>
#include <getopt.h>
#include <jansson.h>
#include <microhttpd.h>
#include <search.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS "/fabric/collectives/jobs"

enum { BODY_MAX = 4096, CONNECTIONS_MAX = 1024, BACKLOG = 1024, OPTION_IGNORED = 256 };

struct exchange {
    size_t length;
    char body[BODY_MAX];
};

/* All is done on libmicrohttpd's one thread. */
static struct {
    void *jobs; /* tsearch's tree of ids */
    json_int_t requests, connections;
} fm;

static int compare_ids(const void *left, const void *right)
{
    return strcmp(left, right);
}

static json_t *listed;

static void list_job(const void *node, VISIT visit, int depth)
{
    if (visit == postorder || visit == leaf)
        json_array_append_new(listed, json_sprintf(JOBS "/%s", *(const char *const *)node));
}

/* What a list of jobs says, and /mock/state in few words. */
static json_t *list_jobs(const char *name)
{
    listed = json_array();
    twalk(fm.jobs, list_job);
    return json_pack("{s:o, s:i}", name, listed, "documentCount", (int)json_array_size(listed));
}

static json_t *describe(const char *id)
{
    return json_pack("{s:s, s:i, s:o, s:{}, s:i}", "jobID", id, "mcastLimit", 23, "sessionToken",
                     json_sprintf("sess-of-%s", id), "jobSteps", "documentVersion", 0);
}

static unsigned reserve(const struct exchange *exchange, json_t **document)
{
    json_t *body = json_loadb(exchange->body, exchange->length, 0, NULL);
    const char *id = json_string_value(json_object_get(body, "jobID"));
    const bool exists = id && tfind(id, &fm.jobs, compare_ids);
    if (id && !exists) {
        tsearch(strdup(id), &fm.jobs, compare_ids);
        *document = describe(id);
    }
    json_decref(body);
    return exists ? 409 : *document ? 201 : 400;
}

static unsigned answer_job(const char *method, const char *id, json_t **document)
{
    char **found = tfind(id, &fm.jobs, compare_ids);
    if (!found)
        return 404;
    *document = describe(id);
    if (strcmp(method, "DELETE") == 0) {
        char *key = *found;
        tdelete(id, &fm.jobs, compare_ids);
        free(key);
    }
    return 200;
}

static unsigned act(const char *method, const char *url, const struct exchange *exchange,
                    json_t **document)
{
    const size_t base = strlen(JOBS);
    if (strcmp(url, "/mock/log") == 0)
        *document = json_pack("{s:I, s:I}", "requests", fm.requests, "connections", fm.connections);
    else if (strcmp(url, "/mock/state") == 0)
        *document = list_jobs("jobs");
    if (*document)
        return 200;
    fm.requests++;
    if (strncmp(url, JOBS, base) != 0)
        return 404;
    if (url[base] == '/' && url[base + 1])
        return answer_job(method, url + base + 1, document);
    if (strcmp(method, "POST") == 0)
        return reserve(exchange, document);
    *document = list_jobs("documentLinks");
    return 200;
}

static enum MHD_Result answer(struct MHD_Connection *connection, const char *method,
                              const char *url, const struct exchange *exchange)
{
    json_t *document = NULL;
    const unsigned status = act(method, url, exchange, &document);
    if (!document)
        document = json_pack("{s:s, s:s, s:i}", "message", "no", "detail", "no", "statusCode",
                             (int)status);
    char *text = json_dumps(document, JSON_COMPACT);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    json_decref(document);
    MHD_add_response_header(response, "Content-Type", "application/json");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context)
{
    struct exchange *exchange = *context;
    if (!exchange) {
        *context = calloc(1, sizeof *exchange);
        return *context ? MHD_YES : MHD_NO;
    }
    if (*size == 0)
        return answer(connection, method, url, exchange);
    if (exchange->length + *size > BODY_MAX)
        return MHD_NO;
    memcpy(exchange->body + exchange->length, data, *size);
    exchange->length += *size;
    *size = 0;
    return MHD_YES;
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    free(*context);
    *context = NULL;
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    fm.connections += code == MHD_CONNECTION_NOTIFY_STARTED;
}

/* NULL: path is NULL, too, or cannot be read. */
static char *read_file(const char *path)
{
    char *text = calloc(1, 65536);
    FILE *file = path ? fopen(path, "re") : NULL;
    if (!file || !text || fread(text, 1, 65535, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static struct MHD_Daemon *serve(const char *port, char *cert, char *key)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t)atoi(port))};
    const struct MHD_OptionItem tls[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, cert},
                                         {MHD_OPTION_HTTPS_MEM_KEY, 0, key},
                                         {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | (cert && key ? MHD_USE_TLS : 0), 0,
                            NULL, NULL, on_request, NULL, MHD_OPTION_SOCK_ADDR, &address,
                            MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
                            MHD_OPTION_LISTEN_BACKLOG_SIZE, BACKLOG, MHD_OPTION_NOTIFY_COMPLETED,
                            on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL,
                            MHD_OPTION_ARRAY, cert && key ? tls : tls + 2, MHD_OPTION_END);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"listen", "port-file", "tls-cert", "tls-key",
                                        "auth",   "authdir",   "state",    "addresses"};
    enum { LISTEN, PORT_FILE, CERT, KEY, NAMES = sizeof names / sizeof names[0] };
    struct option known[NAMES + 2] = {{0}};
    const char *given[NAMES] = {"127.0.0.1:0"};
    sigset_t ends;
    for (int i = 0; i < NAMES; i++)
        known[i] = (struct option){.name = names[i], .has_arg = required_argument, .val = i};
    known[NAMES] = (struct option){.name = "overcommit", .val = OPTION_IGNORED};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == '?')
            return 2;
        if (option < NAMES)
            given[option] = optarg;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    struct MHD_Daemon *daemon =
        serve(strrchr(given[LISTEN], ':') + 1, read_file(given[CERT]), read_file(given[KEY]));
    FILE *file = given[PORT_FILE] ? fopen(given[PORT_FILE], "we") : NULL;
    if (!daemon || !file) {
        fputs("bench-fm: cannot listen, or write the number of its port\n", stderr);
        return 1;
    }
    fprintf(file, "%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fclose(file);
    sigwait(&ends, &(int){0});
    MHD_stop_daemon(daemon);
    return 0;
}
