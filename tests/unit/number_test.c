// base/number.c: numbers as text, in both directions.
#include "base/number.h"
#include "base/philox.h"
#include "base/text.h"
#include "leat/dtype.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

static void check_decimal(const char *expected, double value, bool single) {
  leat_text text = {0};
  if (single)
    leat_text_add_f32(&text, (float)value);
  else
    leat_text_add_f64(&text, value);
  CHECK_EQ_STR(text.data, expected);
  leat_text_finish(&text);
}

TEST(floats_print_shortest) {
  check_decimal("0.0", 0.0, false);
  check_decimal("-0.0", -0.0, false);
  check_decimal("1.0", 1.0, false);
  check_decimal("100.0", 100.0, true);
  check_decimal("0.1", 0.1, false);
  check_decimal("0.1", 0.1f, true);
  check_decimal("0.10000000149011612", 0.1f, false);
  check_decimal("0.00001", 1e-5, false);
  check_decimal("1e-06", 1e-6, false);
  check_decimal("1e+20", 1e20, false);
  check_decimal("16777216.0", 16777216.0, true);
  check_decimal("1.7976931348623157e+308", DBL_MAX, false);
  check_decimal("5e-324", 5e-324, false);
  check_decimal("3.4028235e+38", (double)FLT_MAX, true);
  check_decimal("nan", (double)NAN, false);
  check_decimal("-inf", -(double)INFINITY, true);
}

TEST(floats_read_back) {
  uint32_t bits[4];
  for (uint32_t i = 0; i < 5000; i++) {
    leat_philox((uint32_t[]){i, 0, 0, 0}, (uint32_t[]){1, 2}, bits);
    double value;
    float single;
    memcpy(&value, bits, sizeof value);
    memcpy(&single, bits + 2, sizeof single);
    if (isnan(value) || isnan(single)) continue;
    leat_text text = {0}, short_text = {0};
    leat_text_add_f64(&text, value);
    leat_text_add_f32(&short_text, single);
    if (strtod(text.data, NULL) != value) CHECK_FAILED("%s is not %a", text.data, value);
    if (strtof(short_text.data, NULL) != single)
      CHECK_FAILED("%s is not %a", short_text.data, (double)single);
    leat_text_finish(&text);
    leat_text_finish(&short_text);
  }
}

// `length`: of the number that `text` begins with; -1: none, -2: one that the dtype has not.
static void check_read(leat_dtype dtype, const char *text, int length, const void *value) {
  unsigned char element[16];
  bool fits;
  const char *end = leat_number_parse(dtype, text, element, &fits);
  int found = !end ? -1 : !fits ? -2 : (int)(end - text);
  if (found != length) CHECK_FAILED("%s: %d instead of %d", text, found, length);
  if (found >= 0) CHECK(memcmp(element, value, leat_dtype_size(dtype)) == 0);
}

TEST(numbers_read_as_their_dtype_has_them) {
  check_read(LEAT_i8, "-128,", 4, &(int8_t){-128});
  check_read(LEAT_i8, "128", -2, NULL);
  check_read(LEAT_u8, "-1", -2, NULL);
  check_read(LEAT_u8, "-0", 2, &(uint8_t){0});
  check_read(LEAT_u8, "+255", 4, &(uint8_t){255});
  check_read(LEAT_u8, "256", -2, NULL);
  check_read(LEAT_i32, "010", 3, &(int32_t){10});
  check_read(LEAT_i32, "-", -1, NULL);
  check_read(LEAT_i64, "-9223372036854775808", 20, &(int64_t){INT64_MIN});
  check_read(LEAT_i64, "-9223372036854775809", -2, NULL);
  check_read(LEAT_i32, "1.5", -1, NULL);
  check_read(LEAT_i64, "9223372036854775808", -2, NULL);
  check_read(LEAT_u64, "18446744073709551615", 20, &(uint64_t){UINT64_MAX});
  check_read(LEAT_u64, "18446744073709551616", -2, NULL);
  check_read(LEAT_u64, "-9223372036854775809", -2, NULL);
  check_read(LEAT_bf16, "1.0", 3, &(uint16_t){0x3f80});
  check_read(LEAT_f32, "1e-3]", 4, &(float){1e-3f});
  check_read(LEAT_f64, "much", -1, NULL);
  check_read(LEAT_c64, "1.5-2j", 6, (float[]){1.5f, -2});
  check_read(LEAT_c64, "1+2", -1, NULL);
  check_read(LEAT_c128, "2j", 2, (double[]){0, 2});
  check_read(LEAT_bool, "true", 4, &(bool){true});
  check_read(LEAT_bool, "1", -1, NULL);
}
static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file)) CHECK_FAILED("%s is not written", path);
}

// A locale with a decimal comma, made here, since few machines have one installed. False: there is
// nothing to make it with.
static bool make_locale(void) {
  char source[SCRATCH_PATH], letters[SCRATCH_PATH], made[SCRATCH_PATH];
  leat_text command = {0};
  scratch_path(source, "comma.source");
  scratch_path(letters, "letters");
  scratch_path(made, "comma");
  write_text(source, "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\n"
                     "END LC_NUMERIC\n");
  write_text(letters, "<code_set_name> ASCII\nCHARMAP\n<U0000>..<U007F> /x00 A\nEND CHARMAP\n");
  leat_text_add(&command, "localedef -c -i '%s' -f '%s' --no-archive '%s' 2>/dev/null", source,
                letters, made);
  int status = system(command.data); // 1: other categories are missing, which nobody needs
  leat_text_finish(&command);
  setenv("LOCPATH", scratch_root, 1);
  return WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

TEST(floats_do_not_depend_on_the_locale) {
  if (!make_locale()) CHECK_SKIP("there is no localedef");
  CHECK(setlocale(LC_NUMERIC, "comma"));
  CHECK_EQ_STR(localeconv()->decimal_point, ",");
  check_decimal("1234.5", 1234.5, false);
  check_decimal("1.5e-20", 1.5e-20, true);
  check_read(LEAT_f64, "1.5,2", 3, &(double){1.5});
  check_read(LEAT_f32, "1.5,2", 3, &(float){1.5f});
  check_read(LEAT_c64, "1.5-2.5j", 8, (float[]){1.5f, -2.5f});
  CHECK(leat_read_f64("1,5", NULL) == 1);
  CHECK_EQ_STR(localeconv()->decimal_point, ","); // still
  setlocale(LC_NUMERIC, "C");
}

CHECK_MAIN("number")
