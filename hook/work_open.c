/* Of the program: how the shared object is found. */

#include "hook/work.h"

#include <dlfcn.h>
#include <string.h>

/* dlerror has none only if nothing failed. */
static work_fn *failed(struct error *err)
{
    const char *words = dlerror();
    (void)error_set(err, ERROR_IO, "%s cannot be opened: %.200s", WORK_OBJECT,
                    words ? words : "no reason is given");
    return NULL;
}

work_fn *work_open(struct error *err)
{
    work_fn *work;
    void *object = dlopen(WORK_OBJECT, RTLD_NOW | RTLD_LOCAL); /* by the program's RUNPATH */
    void *symbol = object ? dlsym(object, WORK_SYMBOL) : NULL;
    if (!symbol)
        return failed(err);
    memcpy(&work, &symbol, sizeof work); /* ISO C has no cast for it */
    return work;
}
