/* Of the shared object: where it begins. */

#include "hook/fabric.h"
#include "hook/viafabric.h"

#include <curl/curl.h>

extern fabric_fn mcast_cleanup_fabric;

__attribute__((visibility("default"))) enum outcome
mcast_cleanup_fabric(const struct surroundings *surroundings, bool below,
                     const struct deadline *deadline, struct error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)error_set(err, ERROR_IO, "libcurl cannot be made ready");
        return OUTCOME_REFUSED;
    }
    enum outcome outcome = viafabric_clean(surroundings, below, deadline, err);
    curl_global_cleanup();
    return outcome;
}
