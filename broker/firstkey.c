#include "broker/firstkey.h"

#include "tokens/seal_key.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

static int owner_of(const char *user, uid_t *uid, gid_t *gid, struct error *err)
{
    *uid = (uid_t)-1;
    *gid = (gid_t)-1;
    if (user == NULL)
        return 0;
    const struct passwd *found = getpwnam(user);
    if (found == NULL)
        return error_set(err, ERROR_NOT_FOUND,
                         "user %s is not known on this host: create it (systemd-sysusers does, "
                         "from mcastd's sysusers.d file)",
                         user);
    *uid = found->pw_uid;
    *gid = found->pw_gid;
    return 0;
}

int firstkey_make(const struct config *config, const char *user, bool *made, struct error *err)
{
    struct stat there;
    uid_t uid;
    gid_t gid;
    *made = false;
    if (config->store == CONFIG_STORE_MEMORY || stat(config->state_key_file, &there) == 0)
        return 0;
    int rc = owner_of(user, &uid, &gid, err);
    if (rc == 0)
        rc = seal_key_create(config->state_key_file, uid, gid, err);
    *made = rc == 0;
    return rc;
}
