/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/request.h"

#include "base/memory.h"

#include <assert.h>
#include <curl/curl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char jobs_path[] = "/fabric/collectives/jobs";
static const char trees_path[] = "/fabric/collectives/multicasts";

static char *job_url(const char *base, const char *name)
{
    char *escaped = memory_must(curl_easy_escape(NULL, name, 0));
    char *url = memory_format("%s%s/%s", base, jobs_path, escaped);
    curl_free(escaped);
    return url;
}

/* Takes body. */
static char *text_of(json_t *body)
{
    char *text = memory_must(json_dumps(memory_must(body), JSON_COMPACT));
    json_decref(body);
    return text;
}

/* Takes url and body, which may be NULL: none. */
static struct request request_of(enum fmcall_kind kind, char *url, char *body)
{
    static const char *const methods[] = {
        [FMCALL_RESERVE] = "POST", [FMCALL_CHECK] = "GET",      [FMCALL_RELEASE] = "DELETE",
        [FMCALL_STEPS] = "GET",    [FMCALL_END_STEP] = "PATCH", [FMCALL_END_TREE] = "DELETE"};
    return (struct request){
        .method = methods[kind],
        .url = url,
        .body = body,
        .body_type = body != NULL ? "application/json" : NULL,
        /* Not END_TREE: a tree's number may have become another tree's. */
        .repeatable = kind == FMCALL_CHECK || kind == FMCALL_STEPS || kind == FMCALL_END_STEP,
        .answer_max = REQUEST_ANSWER_MAX,
    };
}

struct request request_call(const char *base, enum fmcall_kind kind, const char *name,
                            uint32_t addresses)
{
    assert(kind == FMCALL_RESERVE || kind == FMCALL_CHECK || kind == FMCALL_RELEASE);
    if (kind != FMCALL_RESERVE)
        return request_of(kind, job_url(base, name), NULL);
    return request_of(
        kind, memory_format("%s%s", base, jobs_path),
        text_of(json_pack("{s:s, s:I}", "jobID", name, "mcastLimit", (json_int_t)addresses)));
}

struct request request_step(const char *base, enum fmcall_kind kind, const char *name,
                            const char *step, unsigned tree)
{
    assert(kind == FMCALL_STEPS || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE);
    if (kind == FMCALL_END_TREE)
        return request_of(kind, memory_format("%s%s/%u", base, trees_path, tree), NULL);
    return request_of(kind, job_url(base, name),
                      kind == FMCALL_END_STEP ? text_of(json_pack("{s:{s:n}}", "jobSteps", step))
                                              : NULL);
}

struct request request_page(const char *base, char *url)
{
    return (struct request){.method = "GET",
                            .url = url != NULL ? url : memory_format("%s%s/", base, jobs_path),
                            .repeatable = true,
                            .answer_max = REQUEST_PAGE_MAX};
}

void request_release(struct request *request)
{
    free(request->url);
    memory_wipe_text(request->body);
    *request = (struct request){0};
}
