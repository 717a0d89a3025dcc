/* Of the shared object: where it begins. */

#include "hook/work.h"

#include <curl/curl.h>

extern work_fn mcast_cleanup_work;

__attribute__((visibility("default"))) enum outcome
mcast_cleanup_work(const struct surroundings *surroundings, const struct cleanup *cleanup,
                   const struct deadline *deadline, struct error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        (void)error_set(err, ERROR_IO, "libcurl cannot be made ready");
        return OUTCOME_REFUSED;
    }
    enum outcome outcome = cleanup_run(surroundings, cleanup, deadline, err);
    curl_global_cleanup();
    return outcome;
}
