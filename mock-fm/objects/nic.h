/* Addresses of Slingshot NICs: 20 bits, written by libfabric as three groups ("1:12:00"), and by
 * the fabric manager, in `hwRoot`, as six groups of which the first three are zero. */
#ifndef MCAST_MOCK_FM_OBJECTS_NIC_H
#define MCAST_MOCK_FM_OBJECTS_NIC_H

#include <stdbool.h>
#include <stdint.h>

#define NIC_ADDRESSES (1U << 20)
#define NIC_TEXT_SIZE 18 /* "00:00:00:0F:AB:CD" and its NUL */

/* Accepts exactly three groups of hexadecimal digits, F:FF:FF at most; false otherwise. */
bool nic_parse(const char *text, uint32_t *nic);

/* The form that libfabric sends. */
void nic_format_short(uint32_t nic, char text[NIC_TEXT_SIZE]);

/* The form that libfabric accepts as `hwRoot`. */
void nic_format_long(uint32_t nic, char text[NIC_TEXT_SIZE]);

#endif
