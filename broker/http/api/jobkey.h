/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/problem.h"
#include "core/reservation/record.h"

/* 128 bits in digits, for a new reservation (job.c). 0, or -1 with a 503. */
int jobkey_draw(char key[static JOB_KEY_LENGTH + 1], struct problem *problem);
