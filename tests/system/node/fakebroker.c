/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/node/fakebroker.h"

#include <assert.h>
#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { JOBS_MAX = 16, REPORTS_SIZE = 1 << 16, BODY_SIZE = 4096 };

struct fakebroker {
    struct sockaddr_un address;
    struct MHD_Daemon *daemon; /* NULL: away */
    pthread_mutex_t lock;      /* over all below */
    struct {
        char name[32];
        const char *reservation;
    } jobs[JOBS_MAX];
    unsigned int job_count, requests, busy, untold;
    int status;
    const char *code, *boot_code;
    unsigned long long boot;
    bool admin;
    int hidden; /* of lists for a node; negative: refused */
    char reports[REPORTS_SIZE], seen[REPORTS_SIZE];
};

struct request {
    size_t length;
    char body[BODY_SIZE];
};

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned int status,
                             const char *type, const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(response, "Content-Type", type);
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status,
                              const char *code)
{
    char text[256];
    snprintf(text, sizeof text,
             "{\"type\":\"about:blank\",\"title\":\"no\",\"status\":%u,\"code\":\"%s\","
             "\"detail\":\"the pretended broker says %s\"}",
             status, code, code);
    return reply(connection, status, "application/problem+json", text);
}

static const char *find_job(const struct fakebroker *fakebroker, const char *name)
{
    for (unsigned int i = 0; i < fakebroker->job_count; i++) {
        if (strcmp(fakebroker->jobs[i].name, name) == 0)
            return fakebroker->jobs[i].reservation;
    }
    return NULL;
}

static void note(struct fakebroker *fakebroker, const char *format, ...)
{
    size_t used = strlen(fakebroker->reports);
    va_list args;
    va_start(args, format);
    vsnprintf(fakebroker->reports + used, REPORTS_SIZE - used, format, args);
    va_end(args);
}

static enum MHD_Result take_report(struct fakebroker *fakebroker, struct MHD_Connection *connection,
                                   const char *job, const char *node, const char *body)
{
    if (fakebroker->status)
        return refuse(connection, (unsigned int)fakebroker->status, fakebroker->code);
    if (!find_job(fakebroker, job))
        return refuse(connection, 404, "not-found");
    json_t *root = json_loads(body, 0, NULL);
    const char *state = json_string_value(json_object_get(root, "state"));
    const json_t *services = json_object_get(root, "services");
    if (!state) {
        json_decref(root);
        return refuse(connection, 422, "invalid");
    }
    note(fakebroker, "%s/%s %s %lld", job, node, state,
         (long long)json_integer_value(json_object_get(root, "number")));
    for (size_t i = 0; i < json_array_size(services); i++) {
        const json_t *service = json_array_get(services, i);
        note(fakebroker, " %s:%lld", json_string_value(json_object_get(service, "device")),
             (long long)json_integer_value(json_object_get(service, "id")));
    }
    note(fakebroker, "\n");
    fakebroker->untold += json_array_size(json_object_get(root, "vnis")) == 0;
    json_decref(root);
    return reply(connection, 200, "application/json", "{\"reservation\":\"active\"}");
}

/* Whether the node that asks is shown the reservation by its name. */
static bool is_shown(const struct fakebroker *fakebroker, const char *reservation)
{
    return reservation && (fakebroker->admin || strstr(reservation, "\"nodes\":\"n[1-2]\""));
}

