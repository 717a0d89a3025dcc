#include "broker/firstkey.h"

#include "broker/service/serviceuser.h"
#include "tokens/seal_key.h"

#include <sys/stat.h>

int firstkey_make(const struct config *config, const char *user, bool *made, struct error *err)
{
    struct stat there;
    struct serviceuser owner;
    *made = false;
    if (config->store == CONFIG_STORE_MEMORY || stat(config->state_key_file, &there) == 0)
        return 0;
    int rc = serviceuser_find(&owner, user, config, err);
    if (rc == 0)
        rc = seal_key_create(config->state_key_file, owner.uid, owner.gid, err);
    *made = rc == 0;
    return rc;
}
