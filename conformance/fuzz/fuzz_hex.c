/* Text that may stand for bytes: those that it gives are no more than its lines can stand for, and a dump of them gives
 * the same. */
#include "conformance/inspect/hex.h"
#include "lib/text/fuzz/fuzz.h"

FUZZ_TARGET

enum { WIDTH = 16, DUMPED_MAX = 1 << 16 };

/* As hexdump -C writes them, equal lines left out. */
static void dump(FILE *f, const uint8_t *p, size_t n)
{
	bool starred = false;

	for (size_t at = 0; at < n; at += WIDTH) {
		size_t size = n - at < WIDTH ? n - at : WIDTH;

		if (at > 0 && size == WIDTH && memcmp(p + at, p + at - WIDTH, WIDTH) == 0) {
			if (!starred)
				fprintf(f, "*\n");
			starred = true;
			continue;
		}
		starred = false;
		fprintf(f, "%08zx ", at);
		for (size_t i = 0; i < size; i++)
			fprintf(f, i == WIDTH / 2 ? "  %02x" : " %02x", p[at + i]);
		fprintf(f, "%*s|..|\n", (int)(2 + (WIDTH - size) * 3), "");
	}
	fprintf(f, "%08zx\n", n);
}

static void dump_gives_the_same(const struct kw_buf *buf)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct kw_buf back;
	bool is = false;

	if (!f)
		exit(1);
	dump(f, buf->p, buf->n);
	fclose(f);
	kw_buf_init(&back, 0);
	FUZZ_CHECK(cf_hex_read(&(struct kw_slice){(const uint8_t *)text, n}, &back, &is, NULL) == 0 && is);
	FUZZ_CHECK(back.n == buf->n && memcmp(back.p, buf->p, back.n) == 0);
	kw_buf_fini(&back);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kw_slice text = {p, n};
	struct kt_err err = {0};
	struct kw_buf buf;
	bool is = false;
	int code;

	kw_buf_init(&buf, 0);
	code = cf_hex_read(&text, &buf, &is, &err);
	FUZZ_CHECK(code == err.code && (code == 0 || (err.line > 0 && (size_t)err.line <= n && err.text[0])));
	FUZZ_CHECK(buf.n <= n / 2 + CF_HEX_REPEATED_MAX);
	FUZZ_CHECK(code || is == (buf.n > 0));
	if (code == 0 && is && buf.n <= DUMPED_MAX)
		dump_gives_the_same(&buf);
	kw_buf_fini(&buf);
	return 0;
}
