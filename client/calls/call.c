/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "base/names.h"
#include "client/calls/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void call_release(struct call *call)
{
    free(call->path);
    free(call->body);
    *call = (struct call){0};
}

void call_set(struct call *call, const char *method, call_read_fn *read, struct mcast_error *error,
              const char *path, ...)
{
    va_list args;
    if (call->rc < 0)
        return;
    call->method = method;
    call->read = read;
    va_start(args, path);
    if (vasprintf(&call->path, path, args) < 0) {
        call->path = NULL;
        call->rc = fault_nomem(error);
    }
    va_end(args);
}

void call_set_body(struct call *call, json_t *body, const char *what, struct mcast_error *error)
{
    if (call->rc == 0 && !body)
        call->rc = fault_set(error, MCAST_USAGE, "%s not UTF-8", what);
    else if (call->rc == 0 && !(call->body = json_dumps(body, JSON_COMPACT)))
        call->rc = fault_nomem(error);
    json_decref(body);
}

json_t *call_add(json_t *body, const char *name, bool given, json_t *value)
{
    if (!given) {
        json_decref(value);
        return body;
    }
    if (json_object_set_new(body, name, value) == 0)
        return body;
    json_decref(body);
    return NULL;
}

json_t *call_words(const char *const *words)
{
    json_t *list = words ? json_array() : NULL;
    int rc = 0;
    for (; words && *words; words++)
        rc |= json_array_append_new(list, json_string(*words));
    if (rc == 0)
        return list;
    json_decref(list);
    return NULL;
}

void *call_document(const struct answer *answer, size_t size, struct mcast_error *error)
{
    json_t *root = NULL;
    void *document = NULL;
    if (field_parse(text_string(&answer->body), answer->body.length, &root, error) == 0 &&
        !(document = document_create(size, root)))
        fault_nomem(error);
    return document;
}

int call_read_root(const struct answer *answer, void **document, struct mcast_error *error)
{
    *document = call_document(answer, 0, error);
    return *document ? 0 : error->code;
}

/* ---- names ---- */

static int check_name(const char *name, const char *what, bool valid, const char *rule,
                      struct mcast_error *error)
{
    if (valid)
        return 0;
    return name ? fault_set(error, MCAST_USAGE, "'%.140s' is no %s: 1 to %s", name, what, rule)
                : fault_set(error, MCAST_USAGE, "no %s is named", what);
}

int names_check_cluster(const char *cluster, struct mcast_error *error)
{
    return check_name(cluster, "cluster", cluster && cluster_name_valid(cluster),
                      "32 of a-z, 0-9 and _", error);
}

int names_check_job(const char *job, struct mcast_error *error)
{
    return check_name(job, "job id", job && job_id_valid(job),
                      "128 letters, digits and . _ : @ + -", error);
}

int names_check_step(const char *step, struct mcast_error *error)
{
    return check_name(step, "step", step && step_id_valid(step),
                      "512 printable ASCII characters without space, quote and backslash", error);
}

int names_check_node(const char *node, struct mcast_error *error)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = node ? strlen(node) : 0;
    return check_name(node, "node",
                      length > 0 && length <= NAMES_NODE_MAX && strspn(node, allowed) == length,
                      "255 letters, digits and _ . -", error);
}

int names_check_wait(unsigned wait_ms, struct mcast_error *error)
{
    if (wait_ms <= NAMES_WAIT_MAX_MS)
        return 0;
    return fault_set(error, MCAST_USAGE, "%u ms is too long to wait: at most %d", wait_ms,
                     NAMES_WAIT_MAX_MS);
}

int names_check(const char *cluster, const char *job, struct mcast_error *error)
{
    int rc = names_check_cluster(cluster, error);
    return rc < 0 ? rc : names_check_job(job, error);
}

/* ---- problems ---- */

static const char *string_of(const json_t *problem, const char *name)
{
    const char *value = json_string_value(json_object_get(problem, name));
    return value ? value : "";
}

/* The caller's; NULL when the answer is none. */
static json_t *load(const struct answer *answer)
{
    if (strcmp(answer->type, "application/problem+json") != 0)
        return NULL;
    return json_loadb(text_string(&answer->body), answer->body.length, 0, NULL);
}

bool problem_is(const struct answer *answer, const char *code)
{
    json_t *problem = load(answer);
    bool is = json_is_object(problem) && strcmp(string_of(problem, "code"), code) == 0;
    json_decref(problem);
    return is;
}

bool problem_leader(const struct answer *answer, char *out, size_t size)
{
    json_t *problem = load(answer);
    int length = snprintf(out, size, "%s", string_of(problem, "leader"));
    json_decref(problem);
    return length > 0 && (size_t)length < size;
}

int problem_read(const struct answer *answer, const char *peer, struct mcast_error *error)
{
    json_t *problem = load(answer);
    const char *detail = string_of(problem, "detail"), *code = string_of(problem, "code");
    int rc = answer->status == 404 ? MCAST_NOT_FOUND : MCAST_REFUSED;
    if (!detail[0])
        detail = string_of(problem, "title");
    if (!json_is_object(problem) && answer->status >= 502 && answer->status <= 504)
        rc = fault_set(error, MCAST_UNCLEAR,
                       "mcastd at %s does not answer, something before it does so (HTTP %d); is it "
                       "running? (systemctl status mcastd)",
                       peer, answer->status);
    else if (!json_is_object(problem))
        rc = fault_set(error, MCAST_UNCLEAR,
                       "what answers at %s says HTTP %d without an explanation; is it mcastd?",
                       peer, answer->status);
    else if (detail[0])
        fault_set_word(error, rc, code, "%s", detail);
    else
        fault_set_word(error, rc, code,
                       "mcastd at %s answers HTTP %d and gives no reason; its log may (journalctl "
                       "-u mcastd)",
                       peer, answer->status);
    if (error) {
        snprintf(error->field, sizeof error->field, "%s", string_of(problem, "field"));
        error->status = answer->status;
        error->retry_after = answer->retry_after;
    }
    json_decref(problem);
    return rc;
}
