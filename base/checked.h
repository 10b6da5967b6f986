// Whether what holds if the compiler has no fault is checked at each step, which takes long: in the
// sanitized build, which the tests run.
#ifndef LEAT_BASE_CHECKED_H
#define LEAT_BASE_CHECKED_H

#ifdef __has_feature
#define LEAT_IS_CHECKED __has_feature(address_sanitizer)
#else
#define LEAT_IS_CHECKED 0
#endif

#endif
