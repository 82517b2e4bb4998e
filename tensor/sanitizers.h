// Which sanitizers a source is built with: GCC tells by macros, clang by __has_feature.
#pragma once

#if defined(__has_feature)
#define GRURUN_HAS_FEATURE(feature) __has_feature(feature)
#else
#define GRURUN_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || GRURUN_HAS_FEATURE(address_sanitizer)
#define GRURUN_ASAN 1
#else
#define GRURUN_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || GRURUN_HAS_FEATURE(thread_sanitizer)
#define GRURUN_TSAN 1
#else
#define GRURUN_TSAN 0
#endif
