// Ops that move elements: shapes, parts, indices, and their checks while running.
#include "tests/unit/built.h"

#include <math.h>

TEST(reshape_transpose_broadcast) {
  start();
  leat_value x = X23, s = F(f32, named("B"), num(4));
  CHECK_VALUE(OP(reshape, IN(x), DIMS(num(3), num(2))), "i32[3, 2] = [[1, 2], [3, 4], [5, 6]]");
  CHECK_TYPE(OP(reshape, IN(s), DIMS(num(2), named("B"), num(2))), "f32[2, B, 2]");
  CHECK_REFUSED(OP(reshape, IN(x), DIMS(num(4))),
                "elements before and after, to i32[4]: 6 and 4 differ");
  CHECK_REFUSED(OP(reshape, IN(s), DIMS(named("B"), num(3))), "4*B and 3*B");
  CHECK_VALUE(OP(transpose, IN(x), LIST(1, 0)), "i32[3, 2] = [[1, 4], [2, 5], [3, 6]]");
  CHECK_REFUSED(OP(transpose, IN(x), LIST(1, 1)), "perm names axis 1 twice");
  CHECK_REFUSED(OP(transpose, IN(x), LIST(0, 2)), "there is no axis 2 in a tensor of rank 2");
  CHECK_REFUSED(OP(transpose, IN(x), LIST(0)), "perm has 1 entries for 2 axes");
  CHECK_VALUE(OP(broadcast, IN(V(i32, 2, SHAPE(2, 1), 7, 8)), DIMS(num(2), num(2), num(2))),
              "i32[2, 2, 2] = [[[7, 7], [8, 8]], [[7, 7], [8, 8]]]");
  CHECK_REFUSED(OP(broadcast, IN(x), DIMS(num(3))), "takes axes away");
  CHECK_REFUSED(OP(broadcast, IN(x), DIMS(num(2), num(4))), "axis 1: 3 and 4 differ");
  CHECK_REFUSED(OP(broadcast, IN(x), DIMS(num(-1), num(2), num(3))), "a dimension of -1");
  leat_value t = V(f64, 3, SHAPE(2, 1, 3), 1, 2, 3, 4, 5, 6);
  CHECK_VALUE(OP(transpose, IN(t), LIST(2, 0, 1)),
              "f64[3, 2, 1] = [[[1.0], [4.0]], [[2.0], [5.0]], [[3.0], [6.0]]]");
  CHECK_VALUE(OP0(identity, IN(x)), "i32[2, 3] = [[1, 2, 3], [4, 5, 6]]");
}

TEST(concat_slice_pad) {
  start();
  leat_value x = X23, y = V(i32, 2, SHAPE(2, 1), 8, 9), s = F(i32, named("B"), num(3));
  CHECK_VALUE(OP(concat, IN(x, y, x), I(1)),
              "i32[2, 7] = [[1, 2, 3, 8, 1, 2, 3], [4, 5, 6, 9, 4, 5, 6]]");
  CHECK_TYPE(OP(concat, IN(s, x, s), I(0)), "i32[2*B + 2, 3]");
  CHECK_REFUSED(OP(concat, IN(x, y), I(0)), "axis 1 of input 2: 3 and 1 differ");
  CHECK_REFUSED(OP(concat, IN(x, y), I(2)), "there is no axis 2");
  CHECK_REFUSED(OP(concat, IN(x, V1(i32, 1)), I(0)), "input 2 has rank 1, not 2");

  CHECK_VALUE(OP(slice, IN(x), DIMS(num(0), num(2)), DIMS(num(2), num(2)), LIST(1, -2)),
              "i32[2, 2] = [[3, 1], [6, 4]]");
  CHECK_VALUE(OP(slice, IN(x), DIMS(num(2), num(0)), DIMS(num(0), num(3)), LIST(1, 1)),
              "i32[0, 3] = []");
  CHECK_REFUSED(OP(slice, IN(x), DIMS(num(1), num(0)), DIMS(num(2), num(3)), LIST(1, 1)),
                "axis 0: indices 1 to 2 are not all in 0 to 2 - 1");
  CHECK_REFUSED(OP(slice, IN(x), DIMS(num(0), num(1)), DIMS(num(2), num(3)), LIST(1, -1)),
                "axis 1: indices 1 to -1");
  CHECK_REFUSED(OP(slice, IN(x), DIMS(num(0), num(0)), DIMS(num(1), num(1)), LIST(1, 0)),
                "the step of axis 1 is 0");
  leat_dim fewer, more;
  leat_dim_sub(graph->dims, named("B"), num(1), &fewer);
  leat_dim_add(graph->dims, named("B"), num(1), &more);
  CHECK_TYPE(OP(slice, IN(s), DIMS(num(1), num(0)), DIMS(fewer, num(3)), LIST(1, 1)),
             "i32[B - 1, 3]");
  CHECK_REFUSED(OP(slice, IN(s), DIMS(num(0), num(0)), DIMS(more, num(3)), LIST(1, 1)),
                "axis 0: indices 0 to B are not all in 0 to B - 1");

  leat_value zero = number(LEAT_i32, 0);
  CHECK_VALUE(OP(pad, IN(x, zero), DIMS(num(1), num(0)), DIMS(num(0), num(2))),
              "i32[3, 5] = [[0, 0, 0, 0, 0], [1, 2, 3, 0, 0], [4, 5, 6, 0, 0]]");
  CHECK_TYPE(OP(pad, IN(s, zero), DIMS(num(1), num(0)), DIMS(num(1), num(0))), "i32[B + 2, 3]");
  CHECK_REFUSED(OP(pad, IN(x, y), DIMS(num(1), num(0)), DIMS(num(0), num(2))),
                "the value to pad with must be a scalar");
  CHECK_VALUE(OP(pad, IN(x, zero), DIMS(num(-1), num(1)), DIMS(num(1), num(-2))),
              "i32[2, 2] = [[0, 4], [0, 0]]");
  CHECK_REFUSED(OP(pad, IN(x, zero), DIMS(num(-1), num(0)), DIMS(num(-2), num(2))),
                "axis 0 has too few elements to take those away");
}

