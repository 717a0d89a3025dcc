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

static char *reserve_body(const char *name, uint32_t addresses)
{
    json_t *body = json_pack("{s:s, s:I}", "jobID", name, "mcastLimit", (json_int_t)addresses);
    char *text = json_dumps(body, JSON_COMPACT);

    json_decref(body);
    return text;
}

int request_call(struct request *request, const char *base, enum fmcall_kind kind, const char *name,
                 uint32_t addresses)
{
    assert(kind == FMCALL_RESERVE || kind == FMCALL_CHECK || kind == FMCALL_RELEASE);
    *request = (struct request){.answer_max = REQUEST_ANSWER_MAX};
    switch (kind) {
    case FMCALL_RESERVE:
        request->method = "POST";
        if (asprintf(&request->url, "%s%s", base, jobs_path) < 0)
            request->url = NULL;
        request->body = reserve_body(name, addresses);
        request->body_type = "application/json";
        break;
    case FMCALL_CHECK:
        request->method = "GET";
        request->repeatable = true;
        request->url = job_url(base, name);
        break;
    case FMCALL_RELEASE:
        request->method = "DELETE";
        request->url = job_url(base, name);
        break;
    case FMCALL_STEPS:
    case FMCALL_END_STEP:
    case FMCALL_END_TREE:
    case FMCALL_NONE:
        break;
    }
    if (request->url == NULL || (kind == FMCALL_RESERVE && request->body == NULL)) {
        request_release(request);
        return ERROR_NOMEM;
    }
    return 0;
}

static char *tree_url(const char *base, unsigned tree)
{
    char *url = NULL;
    return asprintf(&url, "%s%s/%u", base, trees_path, tree) >= 0 ? url : NULL;
}

static char *end_step_body(const char *step)
{
    json_t *body = json_pack("{s:{s:n}}", "jobSteps", step);
    char *text = json_dumps(body, JSON_COMPACT);

    json_decref(body);
    return text;
}

int request_step(struct request *request, const char *base, enum fmcall_kind kind, const char *name,
                 const char *step, unsigned tree)
{
    assert(kind == FMCALL_STEPS || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE);
    *request = (struct request){.answer_max = REQUEST_ANSWER_MAX};
    /* A tree's number can be another tree's the moment after: who says it twice may hit that one.
     */
    request->repeatable = kind != FMCALL_END_TREE;
    request->url = kind == FMCALL_END_TREE ? tree_url(base, tree) : job_url(base, name);
    if (kind == FMCALL_END_STEP) {
        request->method = "PATCH";
        request->body = end_step_body(step);
        request->body_type = "application/json";
    } else {
        request->method = kind == FMCALL_STEPS ? "GET" : "DELETE";
    }
    if (request->url == NULL || (kind == FMCALL_END_STEP && request->body == NULL)) {
        request_release(request);
        return ERROR_NOMEM;
    }
    return 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): url is taken over */
int request_page(struct request *request, const char *base, char *url)
{
    *request = (struct request){
        .method = "GET", .url = url, .repeatable = true, .answer_max = REQUEST_PAGE_MAX};
    if (url == NULL && asprintf(&request->url, "%s%s/", base, jobs_path) < 0) {
        request->url = NULL;
        return ERROR_NOMEM;
    }
    return 0;
}

void request_release(struct request *request)
{
    free(request->url);
    memory_wipe_text(request->body);
    *request = (struct request){0};
}
