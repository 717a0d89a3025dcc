/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What a real fabric manager calls its kinds is not known; only the one for errors is Xenon's own.
 */
#define KIND_JOB "com:mock-fm:collectives:Job"
#define KIND_TREE "com:mock-fm:collectives:Multicast"
#define KIND_LIST "com:vmware:xenon:common:ServiceDocumentQueryResult"
#define KIND_ERROR "com:vmware:xenon:common:ServiceErrorResponse"

const char *document_below(const char *path, const char *base)
{
    size_t length = strlen(base);
    if (strncmp(path, base, length) != 0 || (path[length] && path[length] != '/'))
        return NULL;
    return path + length + (path[length] == '/');
}

json_t *document_with_tail(json_t *document, const char *kind, uint64_t version, int64_t updated_us)
{
    json_t *tail = json_pack("{s:I, s:i, s:s, s:I, s:s}", "documentVersion", (json_int_t)version,
                             "documentEpoch", 0, "documentKind", kind, "documentUpdateTimeMicros",
                             (json_int_t)updated_us, "documentOwner", "mock-fm");
    if (json_object_update(memory_must(document), tail) < 0)
        abort();
    json_decref(tail);
    return document;
}

json_t *document_of_steps(const struct job *job)
{
    json_t *steps = json_object();
    for (const struct tree *tree = job->trees; tree; tree = tree->next) {
        json_t *ids = json_object_get(steps, tree->step);
        if (!ids) {
            ids = json_array();
            json_object_set_new(steps, tree->step, ids);
        }
        json_array_append_new(ids, json_integer(tree->mcast_id));
    }
    return steps;
}

json_t *document_of_job(const struct job *job)
{
    return document_with_tail(json_pack("{s:s, s:i, s:s, s:o, s:o}", "jobID", job->id, "mcastLimit",
                                        (int)job->limit, "sessionToken", job->token, "jobSteps",
                                        document_of_steps(job), "documentSelfLink",
                                        json_sprintf(DOCUMENT_JOBS "/%s", job->id)),
                              KIND_JOB, job->version, job->updated_us);
}

json_t *document_of_tree(const struct tree *tree)
{
    char root[NIC_TEXT_SIZE];
    json_t *macs = json_array();
    for (size_t i = 0; i < json_array_size(tree->macs); i++) {
        char mac[NIC_TEXT_SIZE];
        nic_format_short((uint32_t)json_integer_value(json_array_get(tree->macs, i)), mac);
        json_array_append_new(macs, json_string(mac));
    }
    nic_format_long(tree->root, root);
    return document_with_tail(
        json_pack("{s:o, s:i, s:I, s:s, s:s, s:i, s:s, s:o}", "macs", macs, "vni", (int)tree->vni,
                  "timeout", (json_int_t)tree->timeout_us, "jobID", tree->job->id, "jobStepID",
                  tree->step, "mcastID", (int)tree->mcast_id, "hwRoot", root, "documentSelfLink",
                  json_sprintf(DOCUMENT_TREES "/%u", tree->mcast_id)),
        KIND_TREE, 0, tree->updated_us);
}

struct document_page document_page_of(const struct request *request)
{
    return (struct document_page){
        .links = json_array(), .size = request->page_size, .after = request->after};
}

bool document_page_add(struct document_page *page, uint64_t key, const char *base, const char *name)
{
    if (key <= page->after)
        return true;
    if (page->size > 0 && json_array_size(page->links) >= page->size) {
        page->more = true;
        return false;
    }
    json_array_append_new(page->links, json_sprintf("%s/%s", base, name));
    page->last = key;
    return true;
}

json_t *document_of_page(struct document_page *page, const char *self)
{
    json_int_t count = (json_int_t)json_array_size(page->links);
    json_t *list = json_pack("{s:o, s:I, s:s}", "documentLinks", page->links, "documentCount",
                             count, "documentSelfLink", self);
    if (page->more)
        json_object_set_new(list, "nextPageLink",
                            json_sprintf("%s?pageSize=%ju&after=%ju", self, (uintmax_t)page->size,
                                         (uintmax_t)page->last));
    return document_with_tail(list, KIND_LIST, 0, 0);
}

json_t *request_json(const struct request *request, struct problem *problem)
{
    json_error_t error;
    json_t *json =
        json_loadb(request->body_length ? request->body : "", request->body_length, 0, &error);
    if (!json)
        problem_set(problem, 400, "the body is not JSON: %s", error.text);
    return json;
}

int problem_set(struct problem *problem, int status, const char *format, ...)
{
    va_list arguments;
    problem->status = status;
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return -1;
}

void answer_problem(struct answer *answer, const struct problem *problem)
{
    answer_release(answer);
    /* The sentence is `message`, where libfabric looks for it, and `detail`, where Slurm does. */
    *answer = (struct answer){.status = problem->status,
                              .document =
                                  json_pack("{s:s, s:s, s:i, s:s, s:i}", "message", problem->text,
                                            "detail", problem->text, "statusCode", problem->status,
                                            "documentKind", KIND_ERROR, "errorCode", 0),
                              .challenge = problem->status == 401};
}

void answer_release(struct answer *answer)
{
    json_decref(answer->document);
    answer->document = NULL;
}

void answer_render(const struct answer *answer, struct body *body)
{
    *body = (struct body){0};
    if (!answer->document)
        return;
    body->bytes = json_dumps(answer->document, JSON_COMPACT);
    body->length = strlen(body->bytes);
    if (body->length % 4096 == 0)
        body->bytes[body->length++] = '\n'; /* in place of the NUL */
}
