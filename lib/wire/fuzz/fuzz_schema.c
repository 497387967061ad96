/* The schema compiler: a text is refused with its line, or C comes out. The compiler is a program that ends where it
 * fails; here it comes back. */
#include <setjmp.h>

#include "lib/text/fuzz/fuzz.h"

static jmp_buf refused;

int schemac_main(int argc, char **argv);

#define main schemac_main
#define exit(status) longjmp(refused, 1)
#include "lib/wire/schemac.c"
#undef exit
#undef main

FUZZ_TARGET

/* One message, then all of it again as a second output file would have it. */
static void compile(struct msg *msg, char **header, char **source)
{
	size_t n;

	parse_text(msg);
	emit_header(open_memstream(header, &n), msg, 1);
	emit_source(open_memstream(source, &n), msg, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct msg msg;   /* large */
	static char *header, *source;

	msg = (struct msg){.file = "fuzz.msg", .text = fuzz_text(p, n)};
	cur_file = "fuzz.msg";
	cur_line = 0;
	header = source = NULL;
	if (setjmp(refused) == 0) {
		compile(&msg, &header, &source);
		FUZZ_CHECK(header && source && strstr(source, "kw_all_messages_n = 1;"));
	}
	free(msg.text);
	free(header);
	free(source);
	return 0;
}
