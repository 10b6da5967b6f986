// A model as a text: a function with a line for each node, and an entry that calls it.
#include "frontend/importer/onnx/writer.h"

#include "base/intern.h"
#include "base/name.h"

#include <ctype.h>
#include <string.h>

const char *onnx_first_output(const onnx_node *node) {
  return node->n_output ? node->output[0] : "";
}

static const char *node_name(const onnx_node *node) {
  return node->name && *node->name ? node->name : onnx_first_output(node);
}

void onnx_line(onnx_writer *w, const char *format, ...) {
  bool says = w->options->says_nodes && w->node;
  va_list arguments;
  va_start(arguments, format);
  leat_model_line(w->arena, &w->block->lines, w->block->indent, says ? node_name(w->node) : NULL,
                  says && w->node->op_type ? w->node->op_type : "", format, arguments);
  va_end(arguments);
}

// -- Problems -------------------------------------------------------------------------------------

enum { MOST_OPSETS = 1000, MOST_DENSE = 1 << 30 };

// The node that is being written, for messages.
static const char *of_node(const onnx_writer *w) {
  if (!w->node) return "";
  const char *domain = w->node->domain ? w->node->domain : "";
  bool named = !onnx_domain_is(domain, "");
  return leat_arena_printf(w->arena, "node `%s` (%s%s%s, opset %lld): ", node_name(w->node),
                           named ? domain : "", named ? "." : "",
                           w->node->op_type ? w->node->op_type : "no op",
                           (long long)onnx_version(w, domain));
}

void onnx_problem(onnx_writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leat_model_say(w->arena, &w->model->problems, of_node(w), format, arguments);
  va_end(arguments);
}

void onnx_note(onnx_writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leat_model_say(w->arena, &w->model->notes, of_node(w), format, arguments);
  va_end(arguments);
}

// -- Names and values -----------------------------------------------------------------------------

const char *onnx_identifier(onnx_writer *w, const char *name) {
  const char *plain = leat_model_plain_name(w->arena, name);
  return leat_model_print_name(w->arena, leat_model_take_name(w->arena, &w->taken, NULL, plain));
}

void onnx_bind(onnx_writer *w, const char *name, onnx_value value) {
  if (leat_bytes_map_get(&w->scope->values, name, strlen(name)))
    onnx_problem(w, "`%s` is made already: give each value a name of its own", name);
  onnx_bind_input(w, name, value);
}

void onnx_bind_input(onnx_writer *w, const char *name, onnx_value value) {
  onnx_value *copy = leat_arena_memdup(w->arena, &value, sizeof value);
  leat_bytes_map_set(&w->scope->values, name, strlen(name), copy);
}

static bool is_literal(const onnx_value *value) {
  return value->known && !leat_name_is_word(value->text, strcspn(value->text, "(")) &&
         *value->text != LEAT_NAME_QUOTE;
}

// Names of the graph itself only: those of bodies and functions may be others'.
static bool is_kernel(const onnx_writer *w, const onnx_scope *scope, const char *name) {
  return !scope->outer && !w->call && onnx_is_kernel(w, name);
}

// What a body uses of outside goes by the same name in it.
static onnx_value *find_in(onnx_writer *w, onnx_scope *scope, const char *name) {
  onnx_value *value = leat_bytes_map_get(&scope->values, name, strlen(name));
  if (value && value->constant)
    *value = onnx_constant(w, scope->block, value->constant, name, is_kernel(w, scope, name));
  if (value) value->used = true;
  if (value || !scope->outer) return value;
  value = find_in(w, scope->outer, name);
  if (!value || !scope->is_function || is_literal(value)) return value;
  leat_vec_push(w->arena, &scope->captured, value->text);
  leat_bytes_map_set(&scope->values, name, strlen(name), value);
  return value;
}

const onnx_value *onnx_find(onnx_writer *w, const char *name) {
  return find_in(w, w->scope, name);
}

void onnx_bind_initializers(onnx_writer *w, const onnx_graph *graph) {
  for (size_t i = 0; i < graph->n_initializer; i++) {
    const onnx_tensor *tensor = graph->initializer[i];
    if (tensor->name)
      onnx_bind(w, tensor->name,
                (onnx_value){NULL, tensor->data_type, false, tensor, false, false});
  }
  for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
    const onnx_sparse *sparse = graph->sparse_initializer[i];
    const char *name = sparse->values && sparse->values->name ? sparse->values->name : "";
    onnx_bind(w, name, onnx_sparse_value(w, sparse, name));
  }
}

