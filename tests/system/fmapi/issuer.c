/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/fmapi/issuer.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>
#include <unistd.h>

static void answer_token(void *arg, const struct scriptedserver_request *request,
                         struct scriptedserver_answer *answer)
{
    struct issuer *issuer = arg;
    const char *body = issuer->body;
    const char *expires_in = issuer->expires_in;

    (void)snprintf(issuer->head, sizeof issuer->head, "%s", request->head);
    (void)snprintf(issuer->form, sizeof issuer->form, "%s", request->body);
    answer->fault = (enum scriptedserver_fault)issuer->fault;
    if (body) {
        answer->status = issuer->status;
        answer->body = scriptedserver_text("%s", body);
        return;
    }
    answer->body = scriptedserver_text(
        "{\"access_token\":\"" ISSUER_TOKEN "-%u\",\"token_type\":\"bearer\"%s%s,\"scope\":\"x\"}",
        ++issuer->granted, expires_in ? ",\"expires_in\":" : "", expires_in ? expires_in : "");
}

void issuer_put(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", text) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

void issuer_init(struct issuer *issuer, const struct scriptedserver_options *options)
{
    struct scriptedserver_options own = *options;
    char url[128];

    *issuer = (struct issuer){.expires_in = "3600"};
    own.script = answer_token;
    own.arg = issuer;
    issuer->scriptedserver = scriptedserver_create(&own);
    (void)snprintf(issuer->folder, sizeof issuer->folder, "/tmp/mcast-oauth-XXXXXX");
    assert_non_null(mkdtemp(issuer->folder));
    (void)snprintf(issuer->endpoint, sizeof issuer->endpoint, "%s/endpoint", issuer->folder);
    (void)snprintf(issuer->id, sizeof issuer->id, "%s/client-id", issuer->folder);
    (void)snprintf(issuer->secret, sizeof issuer->secret, "%s/client-secret", issuer->folder);
    (void)snprintf(url, sizeof url, "%s/realms/fm/token",
                   scriptedserver_url(issuer->scriptedserver));
    issuer_put(issuer->endpoint, url, 0644);
    issuer_put(issuer->id, ISSUER_ID, 0644);
    issuer_put(issuer->secret, ISSUER_SECRET, 0600);
}

void issuer_release(struct issuer *issuer)
{
    scriptedserver_destroy(issuer->scriptedserver);
    (void)unlink(issuer->endpoint);
    (void)unlink(issuer->id);
    (void)unlink(issuer->secret);
    (void)rmdir(issuer->folder);
}

void issuer_say(struct issuer *issuer, int status, const char *body)
{
    issuer->status = status;
    issuer->body = body;
}

void issuer_grant(struct issuer *issuer, const char *expires_in)
{
    issuer->expires_in = expires_in;
    issuer->body = NULL;
    issuer->fault = SCRIPTEDSERVER_NONE;
}

unsigned issuer_number(const char *head)
{
    static const char line[] = "\r\nAuthorization: Bearer " ISSUER_TOKEN "-";
    const char *at = strstr(head, line);
    return at ? (unsigned)strtoul(at + sizeof line - 1, NULL, 10) : 0;
}

unsigned issuer_requests(struct issuer *issuer)
{
    return scriptedserver_requests(issuer->scriptedserver);
}
