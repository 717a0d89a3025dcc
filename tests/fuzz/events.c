/* SPDX-License-Identifier: Apache-2.0 */
/* The core under arbitrary events (machine.h): each byte, with those that it needs, is a step. */

#include "tests/fuzz/machine.h"

enum { STEPS_MAX = 300 };

void fuzz_one(struct fuzz_input *in)
{
    static struct machine machine;
    machine_init(&machine);
    machine.core = core_create(&machine.config);
    machine_start(&machine);
    for (int i = 0; i < STEPS_MAX && in->left > 0; i++)
        machine_step(&machine, in);
    machine_crash(&machine); /* what is on disk at the end can be read, too */
    machine_release(&machine);
}
