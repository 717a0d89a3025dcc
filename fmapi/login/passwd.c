#include "fmapi/login/passwd.h"

#include "fmapi/wire/keyfile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

int passwd_read(const char *authdir, char password[static PASSWD_MAX + 1], struct error *err)
{
    static const struct keyfile kind = {
        .holds = "the fabric manager's password", .guard = KEYFILE_SECRET, .max = PASSWD_MAX};
    char path[PATH_MAX];
    struct secret line;

    if (snprintf(path, sizeof path, "%s/passwd", authdir) >= (int)sizeof path)
        return error_set(err, ERROR_INVALID, "the name of the login's directory is too long");
    int code = keyfile_line(path, &kind, &line, err);
    if (code == 0)
        memcpy(password, secret_expose(line), strlen(secret_expose(line)) + 1);
    secret_wipe(&line);
    return code;
}
