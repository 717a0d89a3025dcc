/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ownjob.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *ownjob_variable(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

void ownjob_find_broker(struct call *call, char url[static OWNJOB_URL_SIZE])
{
    static const char trees[] = "/fabric/collectives/multicasts";
    const char *given = ownjob_variable("FI_CXI_COLL_FABRIC_MGR_URL");
    const char *ca = ownjob_variable("FI_CXI_COLL_FABRIC_MGR_CACERT");
    const size_t length = given ? strlen(given) : 0, end = sizeof trees - 1;
    if (call->url || ownjob_variable("MCAST_URL") || access(MCAST_DEFAULT_SOCKET, F_OK) == 0 ||
        length <= end || length - end >= OWNJOB_URL_SIZE ||
        strcmp(given + length - end, trees) != 0)
        return;
    memcpy(url, given, length - end);
    url[length - end] = '\0';
    call->url = url;
    if (!call->cacert && !ownjob_variable("MCAST_CACERT") && ca && ca[0] == '/')
        call->cacert = ca;
}

int ownjob_find_token(struct call *call, bool *has)
{
    const char *own = ownjob_variable("MCAST_TOKEN");
    const char *token = ownjob_variable("FI_CXI_COLL_MCAST_TOKEN");
    *has = own || token;
    return own || !token ? 0 : mcast_set_token(call->handle, token, &call->error);
}
