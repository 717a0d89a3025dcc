/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/request.h"

#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char jobs_path[] = "/fabric/collectives/jobs";
static const char trees_path[] = "/fabric/collectives/multicasts";

static char *job_url(const char *base, const char *name)
{
    char *escaped = curl_easy_escape(NULL, name, 0);
    char *url = NULL;
    if (escaped != NULL && asprintf(&url, "%s%s/%s", base, jobs_path, escaped) < 0)
        url = NULL;
    curl_free(escaped);
    return url;
}

static char *tree_url(const char *base, unsigned tree)
{
    char *url = NULL;
    return asprintf(&url, "%s%s/%u", base, trees_path, tree) >= 0 ? url : NULL;
}

static char *jobs_url(const char *base, const char *end)
{
    char *url = NULL;
    return asprintf(&url, "%s%s%s", base, jobs_path, end) >= 0 ? url : NULL;
}

/* Takes url and body, which may be NULL for want of memory. */
static int set_request(struct request *request, enum fmcall_kind kind, char *url, json_t *body)
{
    static const char *const methods[] = {
        [FMCALL_RESERVE] = "POST", [FMCALL_CHECK] = "GET",      [FMCALL_RELEASE] = "DELETE",
        [FMCALL_STEPS] = "GET",    [FMCALL_END_STEP] = "PATCH", [FMCALL_END_TREE] = "DELETE"};
    const bool has_body = kind == FMCALL_RESERVE || kind == FMCALL_END_STEP;
    *request = (struct request){
        .method = methods[kind],
        .url = url,
        .body = has_body ? json_dumps(body, JSON_COMPACT) : NULL,
        .body_type = has_body ? "application/json" : NULL,
        /* Not END_TREE: a tree's number may have become another tree's. */
        .repeatable = kind == FMCALL_CHECK || kind == FMCALL_STEPS || kind == FMCALL_END_STEP,
        .answer_max = REQUEST_ANSWER_MAX,
    };
    json_decref(body);
    if (url != NULL && (request->body != NULL || !has_body))
        return 0;
    request_release(request);
    return ERROR_NOMEM;
}

int request_call(struct request *request, const char *base, enum fmcall_kind kind, const char *name,
                 uint32_t addresses)
{
    assert(kind == FMCALL_RESERVE || kind == FMCALL_CHECK || kind == FMCALL_RELEASE);
    if (kind != FMCALL_RESERVE)
        return set_request(request, kind, job_url(base, name), NULL);
    return set_request(request, kind, jobs_url(base, ""),
                       json_pack("{s:s, s:I}", "jobID", name, "mcastLimit", (json_int_t)addresses));
}

int request_step(struct request *request, const char *base, enum fmcall_kind kind, const char *name,
                 const char *step, unsigned tree)
{
    assert(kind == FMCALL_STEPS || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE);
    char *url = kind == FMCALL_END_TREE ? tree_url(base, tree) : job_url(base, name);
    json_t *body = kind == FMCALL_END_STEP ? json_pack("{s:{s:n}}", "jobSteps", step) : NULL;
    return set_request(request, kind, url, body);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): url is taken over */
int request_page(struct request *request, const char *base, char *url)
{
    *request = (struct request){
        .method = "GET", .url = url, .repeatable = true, .answer_max = REQUEST_PAGE_MAX};
    if (url == NULL)
        request->url = jobs_url(base, "/");
    return request->url != NULL ? 0 : ERROR_NOMEM;
}

void request_release(struct request *request)
{
    free(request->url);
    memory_wipe_text(request->body);
    *request = (struct request){0};
}
