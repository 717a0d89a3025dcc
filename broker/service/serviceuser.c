/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/service/serviceuser.h"

#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_serviceuser(struct serviceuser *user, uid_t uid, gid_t gid)
{
    const struct passwd *found = getpwuid(uid);
    user->uid = uid;
    user->gid = found ? found->pw_gid : gid;
    if (found)
        (void)snprintf(user->name, sizeof user->name, "%s", found->pw_name);
    else
        (void)snprintf(user->name, sizeof user->name, "%ju", (uintmax_t)uid);
}

static int find_named_user(struct serviceuser *user, const char *named, struct error *err)
{
    char *end;
    const struct passwd *found = getpwnam(named);
    unsigned long uid = strtoul(named, &end, 10);
    if (found) {
        set_serviceuser(user, found->pw_uid, found->pw_gid);
        return 0;
    }
    if (named[0] < '0' || named[0] > '9' || *end != '\0' || uid >= UINT32_MAX)
        return error_set(err, ERROR_NOT_FOUND,
                         "user %s is not known on this host: create it (systemd-sysusers does, "
                         "from mcastd's sysusers.d file)",
                         named);
    set_serviceuser(user, (uid_t)uid, (gid_t)uid);
    return 0;
}

static int find_ledger_owner(struct serviceuser *user, const char *ledger, struct error *err)
{
    struct stat found;
    char path[CONFIG_PATH_SIZE];
    (void)snprintf(path, sizeof path, "%s", ledger);
    const char *folder = dirname(path);
    if (stat(folder, &found) < 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "which user? By default it is the owner of the ledger's folder, but %s: "
                         "%s; make it, or name the user after the option, as in =mcastd",
                         folder, strerror(errno));
    set_serviceuser(user, found.st_uid, found.st_gid);
    return 0;
}

int serviceuser_find(struct serviceuser *user, const char *named, const struct config *config,
                     struct error *err)
{
    if (named)
        return find_named_user(user, named, err);
    if (geteuid() == 0)
        return find_ledger_owner(user, config->state_path, err);
    set_serviceuser(user, geteuid(), getegid());
    return 0;
}

int serviceuser_become(const struct serviceuser *user, struct error *err)
{
    if (user->uid == geteuid())
        return 0;
    if (geteuid() != 0)
        return error_set(err, ERROR_REFUSED, "only root can check the configuration as user %s",
                         user->name);
    int groups = getpwuid(user->uid) ? initgroups(user->name, user->gid) : setgroups(0, NULL);
    if (groups < 0 || setgid(user->gid) < 0 || setuid(user->uid) < 0)
        return error_set(err, ERROR_REFUSED, "cannot become user %s: %s", user->name,
                         strerror(errno));
    return 0;
}
