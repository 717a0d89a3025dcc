/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Ports of this machine for a program that listens where it is told to, and may start later or
 * anew: below those that the kernel gives to clients, and of two tests at a time only one has it
 * (rig/ports.py draws for scripts in the same way). */

struct port {
    int number, claim; /* claim: a descriptor that keeps it for this test */
};

/* Free at this moment. A program that is not of the rig may take it before ours does. */
void port_draw(struct port *port);
/* Also of one that was never drawn. */
void port_release(struct port *port);
