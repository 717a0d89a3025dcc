/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/node/pretender.h"

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

struct pretender {
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

static const char *find_job(const struct pretender *pretender, const char *name)
{
    for (unsigned int i = 0; i < pretender->job_count; i++) {
        if (strcmp(pretender->jobs[i].name, name) == 0)
            return pretender->jobs[i].reservation;
    }
    return NULL;
}

static void note(struct pretender *pretender, const char *format, ...)
{
    size_t used = strlen(pretender->reports);
    va_list args;
    va_start(args, format);
    vsnprintf(pretender->reports + used, REPORTS_SIZE - used, format, args);
    va_end(args);
}

static enum MHD_Result take_report(struct pretender *pretender, struct MHD_Connection *connection,
                                   const char *job, const char *node, const char *body)
{
    if (pretender->status)
        return refuse(connection, (unsigned int)pretender->status, pretender->code);
    if (!find_job(pretender, job))
        return refuse(connection, 404, "not-found");
    json_t *root = json_loads(body, 0, NULL);
    const char *state = json_string_value(json_object_get(root, "state"));
    const json_t *services = json_object_get(root, "services");
    if (!state) {
        json_decref(root);
        return refuse(connection, 422, "invalid");
    }
    note(pretender, "%s/%s %s %lld", job, node, state,
         (long long)json_integer_value(json_object_get(root, "number")));
    for (size_t i = 0; i < json_array_size(services); i++) {
        const json_t *service = json_array_get(services, i);
        note(pretender, " %s:%lld", json_string_value(json_object_get(service, "device")),
             (long long)json_integer_value(json_object_get(service, "id")));
    }
    note(pretender, "\n");
    pretender->untold += json_array_size(json_object_get(root, "vnis")) == 0;
    json_decref(root);
    return reply(connection, 200, "application/json", "{\"reservation\":\"active\"}");
}

/* Whether the node that asks is shown the reservation by its name. */
static bool is_shown(const struct pretender *pretender, const char *reservation)
{
    return reservation && (pretender->admin || strstr(reservation, "\"nodes\":\"n[1-2]\""));
}

static enum MHD_Result list_jobs(const struct pretender *pretender,
                                 struct MHD_Connection *connection)
{
    const char *node = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "node");
    char text[REPORTS_SIZE] = "{\"jobs\":[";
    bool first = true;
    if (!pretender->admin && (!node || strcmp(node, "n1") != 0 || pretender->hidden < 0))
        return refuse(connection, 403, "forbidden");
    for (unsigned int i = 0; i < pretender->job_count; i++) {
        const char *job = pretender->jobs[i].reservation;
        size_t used = strlen(text);
        if (!job || !strstr(job, "\"active\"") ||
            (!is_shown(pretender, job) && strstr(job, "\"nodes\"")))
            continue;
        snprintf(text + used, sizeof text - used, "%s%s", first ? "" : ",", job);
        first = false;
    }
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "],\"hidden\":%d,\"next\":null}", pretender->hidden);
    return reply(connection, 200, "application/json", text);
}

static enum MHD_Result take_boot(struct pretender *pretender, struct MHD_Connection *connection,
                                 const char *node, const char *body)
{
    if (pretender->boot_code)
        return refuse(connection, 404, pretender->boot_code);
    if (pretender->status)
        return refuse(connection, (unsigned int)pretender->status, pretender->code);
    json_t *root = json_loads(body, 0, NULL);
    pretender->boot = (unsigned long long)json_integer_value(json_object_get(root, "order"));
    json_decref(root);
    note(pretender, "%s has booted\n", node);
    return reply(connection, 200, "application/json", "{\"reservations\":1}");
}

