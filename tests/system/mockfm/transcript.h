/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of tests/data/transcripts: the requests of a real client, by connection. */
#pragma once

#include <stddef.h>

#define TRANSCRIPT_REQUESTS_MAX 16

struct transcript_request {
    int connection; /* as recorded: the same number, the same connection */
    size_t length;
    char bytes[1024]; /* terminated behind its length */
};

struct transcript {
    size_t count;
    struct transcript_request requests[TRANSCRIPT_REQUESTS_MAX];
};

/* Reads the file; fails the test when it is damaged: each request has as many bytes as it says. */
void transcript_read(struct transcript *transcript, const char *path);
