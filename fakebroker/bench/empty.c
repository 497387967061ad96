/* Linked to all that fakebroker is linked to, and does nothing: what the loader alone costs. */
#include <stdio.h>

int main(void)
{
	puts("ready");
	return 0;
}