static enum MHD_Result list_jobs(const struct fakebroker *fakebroker,
                                 struct MHD_Connection *connection)
{
    const char *node = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "node");
    char text[REPORTS_SIZE] = "{\"jobs\":[";
    bool first = true;
    /* What it should not show then, too: a node is not to believe that. */
    const bool silent = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "silent");
    if (!fakebroker->admin && (!node || strcmp(node, "n1") != 0 || fakebroker->hidden < 0))
        return refuse(connection, 403, "forbidden");
    for (unsigned int i = 0; i < fakebroker->job_count; i++) {
        const char *job = fakebroker->jobs[i].reservation;
        size_t used = strlen(text);
        if (!job || (!strstr(job, "\"active\"") && !silent) ||
            (!is_shown(fakebroker, job) && strstr(job, "\"nodes\"")))
            continue;
        snprintf(text + used, sizeof text - used, "%s%s", first ? "" : ",", job);
        first = false;
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "],\"hidden\":%d,\"next\":null}", fakebroker->hidden);
    return reply(connection, 200, "application/json", text);
}

static enum MHD_Result take_boot(struct fakebroker *fakebroker, struct MHD_Connection *connection,
                                 const char *node, const char *body)
{
    if (fakebroker->boot_code)
        return refuse(connection, 404, fakebroker->boot_code);
    if (fakebroker->status)
        return refuse(connection, (unsigned int)fakebroker->status, fakebroker->code);
    json_t *root = json_loads(body, 0, NULL);
    fakebroker->boot = (unsigned long long)json_integer_value(json_object_get(root, "order"));
    json_decref(root);
    note(fakebroker, "%s has booted\n", node);
    return reply(connection, 200, "application/json", "{\"reservations\":1}");
}

static enum MHD_Result answer(struct fakebroker *fakebroker, struct MHD_Connection *connection,
                              const char *method, const char *url, const char *body)
{
    static const char jobs[] = "/v1/clusters/elcap/jobs/";
    char job[64] = "", node[64] = "";
    fakebroker->requests++;
    if (fakebroker->busy > 0) {
        fakebroker->busy--;
        return refuse(connection, 503, "too-many-connections");
    }
    if (strcmp(url, "/v1/whoami") == 0)
        return reply(connection, 200, "application/json",
                     fakebroker->admin
                         ? "{\"admin\":true,\"clusters\":[]}"
                         : "{\"admin\":false,\"clusters\":[],\"node_of\":[\"elcap\"]}");
    if (strcmp(url, "/v1/jobs") == 0)
        return list_jobs(fakebroker, connection);
    if (sscanf(url, "/v1/nodes/%63[^/]/boot", node) == 1)
        return take_boot(fakebroker, connection, node, body);
    if (strncmp(url, jobs, strlen(jobs)) != 0)
        return refuse(connection, 404, "not-found");
    int parts = sscanf(url + strlen(jobs), "%63[^/]/nodes/%63[^/]", job, node);
    if (parts == 2 && strcmp(method, "PUT") == 0)
        return take_report(fakebroker, connection, job, node, body);
    const char *reservation = find_job(fakebroker, job);
    return is_shown(fakebroker, reservation)
               ? reply(connection, 200, "application/json", reservation)
               : refuse(connection, 404, "not-found");
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    struct fakebroker *fakebroker = arg;
    struct request *request = *state;
    (void)version;
    if (!request) {
        *state = calloc(1, sizeof *request);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*size > 0) {
        size_t room = BODY_SIZE - 1 - request->length;
        size_t taken = *size < room ? *size : room;
        memcpy(request->body + request->length, data, taken);
        request->length += taken;
        *size = 0;
        return MHD_YES;
    }
    pthread_mutex_lock(&fakebroker->lock);
    enum MHD_Result queued = answer(fakebroker, connection, method, url, request->body);
    pthread_mutex_unlock(&fakebroker->lock);
    return queued;
}

static void on_end(void *arg, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode code)
{
    (void)arg;
    (void)connection;
    (void)code;
    free(*state);
}

void fakebroker_come(struct fakebroker *fakebroker)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(!fakebroker->daemon && listener >= 0);
    int rc = bind(listener, (struct sockaddr *)&fakebroker->address, sizeof fakebroker->address);
    assert(rc == 0 && listen(listener, 16) == 0);
    (void)rc;
    fakebroker->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, 0, NULL,
                         NULL, on_request, fakebroker, MHD_OPTION_LISTEN_SOCKET, listener,
                         MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_END);
    assert(fakebroker->daemon);
}

