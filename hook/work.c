/* Of the shared object: where it begins. */

#include "hook/work.h"

extern work_fn mcast_cleanup_work;

__attribute__((visibility("default"))) enum outcome
mcast_cleanup_work(const struct surroundings *surroundings, const struct cleanup *cleanup,
                   const struct deadline *deadline, struct error *err)
{
    return cleanup_run(surroundings, cleanup, deadline, err);
}
