#include "broker/http/request/call.h"
#include "broker/http/routes.h"
#include "broker/log/log.h"
#include "base/hex.h"

/* POST /v1/tokens/rotate: a new root key makes tokens from now on (B3). */

enum { KEY_ID_SIZE = 2 * ROOTKEY_ID_SIZE + 1 };

static void write_key(struct call *call, const struct rootkeys *keys, size_t dropped)
{
    char id[KEY_ID_SIZE] = "", who[IDENTITY_TEXT_SIZE];
    const struct rootkey *current = rootkeys_current(keys);
    hex_write(current->id, ROOTKEY_ID_SIZE, id);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "key", id);
    writer_time(&call->out, "made", current->made * 1000);
    writer_number(&call->out, "keys", keys->count);
    writer_number(&call->out, "dropped", dropped);
    writer_end_object(&call->out);
    log_line(LOG_NOTICE, "root key %s makes tokens now, asked for by %s keys=%zu dropped=%zu", id,
             identity_format(&call->identity.proof, who, sizeof who), keys->count, dropped);
}

int rotate_handle(struct call *call)
{
    const struct http *http = call->http;
    struct error err = {0};
    size_t before = http->keyring ? keyring_keys(http->keyring)->count : 0;
    int rc = http->keyring ? keyring_rotate(http->keyring, engine_core(http->engine),
                                            engine_now_ms(http->engine) / 1000, &err)
                           : error_set(&err, ERROR_REFUSED, "this broker has no root keys");
    if (rc < 0)
        return problem_set(&call->problem,
                           rc == ERROR_REFUSED || rc == ERROR_FULL ? MHD_HTTP_CONFLICT
                                                                   : MHD_HTTP_SERVICE_UNAVAILABLE,
                           "root-keys", NULL, "no key was made: %s", err.text);
    const struct rootkeys *keys = keyring_keys(http->keyring);
    write_key(call, keys, before + 1 - keys->count);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
