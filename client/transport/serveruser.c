/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/peer.h"

#include "trust/trustedpath.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ENTRY_SIZE = 16384 /* of a user, from name services */ };

/* False: there is no such user. */
static bool find_user(const char *user, uid_t *uid)
{
    char buffer[ENTRY_SIZE];
    struct passwd entry, *found = NULL;
    if (user[0] != '\0' && user[strspn(user, "0123456789")] == '\0') {
        errno = 0;
        unsigned long number = strtoul(user, NULL, 10);
        *uid = (uid_t)number;
        return errno == 0 && number < UINT32_MAX;
    }
    if (getpwnam_r(user, &entry, buffer, sizeof buffer, &found) != 0 || !found)
        return false;
    *uid = found->pw_uid;
    return true;
}

static bool is_folders_owner(const char *path, uid_t uid, char *words, size_t size)
{
    struct error err = {0};
    uid_t owner = 0;
    if (trustedpath_socket_owner(path, &owner, &err) < 0)
        snprintf(words, size, "user %ju serves it, who is not root, and %s", (uintmax_t)uid,
                 err.text);
    else if (uid != owner)
        snprintf(words, size, "user %ju serves it, who is neither root nor user %ju, its folder's",
                 (uintmax_t)uid, (uintmax_t)owner);
    else
        return true;
    return false;
}

bool serveruser_trusted(int fd, const char *path, const char *configured, char *words, size_t size)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    uid_t expected = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) {
        snprintf(words, size, "the system does not say who serves it: %s", strerror(errno));
        return false;
    }
    if (peer.uid == 0)
        return true;
    if (configured && !find_user(configured, &expected)) {
        snprintf(words, size, "user %ju serves it, and the user that should, '%.60s', is not known",
                 (uintmax_t)peer.uid, configured);
        return false;
    }
    if (configured && peer.uid == expected)
        return true;
    /* All users that this namespace cannot name have this uid, the folder's owner perhaps, too. */
    if (peer.uid == trustedpath_overflowuid()) {
        snprintf(words, size, "user %ju serves it, as which every unknown user appears here",
                 (uintmax_t)peer.uid);
        return false;
    }
    return peer.uid == geteuid() || is_folders_owner(path, peer.uid, words, size);
}