static enum MHD_Result answer(struct pretender *pretender, struct MHD_Connection *connection,
                              const char *method, const char *url, const char *body)
{
    static const char jobs[] = "/v1/clusters/elcap/jobs/";
    char job[64] = "", node[64] = "";
    pretender->requests++;
    if (pretender->busy > 0) {
        pretender->busy--;
        return refuse(connection, 503, "too-many-connections");
    }
    if (strcmp(url, "/v1/whoami") == 0)
        return reply(connection, 200, "application/json",
                     pretender->admin
                         ? "{\"admin\":true,\"clusters\":[]}"
                         : "{\"admin\":false,\"clusters\":[],\"node_of\":[\"elcap\"]}");
    if (strcmp(url, "/v1/jobs") == 0)
        return list_jobs(pretender, connection);
    if (sscanf(url, "/v1/nodes/%63[^/]/boot", node) == 1)
        return take_boot(pretender, connection, node, body);
    if (strncmp(url, jobs, strlen(jobs)) != 0)
        return refuse(connection, 404, "not-found");
    int parts = sscanf(url + strlen(jobs), "%63[^/]/nodes/%63[^/]", job, node);
    if (parts == 2 && strcmp(method, "PUT") == 0)
        return take_report(pretender, connection, job, node, body);
    const char *reservation = find_job(pretender, job);
    return is_shown(pretender, reservation)
               ? reply(connection, 200, "application/json", reservation)
               : refuse(connection, 404, "not-found");
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
    struct pretender *pretender = arg;
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
    pthread_mutex_lock(&pretender->lock);
    enum MHD_Result queued = answer(pretender, connection, method, url, request->body);
    pthread_mutex_unlock(&pretender->lock);
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

void pretender_come(struct pretender *pretender)
{
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(!pretender->daemon && listener >= 0);
    int rc = bind(listener, (struct sockaddr *)&pretender->address, sizeof pretender->address);
    assert(rc == 0 && listen(listener, 16) == 0);
    (void)rc;
    pretender->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC, 0, NULL,
                         NULL, on_request, pretender, MHD_OPTION_LISTEN_SOCKET, listener,
                         MHD_OPTION_NOTIFY_COMPLETED, on_end, NULL, MHD_OPTION_END);
    assert(pretender->daemon);
}

void pretender_go(struct pretender *pretender)
{
    if (pretender->daemon)
        MHD_stop_daemon(pretender->daemon);
    pretender->daemon = NULL;
    unlink(pretender->address.sun_path);
}

struct pretender *pretender_create(const char *socket)
{
    struct pretender *pretender = calloc(1, sizeof *pretender);
    assert(pretender && strlen(socket) < sizeof pretender->address.sun_path);
    pretender->address.sun_family = AF_UNIX;
    strcpy(pretender->address.sun_path, socket);
    pretender->admin = true;
    pthread_mutex_init(&pretender->lock, NULL);
    pretender_come(pretender);
    return pretender;
}

void pretender_destroy(struct pretender *pretender)
{
    pretender_go(pretender);
    pthread_mutex_destroy(&pretender->lock);
    free(pretender);
}

void pretender_set_job(struct pretender *pretender, const char *job, const char *reservation)
{
    unsigned int i = 0;
    pthread_mutex_lock(&pretender->lock);
    while (i < pretender->job_count && strcmp(pretender->jobs[i].name, job) != 0)
        i++;
    assert(i < JOBS_MAX);
    pretender->job_count += i == pretender->job_count;
    snprintf(pretender->jobs[i].name, sizeof pretender->jobs[i].name, "%s", job);
    pretender->jobs[i].reservation = reservation;
    pthread_mutex_unlock(&pretender->lock);
}

void pretender_answer(struct pretender *pretender, int status, const char *code)
{
    pthread_mutex_lock(&pretender->lock);
    pretender->status = status;
    pretender->code = code;
    pthread_mutex_unlock(&pretender->lock);
}

void pretender_be_busy(struct pretender *pretender, unsigned int times)
{
    pthread_mutex_lock(&pretender->lock);
    pretender->busy = times;
    pthread_mutex_unlock(&pretender->lock);
}

void pretender_set_hidden(struct pretender *pretender, int hidden)
{
    pthread_mutex_lock(&pretender->lock);
    pretender->hidden = hidden;
    pthread_mutex_unlock(&pretender->lock);
}

void pretender_set_admin(struct pretender *pretender, bool admin)
{
    pthread_mutex_lock(&pretender->lock);
    pretender->admin = admin;
    pthread_mutex_unlock(&pretender->lock);
}

const char *pretender_reports(struct pretender *pretender)
{
    pthread_mutex_lock(&pretender->lock);
    strcpy(pretender->seen, pretender->reports);
    pthread_mutex_unlock(&pretender->lock);
    return pretender->seen;
}

unsigned int pretender_untold(struct pretender *pretender)
{
    pthread_mutex_lock(&pretender->lock);
    unsigned int untold = pretender->untold;
    pthread_mutex_unlock(&pretender->lock);
    return untold;
}

unsigned long long pretender_boot(struct pretender *pretender, const char *code)
{
    pthread_mutex_lock(&pretender->lock);
    unsigned long long order = pretender->boot;
    pretender->boot_code = code;
    pthread_mutex_unlock(&pretender->lock);
    return order;
}

unsigned int pretender_requests(struct pretender *pretender)
{
    pthread_mutex_lock(&pretender->lock);
    unsigned int requests = pretender->requests;
    pthread_mutex_unlock(&pretender->lock);
    return requests;
}
