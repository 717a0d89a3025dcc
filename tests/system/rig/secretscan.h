/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* That secrets stand nowhere (B8): looks for them in all that the programs of a test
 * wrote. The rig does so by itself, for every test: in each folder before folder_destroy deletes
 * it, in each process's command line before it is ended, in each refusal and each page for
 * everybody that plainhttp_call brings.
 *
 * What is searched for is known by its form, wherever it comes from: session tokens and access
 * tokens of mock-fm, tokens of the broker's, the login of "cxi" as HTTP carries it, private keys,
 * MUNGE credentials. And, in a folder, what stands in its files of passwords and keys.
 *
 * Where each belongs it may stand: in files of SECRETSCAN_HOMES, among them those whose names end
 * in
 * ".token", for what a test gives a program or asks it for; and in files of a folder
 * SECRETSCAN_OUT, for what jobs print, which have their tokens, or SECRETSCAN_KVS, Flux's own
 * store, from which each job's owner gets his. */

#define SECRETSCAN_OUT "out"
#define SECRETSCAN_KVS "kvs"

/* Names of files, as fnmatch has them. */
#define SECRETSCAN_HOMES                                                                           \
    "passwd", "client-secret", "state.key", "root.keys", "launch.keys", "*.key", "*.key.*",        \
        "*.keys.*", "fm.state*", "*.token"

struct secretscan {
    const char *what; /* "a session token" */
    size_t at;        /* where it begins */
};

/* Whether there is one in the bytes, by its form. */
bool secretscan_find(const char *bytes, size_t length, struct secretscan *found);

/* The same for all files below a folder, and for what its own files of passwords and keys hold.
 * Says on stderr where each is, and what stands before it, but not itself. The number of files that
 * have one. */
unsigned secretscan_search(const char *folder);

/* For the rig: these end the test, as failed, when there is one. */
void secretscan_fail_if_folder(const char *folder);
void secretscan_fail_if_text(const char *bytes, size_t length, const char *where);
void secretscan_fail_if_title(pid_t pid);