int64_t onnx_version(const onnx_writer *w, const char *domain) {
  const Onnx__ModelProto *model = w->proto;
  const Onnx__FunctionProto *f = w->call ? w->call->function : NULL;
  Onnx__OperatorSetIdProto *const *sets = f ? f->opset_import : model->opset_import;
  size_t count = f ? f->n_opset_import : model->n_opset_import;
  for (size_t i = 0; i < count && i < MOST_OPSETS; i++)
    if (onnx_domain_is(sets[i]->domain, domain ? domain : "") ||
        (domain && sets[i]->domain && strcmp(sets[i]->domain, domain) == 0) ||
        (onnx_domain_is(sets[i]->domain, "") && onnx_domain_is(domain, "")))
      return sets[i]->version;
  return onnx_domain_is(domain, "") ? 0 : 1;
}

// In a newer one an op may mean something else, which would be computed as it was.
static void check_opsets(onnx_writer *w, Onnx__OperatorSetIdProto *const *sets, size_t count) {
  for (size_t i = 0; i < count && i < MOST_OPSETS; i++) {
    const char *domain = sets[i]->domain && *sets[i]->domain ? sets[i]->domain : "ai.onnx";
    int64_t newest = onnx_newest(domain), version = sets[i]->version;
    if (newest && version > newest)
      onnx_problem(w,
                   "opset %lld of %s is newer than those that are supported, up to %lld: export "
                   "the model for that one, or convert it (onnx.version_converter)",
                   (long long)version, domain, (long long)newest);
  }
}

static void check_all_opsets(onnx_writer *w) {
  const Onnx__ModelProto *p = w->proto;
  check_opsets(w, p->opset_import, p->n_opset_import);
  for (size_t i = 0; i < p->n_functions; i++)
    check_opsets(w, p->functions[i]->opset_import, p->functions[i]->n_opset_import);
}

void onnx_write_nodes(onnx_writer *w, onnx_node *const *nodes, size_t count) {
  const onnx_node *outer = w->node;
  for (size_t i = 0; i < count; i++) {
    w->node = nodes[i];
    onnx_write_node(w);
  }
  w->node = outer;
}

// -- The parameters of a graph
// ----------------------------------------------------------------------

// What an input or output is called outside.
static const char *outer_name(onnx_writer *w, const char *name) {
  return leat_model_print_name(w->arena, leat_model_plain_name(w->arena, name));
}

// A dim by its name in the file: the entry's own, which is declared, and that of the function,
// which each call binds and which begins with a capital therefore.
typedef struct named_dim {
  const char *declared, *bound;
} named_dim;

