/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/scene.h"

/* I5: no answer to a release waits for the fabric manager. Shown by what comes before what,
 * whatever the time it takes: a fabric manager that answers no release of ours for ten minutes has
 * been asked for some, and has answered none, when all releases that jobs' resource managers have
 * sent since are answered. */

/* The broker gives nothing up meanwhile: [fm] timeout is as long. What was asked is left
 * unanswered: the caller kills the fabric manager's double. Adds to *answered the jobs whose
 * release was answered, and not by the fabric manager. */
void silence(struct scene *scene, unsigned *answered);
