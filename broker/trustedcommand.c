#include "broker/trustedcommand.h"

#include "broker/trustedpath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int trustedcommand_check(char *const *words, struct error *err)
{
    int rc = trustedpath_check(words[0], geteuid(), err);
    if (rc == 0 && faccessat(AT_FDCWD, words[0], X_OK, AT_EACCESS) < 0)
        return error_set(err, ERROR_NOT_FOUND, "uid %ju cannot execute %s: %s",
                         (uintmax_t)geteuid(), words[0], strerror(errno));
    /* A script that is named to its interpreter is run, too. */
    for (size_t i = 1; rc == 0 && words[i] != NULL; i++) {
        struct stat found;
        if (words[i][0] == '/' && stat(words[i], &found) == 0 && S_ISREG(found.st_mode))
            rc = trustedpath_check(words[i], geteuid(), err);
    }
    return rc;
}
