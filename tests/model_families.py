"""Models of any size, of ONNX and as GraphDefs, written without either's packages: families for `tests/soak/growth`, and what
both importers have to answer at little cost."""
import resource
import subprocess
import tempfile


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def message(*fields):
    """A message of protobuf: (number, value), where a value is an int, a string, bytes, or a list of these."""
    out = bytearray()
    for number, values in fields:
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, int):
                out += varint(number << 3) + varint(value)
            else:
                value = value.encode() if isinstance(value, str) else value
                out += varint(number << 3 | 2) + varint(len(value)) + value
    return bytes(out)


FOUR = message((1, 4))  # an extent


def onnx(nodes, constants=(), functions=(), result='y'):
    """A model of x: f32[4]. nodes: (op, inputs, outputs); an op in capitals is one of its functions: (name, inputs, outputs, nodes)."""
    node = lambda op, inputs, outputs: message((1, list(inputs)), (2, list(outputs)), (4, op), (7, ['own'] if op.isupper() else []))
    info = lambda name: message((1, name), (2, message((1, message((1, 1), (2, message((1, FOUR))))))))
    sets = [message((2, 21)), message((1, 'own'), (2, 1))]
    graph = message((1, [node(*n) for n in nodes]), (2, 'g'), (5, [message((1, 4), (2, 1), (8, name), (9, bytes(16))) for name in constants]),
                    (11, info('x')), (12, info(result)))
    own = [message((1, name), (4, list(inputs)), (5, list(outputs)), (7, [node(*n) for n in body]), (9, sets), (10, 'own'))
           for name, inputs, outputs, body in functions]
    return message((1, 10), (7, graph), (8, sets), (25, own))


def graphdef(nodes, constants=(), functions=(), result='y'):
    """The same as a GraphDef."""
    kind, own = message((1, 'T'), (2, message((6, 1)))), {name for name, *_ in functions}
    tensor = message((1, 1), (2, message((2, message((1, 4))))), (5, bytes(0)), (4, bytes(16)))
    typed = [message((1, 'dtype'), (2, message((6, 1))))]
    shaped = message((1, 'shape'), (2, message((7, message((2, message((1, 4))))))))

    def node(op, inputs, outputs):
        more = [] if op in own else [kind] + ([message((1, 'N'), (2, message((3, len(inputs)))))] if op == 'AddN' else [])
        return message((1, outputs[0]), (2, op), (3, list(inputs)), (5, more))
    named = [message((1, 'x'), (2, 'Placeholder'), (5, [*typed, shaped]))]
    named += [message((1, name), (2, 'Const'), (5, [*typed, message((1, 'value'), (2, message((8, tensor))))])) for name in constants]
    arg = lambda name: message((1, name), (3, 1))
    defined = []
    for name, inputs, outputs, body in functions:  # in a function an output is named by its node, its argument and its number
        made = {outs[0]: f'{outs[0]}:{"b" if op in own else "y"}:0' for op, _, outs in body}
        nodes_of = [node(op, [made.get(i, i) for i in ins], outs) for op, ins, outs in body]
        signature = message((1, name), (2, [arg(i) for i in inputs]), (3, [arg(o) for o in outputs]))
        defined.append(message((1, signature), (3, nodes_of), (4, [message((1, o), (2, made[o])) for o in outputs])))
    return message((1, named + [node(*n) for n in nodes]), (2, message((1, defined))))


def own_name(i):
    return 'F' + ''.join(chr(ord('A') + int(digit)) for digit in str(i))


def nested(n, calls):
    """n functions, each of which calls the next one so many times, and a call of the first."""
    at = lambda k: 'a' if k == 0 else 'b' if k == calls else f'c{k}'
    body = lambda i: [(own_name(i + 1), [at(k)], [at(k + 1)]) for k in range(calls)] if i + 1 < n else [('Neg', ['a'], ['b'])]
    return [(own_name(0), ['x'], ['y'])], (), [(own_name(i), ['a'], ['b'], body(i)) for i in range(n)]