TEST(run_time_dims_are_checked) {
  start();
  leat_value i = OP(iota, NONE, DIMS(named("B")), I(0), I(LEAT_i32));
  leat_value s = OP(slice, IN(i), DIMS(num(2)), DIMS(num(2)), LIST(1));
  CHECK_VALUE(i, "index out of range: dim B has no value in this step");
  set_dim("B", 4);
  CHECK_VALUE(s, "i32[2] = [2, 3]");
  set_dim("B", 3);
  CHECK_VALUE(s, "index out of range: axis 0 has 3 elements, not 2 from 2 by 1");
  leat_attr value[] = {{.dim = named("B")}, {.i = false}};
  CHECK_VALUE(op(LEAT_OP_dim, NULL, 0, value), "i64[] = 3");
}

TEST(iota_and_one_hot) {
  start();
  CHECK_VALUE(OP(iota, NONE, DIMS(num(2), num(3)), I(1), I(LEAT_f32)),
              "f32[2, 3] = [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]");
  CHECK_REFUSED(OP(iota, NONE, DIMS(num(2)), I(1), I(LEAT_f32)), "iota: there is no axis 1");
  CHECK_REFUSED(OP(iota, NONE, DIMS(num(2)), I(0), I(LEAT_bool)),
                "iota gives real numbers, not bool");
  CHECK_VALUE(OP(one_hot, IN(V1(i32, 1, -1, 0, 3)), {.dim = num(3)}, I(LEAT_f32)),
              "f32[4, 3] = [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]");
  CHECK_VALUE(OP(one_hot, IN(number(LEAT_u8, 1)), {.dim = num(2)}, I(LEAT_bool)),
              "bool[2] = [false, true]");
  CHECK_REFUSED(OP(one_hot, IN(V1(f32, 1)), {.dim = num(3)}, I(LEAT_f32)),
                "one_hot takes integers, not f32");
}

TEST(gather_and_scatter_add) {
  start();
  leat_value x = X23, i = V(i64, 2, SHAPE(2, 2), 0, 2, 2, 1);
  CHECK_VALUE(OP(gather, IN(x, i), I(1)), "i32[2, 2, 2] = [[[1, 3], [3, 2]], [[4, 6], [6, 5]]]");
  CHECK_VALUE(OP(gather, IN(x, number(LEAT_i32, 1)), I(0)), "i32[3] = [4, 5, 6]");
  CHECK_VALUE(OP(gather, IN(x, V1(i32, 0, 2)), I(0)),
              "index out of range: index 2 is out of range for an axis of 2");
  CHECK_VALUE(OP(gather, IN(x, V1(i64, -1)), I(1)),
              "index out of range: index -1 is out of range for an axis of 3");
  CHECK_REFUSED(OP(gather, IN(x, V1(f32, 0)), I(0)), "indices must be i32 or i64, not f32");
  CHECK_REFUSED(OP(gather, IN(x, i), I(2)), "there is no axis 2");
  leat_value rows = V(i32, 2, SHAPE(3, 3), 1, 1, 1, 2, 2, 2, 3, 3, 3);
  CHECK_VALUE(OP(scatter_add, IN(x, V1(i32, 1, 0, 1), rows), I(0)),
              "i32[2, 3] = [[3, 4, 5], [8, 9, 10]]");
  CHECK_VALUE(OP(scatter_set, IN(x, V1(i32, 1, 0, 1), rows), I(0)),
              "i32[2, 3] = [[2, 2, 2], [3, 3, 3]]");
  CHECK_VALUE(OP(scatter_mul, IN(x, V1(i32, 1, 0, 1), rows), I(0)),
              "i32[2, 3] = [[2, 4, 6], [12, 15, 18]]");
  CHECK_VALUE(OP(scatter_min, IN(x, V1(i32, 0, 0, 1), rows), I(0)),
              "i32[2, 3] = [[1, 1, 1], [3, 3, 3]]");
  CHECK_VALUE(
      OP(scatter_max, IN(V1(f32, 0.0, 1, 2), V1(i32, 0, 1, 1), V1(f32, -0.0, NAN, 5)), I(0)),
      "f32[3] = [0.0, nan, 2.0]");
  leat_attr three = {.dim = num(3)};
  CHECK_VALUE(OP(check_index, IN(V1(u8, 2, 0)), three), "u8[2] = [2, 0]");
  CHECK_VALUE(OP(check_index, IN(V1(i64, 0, -1)), three),
              "index out of range: index -1 is out of range for an axis of 3");
  leat_value f = V1(f32, 16777216, 0), ones = V1(f32, 1, 1, 1);
  CHECK_VALUE(OP(scatter_add, IN(f, V1(i64, 0, 0, 1), ones), I(0)), "f32[2] = [16777216.0, 1.0]");
  CHECK_VALUE(OP(scatter_add, IN(f, V1(i64, 0, 0, 5), ones), I(0)),
              "index out of range: index 5 is out of range for an axis of 2");
  CHECK_REFUSED(OP(scatter_add, IN(f, V1(i64, 0, 0), ones), I(0)),
                "axis 0 of the updates: 3 and 2 differ");
  CHECK_REFUSED(OP(scatter_add, IN(f, V1(i64, 0), X23), I(0)), "dtypes f32 and i32 differ");
}

CHECK_MAIN("ops_movement")
