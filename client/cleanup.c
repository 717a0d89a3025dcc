/* What whoever has a job's token may ask for: its reservation, and the trees of a step to go. */

#include "client/fault.h"
#include "client/field.h"
#include "client/handle.h"
#include "client/names.h"
#include "client/reservation.h"
#include "core/steppath.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

enum { TAIL_SIZE = 64 };

int mcast_own(struct mcast *handle, struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {.method = "GET", .path = "/v1/reservation"};
    struct answer answer;
    int rc = handle_bear(handle, &call, error);
    if (rc == 0)
        rc = handle_call(handle, &call, &answer, error);
    if (rc < 0)
        return rc;
    rc = reservation_parse(text_string(&answer.body), answer.body.length, out, error);
    text_release(&answer.body);
    return rc;
}

/* A path of job ids is one segment here, so its slashes are escaped. */
static int cleanup_path(struct text *path, const char *step, const char *tail,
                        struct mcast_error *error)
{
    static const char start[] = "/v1/reservation/steps/";
    char *escaped = curl_easy_escape(NULL, step, 0);
    bool ok = escaped && text_add(path, start, sizeof(start) - 1) &&
              text_add(path, escaped, strlen(escaped)) && text_add(path, tail, strlen(tail));
    curl_free(escaped);
    return ok ? 0 : fault_nomem(error);
}

static int check(const char *step, unsigned wait_ms, struct mcast_error *error)
{
    struct error err = {0};
    if (!step || !step[0])
        return fault_set(error, MCAST_USAGE, "no step is named");
    if (steppath_check(step, &err) < 0)
        return fault_set(error, MCAST_USAGE, "%s", err.text);
    return names_check_wait(wait_ms, error);
}

/* The answer's body is the caller's to release. */
static int ask_to_clean(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                        struct answer *answer, struct mcast_error *error)
{
    struct call call = {.method = "DELETE", .wait_ms = wait_ms};
    struct text path = {0};
    char tail[TAIL_SIZE];
    int rc = check(step, wait_ms, error);
    if (rc < 0 || (rc = handle_bear(handle, &call, error)) < 0)
        return rc;
    snprintf(tail, sizeof(tail), "?wait=%ums%s", wait_ms, flags & MCAST_BELOW ? "&below=yes" : "");
    rc = cleanup_path(&path, step, tail, error);
    call.path = text_string(&path);
    if (rc == 0)
        rc = handle_call(handle, &call, answer, error);
    text_release(&path);
    return rc;
}

int mcast_cleanup(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                  bool *gone, struct mcast_error *error)
{
    struct answer answer;
    int rc = ask_to_clean(handle, step, flags, wait_ms, &answer, error);
    if (rc < 0)
        return rc;
    if (gone)
        *gone = answer.status == 200;
    text_release(&answer.body);
    return rc;
}

int mcast_cleanup_json(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                       char **json, struct mcast_error *error)
{
    struct answer answer;
    json_t *root = NULL;
    int rc = ask_to_clean(handle, step, flags, wait_ms, &answer, error);
    if (rc < 0)
        return rc;
    rc = field_parse(text_string(&answer.body), answer.body.length, &root, error);
    text_release(&answer.body);
    if (rc < 0)
        return rc;
    *json = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return *json ? 0 : fault_nomem(error);
}
