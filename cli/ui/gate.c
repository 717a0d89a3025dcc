/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ui/gate.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_DIGITS = 20 }; /* of a number that is surely too long */

static const char json[] = "application/json";

/* What is passed on: nothing that carries a token or a key, so GET of a job, which shows its owner
 * the environment of its tasks, and of the environment are not among it. '*' is one name. */
static const struct {
    const char *path, *type;
} passed[] = {{"/v1/status", json},
              {"/v1/history", json},
              {"/v1/doctor", json},
              {"/v1/whoami", json},
              {"/v1/jobs", json},
              {"/v1/vnis", json},
              {"/v1/fabric", json},
              {"/v1/nodes", json},
              {"/v1/nodes/*", json},
              {"/v1/events", "text/event-stream"},
              {"/v1/clusters/*/jobs/*/topology", json},
              {"/v1/clusters/*/jobs/*/traffic", json}};

static const struct {
    const char *path, *type;
} files[] = {{"/", "text/html; charset=utf-8"},
             {"/ui.css", "text/css; charset=utf-8"},
             {"/ui.js", "text/javascript; charset=utf-8"},
             {"/ui-base.js", "text/javascript; charset=utf-8"},
             {"/ui-now.js", "text/javascript; charset=utf-8"},
             {"/ui-jobs.js", "text/javascript; charset=utf-8"},
             {"/ui-time.js", "text/javascript; charset=utf-8"}};

/* Up to the query. */
static bool is_path(const char *target, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern != '*' && *pattern != *target++)
            return false;
        if (*pattern == '*') {
            const size_t length = strcspn(target, "/?");
            if (length == 0)
                return false;
            target += length;
        }
    }
    return *target == '\0' || *target == '?';
}

/* "?number=N" and nothing else: a release is of the reservation that was looked at (B5). */
static bool has_number(const char *target)
{
    static const char name[] = "?number=";
    const char *query = strchr(target, '?');
    if (!query || strncmp(query, name, sizeof name - 1) != 0)
        return false;
    const size_t digits = strspn(query + sizeof name - 1, "0123456789");
    return digits > 0 && digits < NUMBER_DIGITS && query[sizeof name - 1 + digits] == '\0';
}

/* This machine, by a name that no other site can have, whatever its name server says: a browser
 * that was led here by another name sends that. Any port, for it may be forwarded. */
static bool is_local(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof names[0]; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) != 0)
            continue;
        const char *port = host + length;
        if (!*port || (*port == ':' && port[1] && !port[1 + strspn(port + 1, "0123456789")]))
            return true;
    }
    return false;
}

/* Browsers send these of each script's request that is not of the site's own page. */
static bool is_own_page(const struct gate_request *request)
{
    static const char scheme[] = "http://";
    const char *origin = request->origin, *site = request->site;
    if (origin && (strncmp(origin, scheme, sizeof scheme - 1) != 0 ||
                   strcmp(origin + sizeof scheme - 1, request->host) != 0))
        return false;
    return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

static struct gate_verdict refuse(int status, const char *code, const char *detail)
{
    return (struct gate_verdict){.status = status, .code = code, .detail = detail};
}

/* A browser names the page that asks with each request but GET. */
static struct gate_verdict judge_call(const struct gate_request *request,
                                      const struct gate_keys *keys, bool release)
{
    const bool session = is_path(request->target, "/session");
    if (!is_own_page(request) || (release && !request->origin))
        return refuse(403, "other-site", "the request is not from this program's own page");
    if (!secret_equal(secret_of(request->key), session ? keys->address : keys->session))
        return refuse(403, "wrong-key",
                      session
                          ? "the address was used before; open the one that mcastctl ui printed "
                            "last"
                          : "the key is missing or wrong; open the address that mcastctl ui "
                            "printed last");
    if (session)
        return (struct gate_verdict){.kind = GATE_SESSION, .type = json};
    if (release)
        return (struct gate_verdict){.kind = GATE_RELEASE, .type = json};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (is_path(request->target, passed[i].path))
            return (struct gate_verdict){.kind = GATE_BROKER, .type = passed[i].type};
    return refuse(404, "no-such-page", "mcastctl ui passes nothing of this path");
}

struct gate_verdict gate_judge(const struct gate_request *request, const struct gate_keys *keys,
                               bool write)
{
    const bool release = write && strcmp(request->method, "DELETE") == 0 &&
                         is_path(request->target, "/v1/clusters/*/jobs/*") &&
                         has_number(request->target);
    if (!is_local(request->host))
        return refuse(421, "other-host",
                      "the host's name must be 127.0.0.1, localhost or [::1], as in the address "
                      "that mcastctl ui printed");
    if ((strcmp(request->method, "GET") != 0 && !release) || request->body)
        return refuse(405, "get-only",
                      write ? "mcastctl ui passes GET, and DELETE of a job with its reservation's "
                              "number, both without a body"
                            : "mcastctl ui changes nothing: GET without a body only; it releases "
                              "reservations when it is started with --write");
    for (size_t i = 0; !release && i < sizeof files / sizeof files[0]; i++)
        if (strcmp(request->target, files[i].path) == 0)
            return (struct gate_verdict){.kind = GATE_PAGE, .type = files[i].type};
    return judge_call(request, keys, release);
}