void fakebroker_go(struct fakebroker *fakebroker)
{
    if (fakebroker->daemon)
        MHD_stop_daemon(fakebroker->daemon);
    fakebroker->daemon = NULL;
    unlink(fakebroker->address.sun_path);
}

struct fakebroker *fakebroker_create(const char *socket)
{
    struct fakebroker *fakebroker = calloc(1, sizeof *fakebroker);
    assert(fakebroker && strlen(socket) < sizeof fakebroker->address.sun_path);
    fakebroker->address.sun_family = AF_UNIX;
    strcpy(fakebroker->address.sun_path, socket);
    fakebroker->admin = true;
    pthread_mutex_init(&fakebroker->lock, NULL);
    fakebroker_come(fakebroker);
    return fakebroker;
}

void fakebroker_destroy(struct fakebroker *fakebroker)
{
    fakebroker_go(fakebroker);
    pthread_mutex_destroy(&fakebroker->lock);
    free(fakebroker);
}

void fakebroker_set_job(struct fakebroker *fakebroker, const char *job, const char *reservation)
{
    unsigned int i = 0;
    pthread_mutex_lock(&fakebroker->lock);
    while (i < fakebroker->job_count && strcmp(fakebroker->jobs[i].name, job) != 0)
        i++;
    assert(i < JOBS_MAX);
    fakebroker->job_count += i == fakebroker->job_count;
    snprintf(fakebroker->jobs[i].name, sizeof fakebroker->jobs[i].name, "%s", job);
    fakebroker->jobs[i].reservation = reservation;
    pthread_mutex_unlock(&fakebroker->lock);
}

void fakebroker_answer(struct fakebroker *fakebroker, int status, const char *code)
{
    pthread_mutex_lock(&fakebroker->lock);
    fakebroker->status = status;
    fakebroker->code = code;
    pthread_mutex_unlock(&fakebroker->lock);
}

void fakebroker_be_busy(struct fakebroker *fakebroker, unsigned int times)
{
    pthread_mutex_lock(&fakebroker->lock);
    fakebroker->busy = times;
    pthread_mutex_unlock(&fakebroker->lock);
}

void fakebroker_set_hidden(struct fakebroker *fakebroker, int hidden)
{
    pthread_mutex_lock(&fakebroker->lock);
    fakebroker->hidden = hidden;
    pthread_mutex_unlock(&fakebroker->lock);
}

void fakebroker_set_admin(struct fakebroker *fakebroker, bool admin)
{
    pthread_mutex_lock(&fakebroker->lock);
    fakebroker->admin = admin;
    pthread_mutex_unlock(&fakebroker->lock);
}

const char *fakebroker_reports(struct fakebroker *fakebroker)
{
    pthread_mutex_lock(&fakebroker->lock);
    strcpy(fakebroker->seen, fakebroker->reports);
    pthread_mutex_unlock(&fakebroker->lock);
    return fakebroker->seen;
}

unsigned int fakebroker_untold(struct fakebroker *fakebroker)
{
    pthread_mutex_lock(&fakebroker->lock);
    unsigned int untold = fakebroker->untold;
    pthread_mutex_unlock(&fakebroker->lock);
    return untold;
}

unsigned long long fakebroker_boot(struct fakebroker *fakebroker, const char *code)
{
    pthread_mutex_lock(&fakebroker->lock);
    unsigned long long order = fakebroker->boot;
    fakebroker->boot_code = code;
    pthread_mutex_unlock(&fakebroker->lock);
    return order;
}

unsigned int fakebroker_requests(struct fakebroker *fakebroker)
{
    pthread_mutex_lock(&fakebroker->lock);
    unsigned int requests = fakebroker->requests;
    pthread_mutex_unlock(&fakebroker->lock);
    return requests;
}
