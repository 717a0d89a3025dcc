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

static char *url_of(const char *base, enum fmcall_kind kind, const struct fmcall_about *about)
{
    if (kind == FMCALL_RESERVE)
        return memory_format("%s%s", base, jobs_path);
    if (kind == FMCALL_JOIN)
        return memory_format("%s%s", base, trees_path);
    if (kind == FMCALL_END_TREE || kind == FMCALL_LEAVE)
        return memory_format("%s%s/%u", base, trees_path, about->tree);
    char *escaped = memory_must(curl_easy_escape(NULL, about->name, 0));
    char *url = memory_format("%s%s/%s", base, jobs_path, escaped);
    curl_free(escaped);
    return url;
}

/* NULL: none. */
static char *body_of(enum fmcall_kind kind, const struct fmcall_about *about)
{
    json_t *body = NULL;
    if (kind == FMCALL_JOIN)
        return memory_text(about->body);
    if (kind == FMCALL_RESERVE)
        body = json_pack("{s:s, s:I}", "jobID", about->name, "mcastLimit",
                         (json_int_t)about->addresses);
    else if (kind == FMCALL_END_STEP)
        body = json_pack("{s:{s:n}}", "jobSteps", about->step);
    else
        return NULL;
    char *text = memory_must(json_dumps(memory_must(body), JSON_COMPACT));
    json_decref(body);
    return text;
}

struct request request_call(const char *base, enum fmcall_kind kind,
                            const struct fmcall_about *about)
{
    static const char *const methods[] = {
        [FMCALL_RESERVE] = "POST", [FMCALL_CHECK] = "GET",      [FMCALL_RELEASE] = "DELETE",
        [FMCALL_STEPS] = "GET",    [FMCALL_END_STEP] = "PATCH", [FMCALL_END_TREE] = "DELETE",
        [FMCALL_JOIN] = "POST",    [FMCALL_LEAVE] = "DELETE"};
    assert(kind != FMCALL_NONE);
    return (struct request){
        .method = methods[kind],
        .url = url_of(base, kind, about),
        .body = body_of(kind, about),
        .body_type = "application/json",
        /* Not END_TREE: a tree's number may have become another tree's. */
        .repeatable = kind == FMCALL_CHECK || kind == FMCALL_STEPS || kind == FMCALL_END_STEP,
        .answer_max = REQUEST_ANSWER_MAX,
    };
}

struct request request_page(const char *base, char *url)
{
    return (struct request){.method = "GET",
                            .url = url ? url : memory_format("%s%s/", base, jobs_path),
                            .repeatable = true,
                            .answer_max = REQUEST_PAGE_MAX};
}

void request_release(struct request *request)
{
    free(request->url);
    memory_wipe_text(request->body);
    *request = (struct request){0};
}
