/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/fmapi/scriptedserver.h"

#include <stdatomic.h>
#include <sys/types.h>

/* An OAuth2 token endpoint that answers as the test says, and the folder of the client's files. */

#define ISSUER_ID "wlm client" /* both need percent-encoding */
#define ISSUER_SECRET "s3cret&=+%/fm-öäü"
#define ISSUER_ENCODED "s3cret%26%3D%2B%25%2Ffm-%C3%B6%C3%A4%C3%BC"
#define ISSUER_TOKEN "eyJhbGciOiJub25lIn0.fm-t0ken" /* every access token begins so */

struct issuer {
    struct scriptedserver *scriptedserver;
    char folder[64], endpoint[96], id[96], secret[96];
    _Atomic(const char *) expires_in; /* JSON; NULL: missing */
    _Atomic(const char *) body;       /* said in place of a grant; NULL: a grant */
    _Atomic int status;               /* with body */
    _Atomic int fault;                /* enum scriptedserver_fault */
    atomic_uint granted;              /* tokens so far; the last one carries this number */
    char head[2048], form[1024];      /* of the last request */
};

/* Grants tokens for an hour. The options' script is not looked at. */
void issuer_init(struct issuer *issuer, const struct scriptedserver_options *options);
void issuer_release(struct issuer *issuer);

/* Answers from now on. */
void issuer_say(struct issuer *issuer, int status, const char *body);
void issuer_grant(struct issuer *issuer, const char *expires_in);

/* Writes a file of the folder. */
void issuer_put(const char *path, const char *text, mode_t mode);

/* The number of the access token in a request's head, 0 when there is none. */
unsigned issuer_number(const char *head);

unsigned issuer_requests(struct issuer *issuer);
