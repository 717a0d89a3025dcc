#include "mock-fm/objects/nic.h"

#include <stdio.h>
#include <string.h>

bool nic_parse(const char *text, uint32_t *nic)
{
    unsigned high, middle, low;
    int end = 0;
    /* sscanf would also take blanks, signs and "0x". */
    if (text[strspn(text, "0123456789abcdefABCDEF:")] ||
        sscanf(text, "%2x:%2x:%2x%n", &high, &middle, &low, &end) != 3 || text[end] || high > 0xF)
        return false;
    *nic = high << 16 | middle << 8 | low;
    return true;
}

void nic_format_short(uint32_t nic, char text[NIC_TEXT_SIZE])
{
    snprintf(text, NIC_TEXT_SIZE, "%X:%02X:%02X", (nic >> 16) & 0xF, (nic >> 8) & 0xFF, nic & 0xFF);
}

void nic_format_long(uint32_t nic, char text[NIC_TEXT_SIZE])
{
    snprintf(text, NIC_TEXT_SIZE, "00:00:00:%02X:%02X:%02X", (nic >> 16) & 0xF, (nic >> 8) & 0xFF,
             nic & 0xFF);
}
