/* Of the program: how the work is found. */

#include "hook/object.h"
#include "hook/work.h"

#include <string.h>

work_fn *work_open(struct error *err)
{
    work_fn *work;
    void *symbol = object_open(WORK_OBJECT, WORK_SYMBOL, err);
    memcpy(&work, &symbol, sizeof work);
    return work;
}
