"""Random recurrent cells, wide enough that a loop keeps more of its turns than what it carries: the gradients of their
weights' scales, of first or second order, against complex steps.

Each expression is of both languages. How often the loop turns is known, a dim, fed, or what its values end; it counts up
or down; one other loop, or none, is around it.
"""
import random

import numpy

from case import Case

ROWS, UNITS = 4, 64
WAVE = f'''fn wave(size: float, phase: float, out: type) {{
  n = product(shape(out), len(shape(out)))
  return size * sin(reshape(cast(iota([n]), dtype(out)), shape(out)) * 1.7 + phase)
}}
'''
VALUES = ['tanh({a})', 'sin({a}) * {b}', '{a} * {b}', '{a} + {b}', '{a} - 0.5 * {b}', 'tanh({a} @ w)', '({a} + {b}) @ v',
          '{a} * tanh(sum({b} * 0.1, axis=1, keepdims=true))', 'exp(0 - {a} * {a})', 'where({a} < {b}, {a}, sin({b}))']
TURNS = ['t < 5', 't < T', 't < n', 't < 9 and sum(h * h) > least']


def wave(size, phase, *shape):
    return size * numpy.sin(numpy.arange(numpy.prod(shape), dtype='f8').reshape(shape) * 1.7 + phase)


class Cell:
    def __init__(self, seed):
        self.rng = rng = random.Random(f'kept {seed}')
        self.names, self.lines = ['h', 'c', 'row'], []
        for number in range(rng.randrange(2, 6)):
            a, b = rng.choice(self.names), rng.choice(self.names)
            self.lines.append((f'a{number}', rng.choice(VALUES).format(a=a, b=b)))
            self.names.append(f'a{number}')
        self.next = f'tanh({self.names[-1]} @ w + row)', f'0.5 * c + {rng.choice(self.names)} * 0.25'
        self.turns, self.down, self.around = rng.choice(TURNS), rng.random() < 0.3, rng.random() < 0.3
        self.step, self.second = rng.choice([1, 1, 2]), rng.random() < 0.25

    def leat(self):
        row, first, holds, after = 'x[t % 6]', 't: i64[] = 0', self.turns, 't + 1'
        if self.down:
            first, holds, after = 't: i32[] = 8', 't > 0', f't - {self.step}'
        loop = [f'_, last, cell = while ({first}, h = h0, c = h0 * 0.5) {holds} {{', f'  row = {row}',
                *(f'  {name} = {value}' for name, value in self.lines), f'  next {after}, {", ".join(self.next)}', '}']
        body = [f'x = wave(0.5, 0.1, out=f64[6, {ROWS}, {UNITS}]) * r', f'w = wave(0.2, 1.0, out=f64[{UNITS}, {UNITS}]) * s',
                f'v = wave(0.1, 2.0, out=f64[{UNITS}, {UNITS}])', f'g0 = wave(0.3, 3.0, out=f64[{ROWS}, {UNITS}])']
        if self.around:
            body += ['_, total = while (k: i64[] = 0, h0 = g0) k < 2 {', *('  ' + line for line in loop), '  next k + 1, last + cell', '}']
        else:
            body += ['h0 = g0', *loop, 'total = last + cell']
        body += ['y = sum(total * total)', ('da, db' if self.second else 'ds, dr') + ' = grad(y, [s, r])']
        if self.second:
            body += ['ds, dr = grad(da + db, [s, r])']
        return body


def random_kept(seed):
    cell = Cell(seed)
    text = WAVE + 'entry main(p: f64[T], n: i64[], least: f64[], s: f64[], r: f64[]) -> (y: f64[], ds: f64[], dr: f64[]) {\n'
    text += ''.join(f'  {line}\n' for line in cell.leat()) + '}\n'
    space = {'tanh': numpy.tanh, 'sin': numpy.sin, 'exp': numpy.exp, 'true': True,
             'where': numpy.where, 'v': wave(0.1, 2.0, UNITS, UNITS),
             'sum': lambda a, axis=None, keepdims=False: numpy.sum(a, axis=axis, keepdims=keepdims)}

    def turn(names, t):
        names['row'] = names['x'][t % 6]
        for name, value in cell.lines:
            names[name] = eval(value, space, names)
        return [eval(value, space, names) for value in cell.next]

    def loss(p, n, least, s, r):
        x, w = wave(0.5, 0.1, 6, ROWS, UNITS) * r, wave(0.2, 1.0, UNITS, UNITS) * s
        total = wave(0.3, 3.0, ROWS, UNITS)
        for _ in range(1 + cell.around):
            names = {'x': x, 'w': w, 'h': total, 'c': total * 0.5, 'n': n, 'least': least, 'T': len(p)}
            t = 8 if cell.down else 0
            while t > 0 if cell.down else eval(cell.turns, space, {**names, 'h': names['h'].real, 't': t}):
                names['h'], names['c'] = turn(names, t)
                t += -cell.step if cell.down else 1
            total = names['h'] + names['c']
        return numpy.sum(total * total)

    def oracle(p, n, least, s, r):
        tiny, given = 1e-30j, (p, int(n), float(least))
        first = [loss(*given, s + tiny, r).imag / 1e-30, loss(*given, s, r + tiny).imag / 1e-30]
        if cell.second:  # of the slopes' sum, which are those along both
            step = 1e-4
            def along(s, r):
                return loss(*given, s + tiny, r + tiny).imag / 1e-30
            first = [(along(s + step, r) - along(s - step, r)) / (2 * step), (along(s, r + step) - along(s, r - step)) / (2 * step)]
        return (loss(*given, s, r).real, *first)
    feeds = {'p': [0.0] * cell.rng.randrange(1, 7), 'n': cell.rng.randrange(0, 7), 'least': cell.rng.choice([1.0, 20.0]),
             's': 1.1, 'r': 0.9}
    words = ['--memory-limit', '1000'] * (cell.rng.random() < 0.2)
    return Case(f'random_kept_{seed}', text, oracle, (feeds,), words, {}, ('cpu', 'ref', 'c'), 1e9 if cell.second else 1e4)