static named_dim *dim_of(onnx_writer *w, const char *key, const char *name) {
  named_dim *dim = leat_bytes_map_get(&w->known_dims, key, strlen(key));
  if (dim) return dim;
  dim = leat_new(w->arena, named_dim);
  dim->declared = onnx_identifier(w, name);
  char *bound = leat_arena_strndup(w->arena, name, strlen(name));
  for (char *c = bound; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  *bound = (char)toupper((unsigned char)*bound);
  bool capital = isupper((unsigned char)*bound);
  dim->bound =
      strcmp(bound, dim->declared) == 0
          ? bound
          : onnx_identifier(w, capital ? bound : leat_arena_printf(w->arena, "D%s", bound));
  leat_bytes_map_set(&w->known_dims, key, strlen(key), dim);
  leat_text_add(&w->dims, "dim %s\n", dim->declared);
  return dim;
}

// What becomes of a dim's name: the function's, the entry's, or `?`.
typedef enum dims_as { DIMS_BOUND, DIMS_DECLARED, DIMS_UNNAMED } dims_as;

// A dim of the input `of`: a number, or a name that is one dim wherever it stands; one without a
// name is called after its axis.
static void add_dim(onnx_writer *w, leat_text *out, const char *of, size_t axis,
                    const Onnx__TensorShapeProto__Dimension *dim, dims_as as) {
  bool number = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
  bool named =
      dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && *dim->dim_param;
  if (number && dim->dim_value >= 0) {
    leat_text_add_i64(out, dim->dim_value);
    return;
  }
  if (as == DIMS_UNNAMED) {
    leat_text_add_string(out, "?");
    return;
  }
  const char *key = named ? dim->dim_param : leat_arena_printf(w->arena, "%s\n%zu", of, axis);
  const char *name = named ? key : leat_arena_printf(w->arena, "%s_axis%zu", of, axis);
  const named_dim *own = dim_of(w, key, name);
  leat_text_add_string(out, as == DIMS_BOUND ? own->bound : own->declared);
}

// An input: an optional, a sequence, an optional sequence, or a tensor.
typedef struct fed_type {
  bool optional, sequence;
  const Onnx__TypeProto *tensor; // of an element; NULL: it is none
} fed_type;

static fed_type fed_type_of(const Onnx__TypeProto *type) {
  fed_type fed = {0};
  if (type && type->value_case == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE) {
    fed.optional = true;
    type = type->optional_type->elem_type;
  }
  if (type && type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE) {
    fed.sequence = true;
    type = type->sequence_type->elem_type;
  }
  if (type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) fed.tensor = type;
  return fed;
}

// Why the input cannot be a parameter; NULL: it can.
static const char *type_problem(fed_type fed) {
  if (!fed.tensor)
    return "is neither a tensor nor a sequence or an optional of tensors: feed tensors, and make "
           "it of these";
  const Onnx__TypeProto__Tensor *tensor = fed.tensor->tensor_type;
  if (!onnx_dtype_of(tensor->elem_type)) return "has a data type that is unknown";
  if (!tensor->shape)
    return fed.sequence ? NULL
                        : "has no shape; give it one of its rank, with names for unknown dims";
  return tensor->shape->n_dim > LEAT_MAX_RANK ? "has more than 8 axes" : NULL;
}

static const char *type_text(onnx_writer *w, const char *of, const Onnx__TypeProto *type,
                             dims_as as) {
  leat_text text = {0};
  const Onnx__TypeProto__Tensor *tensor = type->tensor_type;
  leat_text_add(&text, "%s[", leat_dtype_name(onnx_dtype_of(tensor->elem_type)->carrier));
  for (size_t i = 0; tensor->shape && i < tensor->shape->n_dim; i++) {
    if (i) leat_text_add_string(&text, ", ");
    add_dim(w, &text, of, i, tensor->shape->dim[i], as);
  }
  if (!tensor->shape) leat_text_add_string(&text, "?");
  leat_text_add_string(&text, "]");
  return leat_model_take_text(w->arena, &text);
}

// The inputs of the graph as parameters of its function and of the entry, and as arguments.
typedef struct signature {
  leat_text inside, outside, arguments;
  leat_text settings; // parameters of the graph: types that the model leaves open
} signature;

static const char *separator(const leat_text *text) {
  return text->size ? ", " : "";
}

// How many tensors a sequence has, and whether there is an optional, is known while compiling: the
// parameter's type is one of the graph's. The line is shown where nobody has set it.
static const char *add_setting(onnx_writer *w, signature *s, const char *name, fed_type fed) {
  const char *plain = leat_model_plain_name(w->arena, name),
             *type = type_text(w, name, fed.tensor, DIMS_UNNAMED);
  const char *setting = leat_arena_printf(w->arena, "%s_type", plain);
  const char *id = onnx_identifier(w, setting);
  if (fed.sequence)
    leat_text_add(&s->settings,
                  "  %s: %s,  # a sequence: --set '%s=[%s, %s]' has two tensors, %s_0 and %s_1%s\n",
                  id, fed.optional ? "any" : "[type]", setting, type, type, plain, plain,
                  fed.optional ? ", `none` is no sequence" : "");
  else
    leat_text_add(&s->settings, "  %s: any = %s,  # an optional: --set '%s=none' has none\n", id,
                  type, setting);
  return id;
}

static void add_input(onnx_writer *w, signature *s, const Onnx__ValueInfoProto *input) {
  fed_type fed = fed_type_of(input->type);
  const char *name = input->name ? input->name : "", *why = type_problem(fed);
  if (leat_bytes_map_get(&w->scope->values, name, strlen(name))) return; // an initializer
  const char *inside = onnx_identifier(w, name), *outside = outer_name(w, name);
  if (why) {
    onnx_problem(w, "input `%s` %s", name, why);
    onnx_bind(w, name, (onnx_value){.text = "0"});
    return;
  }
  bool open = fed.optional || fed.sequence;
  int32_t data_type = fed.sequence ? 0 : fed.tensor->tensor_type->elem_type;
  onnx_bind(w, name, (onnx_value){inside, data_type, false, NULL, false, false});
  leat_text_add(&s->inside, "%s%s: %s", separator(&s->inside), inside,
                open ? "any" : type_text(w, name, fed.tensor, DIMS_BOUND));
  leat_text_add(&s->outside, "%s%s: %s", separator(&s->outside), outside,
                open ? add_setting(w, s, name, fed)
                     : type_text(w, name, fed.tensor, DIMS_DECLARED));
  leat_text_add(&s->arguments, "%s%s", separator(&s->arguments), outside);
}

static const char *output_text(onnx_writer *w, const char *name) {
  const onnx_value *value = onnx_find(w, name);
  if (value) return onnx_as_tensor(w, *value);
  onnx_problem(w, "output `%s` is made by no node", name);
  return "0";
}

// -- The whole ------------------------------------------------------------------------------------

static void add_head(onnx_writer *w, const signature *s, leat_text *out) {
  const Onnx__ModelProto *p = w->proto;
  leat_text_add(out, "# Made of %s: ONNX, opset %lld", leat_path_last(w->model->path),
                (long long)onnx_version(w, ""));
  if (p->producer_name && *p->producer_name)
    leat_text_add(out, ", by %s%s%s", p->producer_name, p->producer_version ? " " : "",
                  p->producer_version ? p->producer_version : "");
  for (char *c = out->data; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  leat_text_add_string(out, ".\n");
  bool open = s->settings.size && !w->options->is_used, named = p->graph->name && *p->graph->name;
  if (named || open)
    leat_text_add(out, "graph %s", outer_name(w, named ? p->graph->name : "model"));
  if (open) leat_text_add(out, "(\n%s)", s->settings.data);
  if (named || open) leat_text_add_string(out, "\n");
}

void onnx_add_block(onnx_block *block, leat_text *out) {
  leat_text_add_n(out, block->weights.data ? block->weights.data : "", block->weights.size);
  leat_text_add_n(out, block->lines.data ? block->lines.data : "", block->lines.size);
  leat_text_finish(&block->weights);
  leat_text_finish(&block->lines);
}

static void add_inputs(onnx_writer *w, signature *s, leat_bytes_map *inputs) {
  const onnx_graph *graph = w->proto->graph;
  for (size_t i = 0; i < graph->n_input; i++) {
    const char *name = graph->input[i]->name ? graph->input[i]->name : "";
    if (leat_bytes_map_get(inputs, name, strlen(name)))
      onnx_problem(w, "there are two inputs `%s`", name);
    add_input(w, s, graph->input[i]);
    leat_bytes_map_set(inputs, name, strlen(name), w);
  }
}

// ": f32[2, ?]", what the model says that a result is, which it has to be then; "": it says
// nothing. Where an input has a dim that is no number exporters often say of a result what that
// would be of one row: then only the dtype counts.
static const char *result_type(onnx_writer *w, const Onnx__ValueInfoProto *output) {
  const Onnx__TypeProto *type = output->type;
  if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) return "";
  const Onnx__TypeProto__Tensor *tensor = type->tensor_type;
  const onnx_dtype *dtype = onnx_dtype_of(tensor->elem_type);
  if (!dtype || (tensor->shape && tensor->shape->n_dim > LEAT_MAX_RANK)) return "";
  if (w->dims.size || !tensor->shape)
    return leat_arena_printf(w->arena, ": %s[...]", leat_dtype_name(dtype->carrier));
  return leat_arena_printf(w->arena, ": %s", type_text(w, "", type, DIMS_UNNAMED));
}

// What the function returns, what the entry's results are called, and what it binds: a result that
// is an input is bound already.
typedef struct outcome {
  leat_text returned, results, targets;
} outcome;

static void add_outputs(onnx_writer *w, outcome *o, const leat_bytes_map *inputs) {
  const onnx_graph *graph = w->proto->graph;
  for (size_t i = 0; i < graph->n_output; i++) {
    const char *name = graph->output[i]->name ? graph->output[i]->name : "";
    const char *outside = outer_name(w, name);
    bool fed = leat_bytes_map_get(inputs, name, strlen(name)) != NULL;
    leat_text_add(&o->returned, "%s%s", separator(&o->returned), output_text(w, name));
    leat_text_add(&o->results, "%s%s%s", separator(&o->results), outside,
                  result_type(w, graph->output[i]));
    leat_text_add(&o->targets, "%s%s", separator(&o->targets), fed ? "_" : outside);
  }
}

static const char *or_nothing(const leat_text *text) {
  return text->data ? text->data : "";
}

static void add_whole(onnx_writer *w, const signature *s, const outcome *o, leat_text *out) {
  const char *function =
      leat_model_print_name(w->arena, leat_model_function(w->arena, w->options, "model"));
  add_head(w, s, out);
  if (w->dims.size && !w->options->is_used) leat_text_add(out, "\n%s", w->dims.data);
  leat_text_add_string(out, or_nothing(&w->bodies));
  leat_text_add(out, "\nfn %s(%s) {\n", function, or_nothing(&s->inside));
  onnx_add_block(w->block, out);
  leat_text_add(out, "  return %s\n}\n", or_nothing(&o->returned));
  if (w->options->is_used) return;
  leat_text_add(out, "\nentry main(%s) -> (%s) {\n", or_nothing(&s->outside),
                or_nothing(&o->results));
  leat_text_add(out, "  %s = %s(%s)%s\n}\n", o->targets.data ? o->targets.data : "_", function,
                or_nothing(&s->arguments), w->options->trainable ? " as net" : "");
}

static void write_text(onnx_writer *w, leat_text *out) {
  const onnx_graph *graph = w->proto->graph;
  signature s = {0};
  outcome o = {0};
  leat_bytes_map inputs;
  leat_bytes_map_init(&inputs, w->arena);
  onnx_bind_initializers(w, graph);
  add_inputs(w, &s, &inputs);
  onnx_write_nodes(w, graph->node, graph->n_node);
  add_outputs(w, &o, &inputs);
  add_whole(w, &s, &o, out);
  leat_text *texts[] = {&s.inside,  &s.outside, &s.arguments, &s.settings, &o.returned,
                        &o.results, &o.targets, &w->dims,     &w->bodies};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) leat_text_finish(texts[i]);
}

