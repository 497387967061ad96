/* The schema compiler: a text is refused with its line, or C comes out. The compiler is a program that ends where it
 * fails; here it comes back. */
#include <setjmp.h>

#include "lib/text/fuzz/fuzz.h"

static jmp_buf refused;
static FILE *complaints;

int schemac_main(int argc, char **argv);

#undef stderr
#define main schemac_main
#define exit(status) longjmp(refused, 1)
#define stderr complaints
#include "lib/wire/schemac.c"
#include "lib/wire/schemac_read.c"
#include "lib/wire/schemac_write.c"
#undef stderr
#undef exit
#undef main
#define stderr stderr

FUZZ_TARGET

static FILE *output;   /* that is being written; the compiler closes it */
static size_t output_n;

static FILE *write_to(char **text)
{
	output = open_memstream(text, &output_n);
	FUZZ_CHECK(output);
	return output;
}

static void compile(struct msg *msg, char **header, char **source)
{
	schemac_parse(msg);
	schemac_put_header(write_to(header), msg, 1);
	schemac_put_source(write_to(source), msg, 1);
	output = NULL;
	FUZZ_CHECK(strstr(*source, "kw_all_messages_n = 1;"));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static struct msg msg;   /* large */
	static char *header, *source;

	msg = (struct msg){.file = "fuzz.msg", .text = fuzz_text(p, n)};
	schemac_file = "fuzz.msg";
	schemac_line = 0;
	header = source = NULL;
	output = NULL;
	if (!complaints)
		complaints = fopen("/dev/null", "w");
	if (!complaints)
		exit(1);
	if (setjmp(refused) == 0)
		compile(&msg, &header, &source);
	if (output)
		fclose(output);
	free(msg.text);
	free(header);
	free(source);
	return 0;
}
