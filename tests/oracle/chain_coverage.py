"""Which ops and library functions the steps of tests/oracle/chains are about, and why the others are not.

A step counts when a maker offers it, whether or not chance takes it. A name that is neither in a step nor excused
fails, and so does an excuse for what is in a step.
"""
import glob
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
SIGNS = {'+': 'add', '-': 'sub neg', '*': 'mul', '/': 'div', '//': 'floor_div', '%': 'remainder', '@': 'matmul', '==': 'equal',
         '!=': 'not_equal', '<': 'less', '<=': 'less_equal', '>': 'greater', '>=': 'greater_equal', '[': 'slice'}
ELSEWHERE = {
    'what every program has: constants, inputs, results': 'const load fetch',
    'state, files, messages, devices and processes are no expressions':
        'feed read assign assign_add run_count send recv print assert',
    'made by the compiler for sizes known while running, in x[mask], unique and nonzero':
        'bind check_dims ensure_shape positions dim check_index',
    'within conv and max_pool': 'unfold',
    'JAX has no strings':
        'str_compare str_concat str_length str_hash str_lower str_upper substring str_find str_rfind str_count '
        'str_starts_with str_ends_with str_replace strip_string split_strings str_to_number number_to_str format_number '
        'join_strings regex_full_match regex_replace '
        'str_contains str_strip str_lstrip str_rstrip split_tensor',
    'its own random numbers':
        'random_bits permutation uniform normal truncated_normal exponential gumbel randint bernoulli categorical '
        'shuffle dropout shuffled_batch',
    'has variables: tests/oracle/library_cases.py':
        'dense conv_layer conv_transpose_layer embedding batch_norm layer_norm rms_norm group_norm rnn_cell lstm_cell '
        'gru_cell gru lstm glorot_uniform glorot_normal he_uniform he_normal sgd momentum nesterov adagrad rmsprop '
        'adam adamw lion clip_by_global_norm track',
    'computed while compiling, or of lists':
        'tensor is_complex is_float fan_in fan_out contains repeated replaced product sum_of column mean_of zeros ones',
    'if and while, as chain_regions.py writes them': 'conditional while_loop parameter yield',
    'made into these, or the paper\'s own': 'switch merge enter leave next_iteration loop_cond',
    'functions of functions: tests/oracle/derivative_cases.py': 'jacobian hessian',
    'schedules of integers: tests/oracle/library_cases.py': 'exponential_decay cosine_decay piecewise_constant',
    'sparse rows, which JAX has not': 'unique_rows',
    'of the next float, which any rounding before it moves: tests/oracle/library_cases.py': 'nextafter spacing',
}


def words(leat):
    """The names that a step's text calls, and those that its signs stand for."""
    text = re.sub(r'"[^"]*"', '""', leat)
    found = set(re.findall(r'\b([a-z]\w*)\(', text)) | set(re.findall(r'\b(?:and|or|not)\b', text))
    for sign in re.findall(r'[=!<>]=|[-+*/%@<>]|(?<=[\w)}\]])\[', text):
        found.update(SIGNS[sign].split())
    return found


def all_names():
    with open(os.path.join(ROOT, 'ir', 'ops.def'), encoding='utf-8') as table:
        names = set(re.findall(r'^OP\((\w+),', table.read(), re.M))
    for path in glob.glob(f'{ROOT}/stdlib/**/*.leat', recursive=True):
        with open(path, encoding='utf-8') as source:
            names.update(re.findall(r'^##[^\n]*\nfn (\w+)\(', source.read(), re.M))
    return names


def report(offered):
    """The number of names without a step or an excuse, which are printed as the excuses are."""
    names, stepped = all_names(), {word for leat in offered for word in words(leat)}
    excused = {name: why for why, some in ELSEWHERE.items() for name in some.split()}
    for why, some in ELSEWHERE.items():
        print(f'not generated, {why}: {some}')
    wrong = [f'{name}: in no step, and not excused' for name in sorted(names - stepped - set(excused))]
    wrong += [f'{name}: excused, but in a step' for name in sorted(set(excused) & stepped)]
    wrong += [f'{name}: excused, but no op and no function of the library' for name in sorted(set(excused) - names)]
    print('\n'.join([*wrong, f'{len(names & stepped)} of {len(names)} ops and library functions are in steps']))
    return len(wrong)
