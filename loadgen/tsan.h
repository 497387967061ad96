/* Only for builds under ThreadSanitizer.
 *
 * Debian's librdkafka uses C11 threads, which ThreadSanitizer does not intercept: the first thread that librdkafka
 * starts crashes the program. tsan.c defines those functions by their pthread counterparts, which it does intercept;
 * the dynamic linker prefers them to libc's. A reference to lg_tsan_threads() links them in. */
#ifndef KASSAY_LOADGEN_TSAN_H
#define KASSAY_LOADGEN_TSAN_H

#if defined(__SANITIZE_THREAD__)
#define LG_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LG_TSAN 1
#endif
#endif

#ifdef LG_TSAN
void lg_tsan_threads(void);
#else
static inline void lg_tsan_threads(void)
{
}
#endif

#endif
