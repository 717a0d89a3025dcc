/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/turn.h"

int turn_measure(const struct process *process, const struct load *load, struct turn *out)
{
    struct load_result result;
    const long long cpu = process_cpu_ns(process);

    if (load_run(load, &result) < 0)
        return -1;
    const double requests = (double)load->count;
    *out = (struct turn){.rate = requests / result.seconds,
                         .cpu_us = (double)(process_cpu_ns(process) - cpu) / 1e3 / requests,
                         .median_us = (double)result.median_ns / 1e3,
                         .p99_us = (double)result.p99_ns / 1e3,
                         .most_us = (double)result.most_ns / 1e3};
    return 0;
}