# Families of models: name -> (the first n, what `onnx` and `graphdef` make a model of).
MODELS = {
    'chain': (300, lambda n: [[('Neg', [f'h{i}' if i else 'x'], [f'h{i + 1}' if i + 1 < n else 'y']) for i in range(n)]]),
    'wide': (300, lambda n: [[*[('Neg', ['x'], [f'h{i}']) for i in range(n)], ('ADDN', [f'h{i}' for i in range(n)], ['y'])]]),
    'constants': (300, lambda n: [[*[('Mul', ['x', f'c{i}'], [f'h{i}']) for i in range(n)], ('ADDN', [f'h{i}' for i in range(n)], ['y'])],
                                        [f'c{i}' for i in range(n)]]),
    'long_name': (10000, lambda n: [[('Neg', ['x'], ['n' * n]), ('Neg', ['n' * n], ['y'])]]),
    'long_path': (10000, lambda n: [[('Neg', ['x'], ['n/' * (n // 2) + 'z']), ('Neg', ['n/' * (n // 2) + 'z'], ['y'])]]),
    'long_names_alike': (100, lambda n: [[('Neg', [f'{"n" * 1000}{i}' if i else 'x'], [f'{"n" * 1000}{i + 1}' if i + 1 < n else 'y']) for i in range(n)]]),
    'long_name_of_a_function': (10000, lambda n: [[('N' * n, ['x'], ['y'])], (), [('N' * n, ['a'], ['b'], [('Neg', ['a'], ['b'])])]]),
    'functions_in_functions': (1000, lambda n: nested(n, 1)),
    'functions_that_double': (3, lambda n: nested(n, 2)),
    'functions_of_their_own': (100, lambda n: [[(own_name(i), [f'h{i}' if i else 'x'], [f'h{i + 1}' if i + 1 < n else 'y']) for i in range(n)], (),
                                                     [(own_name(i), ['a'], ['b'], [('Neg', ['a'], ['b'])]) for i in range(n)]]),
    'functions_called': (100, lambda n: [[('F', [f'h{i}' if i else 'x'], [f'h{i + 1}' if i + 1 < n else 'y']) for i in range(n)], (),
                                               [('F', ['a'], ['b'], [('Neg', ['a'], ['b'])])]]),
}

KINDS = {'onnx': (onnx, 'Sum'), 'pb': (graphdef, 'AddN')}  # a file's end -> what writes it, and the op that adds all


def model(kind, name, n):
    """The file of a family's model of size n."""
    make, sums = KINDS[kind]
    nodes, *rest = MODELS[name][1](n)
    return make([(sums if op == 'ADDN' else op, inputs, outputs) for op, inputs, outputs in nodes], *rest)


# What a small file may not cost much, and what is said of it; None: it runs.
HOSTILE = {('functions_that_double', 30): 'the calls of functions are more than 300000 nodes', ('functions_in_functions', 20000): 'more than 50 deep',
           ('long_name', 1000000): None, ('long_path', 1000000): None}
MOST_SECONDS, MOST_BYTES = 1, 100 << 20


def limited(seconds=MOST_SECONDS, most=MOST_BYTES):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


WEIGHT = 24 << 20  # elements of a weight, of 96 MB


def heavy(kind):
    """A model of x: f32[4] with so large a weight, as few bytes as there are before it and behind."""
    shape, data = [message((1, 4)), message((1, WEIGHT // 4))], bytes(4 * WEIGHT)
    if kind == 'onnx':
        node = lambda op, inputs, outputs: message((1, inputs), (2, outputs), (4, op))
        tensor = message((1, [4, WEIGHT // 4]), (2, 1), (8, 'w'), (9, data))
        x = message((1, 'x'), (2, message((1, message((1, 1), (2, message((1, FOUR))))))))
        nodes = [node('MatMul', ['x', 'w'], ['z']), node('ReduceMax', ['z'], ['y'])]
        graph = message((1, nodes), (2, 'g'), (5, tensor), (11, x), (12, message((1, 'y'))))
        return message((1, 10), (7, graph), (8, message((2, 17))))
    kind_of = lambda name: message((1, name), (2, message((6, 1))))
    tensor = message((1, 1), (2, message((2, shape))), (4, data))
    named = lambda name, value: message((1, name), (2, value))
    shape_of_x = message((7, message((2, [message((1, 1)), message((1, 4))]))))
    return message((1, [message((1, 'x'), (2, 'Placeholder'), (5, [kind_of('dtype'), named('shape', shape_of_x)])),
                        message((1, 'w'), (2, 'Const'), (5, [kind_of('dtype'), named('value', message((8, tensor)))])),
                        message((1, 'y'), (2, 'MatMul'), (3, ['x', 'w']), (5, [kind_of('T')]))]))


def check_heavy(leat, kind):
    """Lines on what takes more memory than its weight once."""
    with tempfile.TemporaryDirectory(prefix='leat-model-') as folder:
        with open(f'{folder}/model.{kind}', 'wb') as out:
            out.write(heavy(kind))
        feed = 'x=[1, 2, 3, 4]' if kind == 'onnx' else 'x=[[1, 2, 3, 4]]'
        done = subprocess.run([leat, 'run', f'model.{kind}', '--cache', 'off', '--threads', '1', '--feed', feed], cwd=folder, capture_output=True,
                              errors='replace', preexec_fn=lambda: limited(60, 4 * WEIGHT + MOST_BYTES * 5 // 4))
        if done.returncode:
            yield f'a weight of {4 * WEIGHT} bytes: exit status {done.returncode}: {done.stderr[:300]}'


def check_hostile(leat, kind):
    """Lines on what is not done with so much, or is not refused."""
    with tempfile.TemporaryDirectory(prefix='leat-model-') as folder:
        for (name, n), said in HOSTILE.items():
            with open(f'{folder}/model.{kind}', 'wb') as out:
                out.write(model(kind, name, n))
            done = subprocess.run([leat, 'run', f'model.{kind}', '--cache', 'off', '--stop-after', 'frontend'], cwd=folder, capture_output=True,
                                  errors='replace', preexec_fn=limited)
            if done.returncode != (0 if said is None else 1) or said and said not in done.stderr:
                yield f'{name} of {n}: exit status {done.returncode}: {done.stderr[:300]}'
