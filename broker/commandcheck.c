#include "broker/commandcheck.h"

#include "broker/trustedpath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int look_at_words(char *const *words, struct error *err)
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

void commandcheck_look(struct config_reading *reading)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    ptrdiff_t row = config_key_find("cluster", "list_command") - keys;
    for (uint32_t i = 0; i < reading->config->core.cluster_count; i++) {
        char *const *words = reading->config->clusters[i].list_command;
        struct error err = {0};
        int rc = words != NULL ? look_at_words(words, &err) : 0;
        if (rc == ERROR_REFUSED)
            config_fault(reading, true, &reading->cluster_origins[i][row], "list_command: %s",
                         err.text);
        else if (rc < 0)
            config_fault(reading, false, &reading->cluster_origins[i][row],
                         "list_command: %s; until that is mended, jobs whose end was missed are "
                         "not found",
                         err.text);
    }
}
