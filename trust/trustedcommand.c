#include "trust/trustedcommand.h"

#include "trust/trustedpath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_file(const char *path, struct error *err)
{
    const struct trustedpath wanted = {
        .path = path, .kind = TRUSTEDPATH_FILE, .user = geteuid(), .subject = "what is run"};
    return trustedpath_check(&wanted, err);
}

int trustedcommand_check(char *const *words, struct error *err)
{
    int rc = check_file(words[0], err);
    if (rc == 0 && faccessat(AT_FDCWD, words[0], X_OK, AT_EACCESS) < 0)
        return error_set(err, ERROR_NOT_FOUND, "uid %ju cannot execute %s: %s",
                         (uintmax_t)geteuid(), words[0], strerror(errno));
    /* A script that is named to its interpreter is run, too. */
    for (size_t i = 1; rc == 0 && words[i] != NULL; i++) {
        struct stat found;
        if (words[i][0] == '/' && stat(words[i], &found) == 0 && S_ISREG(found.st_mode))
            rc = check_file(words[i], err);
    }
    return rc;
}
