/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Checks that only root and one user can change what is read, run, written or served at a path. */

enum trustedpath_kind {
    TRUSTEDPATH_FILE,   /* a regular file that is there */
    TRUSTEDPATH_FOLDER, /* a folder that is there; others can make nothing in it */
    TRUSTEDPATH_ENTRY,  /* anything that is there or will be made there, as a socket */
};

struct trustedpath {
    const char *path; /* relative ones begin at the process's own folder */
    enum trustedpath_kind kind;
    uid_t user;
    bool written;        /* the user writes it and should own it; else root */
    const char *subject; /* what others could change, for the sentences: "what is run" */
};

/* Checks each folder and symbolic link of the path and what it names: root or the user owns it, and
 * no other user can write to it. In a folder with the sticky bit, as /tmp, others may write: they
 * cannot change files of others; but a TRUSTEDPATH_FOLDER itself must not be one. 0; ERROR_REFUSED
 * with the cause and the command that corrects it; ERROR_NOT_FOUND when it is missing or cannot be
 * seen. */
int trustedpath_check(const struct trustedpath *wanted, struct error *err);

/* Who may serve the Unix socket of this path besides root: the owner of its folder, if only that
 * user and root can put another socket there. 0; ERROR_REFUSED and ERROR_NOT_FOUND as above: only
 * root. */
int trustedpath_socket_owner(const char *path, uid_t *owner, struct error *err);

/* Checks that only root and this process's user can change a command: its program, and every file
 * that an argument names, for an interpreter runs it. words ends with NULL. 0; ERROR_REFUSED:
 * others can change it; ERROR_NOT_FOUND: it is missing or cannot be executed. */
int trustedcommand_check(char *const *words, struct error *err);

/* The uid that the kernel reports for every uid that it cannot map: of users outside a user
 * namespace, and by NFS for root. It identifies no single user. 65534, unless configured otherwise.
 */
uid_t trustedpath_overflowuid(void);
