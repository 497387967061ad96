#include "lib/text/address.h"

#include <stdio.h>
#include <string.h>

const char *kt_address(char *buf, size_t size, const char *host, int port)
{
	snprintf(buf, size, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
	return buf;
}