// The words of a pattern become names that are taken.
static void reserve_words(leat_bytes_map *taken, const char *pattern) {
  while (*pattern) {
    size_t size = 0;
    while (isalnum((unsigned char)pattern[size]) || pattern[size] == '_') size++;
    if (size) leat_bytes_map_set(taken, pattern, size, (void *)1);
    pattern += size ? size : 1;
  }
}

// Functions that rows hand to others, `onnx_flat(f=softmax)`: a value of such a name would hide it.
static void reserve_names(onnx_writer *w) {
  reserve_words(&w->taken, "carried xs outer"); // parameters of bodies
  for (size_t i = 0; onnx_op_at(i); i++) {
    const char *more = strchr(onnx_op_at(i)->write, '(');
    if (more && !strchr(onnx_op_at(i)->write, '$')) reserve_words(&w->taken, more);
  }
}

leat_status leat_model_write(leat_model_file *model, const leat_import_options *options,
                             char **out) {
  onnx_block block = {.indent = 2};
  onnx_scope scope = {.block = &block};
  onnx_writer w = {.model = model,
                   .proto = model->content,
                   .arena = model->arena,
                   .options = options,
                   .scope = &scope,
                   .block = &block,
                   .dense_left = MOST_DENSE};
  leat_text text = {0};
  leat_bytes_map *maps[] = {&scope.values, &w.taken,   &w.known_dims,
                            &w.keys,       &w.kernels, &w.functions};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) leat_bytes_map_init(maps[i], w.arena);
  check_all_opsets(&w);
  reserve_names(&w);
  onnx_list_functions(&w);
  if (onnx_functions_fit(&w)) {
    onnx_find_kernels(&w);
    write_text(&w, &text);
  }
  *out = leat_text_take(&text);
  return LEAT_OK;
}
