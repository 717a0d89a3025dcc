#ifndef MCAST_BROKER_HTTP_API_BODIES_TOKEN_JSON_H
#define MCAST_BROKER_HTTP_API_BODIES_TOKEN_JSON_H

#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/writer.h"

/* What a token is good for, as its bearer reads it; never the token itself. */

/* "token": {"kind", "id", "steps", "operations", "expires"} */
void token_json_write(struct writer *writer, const struct tokenproof *proof);

/* "expires": null when no restriction says when, or in no year that has four digits. */
void token_json_write_expires(struct writer *writer, const struct bearer_scope *scope);

#endif
