/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/mockfm/authority.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"

/* A real broker that listens with TLS, knows clients by certificates and, where there is a munged,
 * by MUNGE; without a fabric manager. What cannot be had fails the test. */

enum { SECURED_PATH_SIZE = 128 };

struct secured {
    char folder[FOLDER_PATH_SIZE];
    char config[SECURED_PATH_SIZE], socket[SECURED_PATH_SIZE], munge[SECURED_PATH_SIZE];
    char url[64];               /* https://127.0.0.1:PORT */
    struct authority authority; /* ca.pem, in the folder */
    struct process *broker, *munged;
};

/* In the folder: server.pem, server.key that end at `end`; admin.pem, admin.key, whose holder is an
 * admin. munged: start one, with a key and socket of its own. */
void secured_open(struct secured *secured, const char *mcastd, time_t end, bool munged);
void secured_close(struct secured *secured);

/* The path of a file in the folder; one buffer after the other of four. */
const char *secured_file(const struct secured *secured, const char *name);
