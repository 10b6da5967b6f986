#!/usr/bin/env python3
"""Remakes the polynomials of kernel/math*.c that f32 has for itself; for atanh those of f64 too.

    tools/fit_math.py [NAME…]        the coefficients of each fit, lowest first, and its greatest weighted error

Each is the minimax polynomial P of a function g under a weight: max |weight(x)·(P(x) − g(x))| is least (Remez). The weight
says what an error of P counts in the result. Sums are exact (fractions); g is as good as Python's math.
"""
import functools
import math
import sys
from fractions import Fraction
from math import atan, erf, erfc, exp, expm1, lgamma, log, log1p, pi, sqrt

GRID, ROUNDS = 600, 40


def solve(rows):
    """x of a linear system; the last number of a row is its right side."""
    size = len(rows)
    for i in range(size):
        best = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i and rows[r][i]:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [row[-1] for row in rows]


def alternation(errors, count):
    """The places of the greatest errors of alternating sign: `count` of them, next to each other."""
    places = []
    for i, error in enumerate(errors):
        if not places or (error > 0) != (errors[places[-1]] > 0):
            places.append(i)
        elif abs(error) > abs(errors[places[-1]]):
            places[-1] = i
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    return places


def minimax(g, weight, low, high, degree):
    """The coefficients, and the greatest weighted error."""
    steps = (0.5 - 0.5 * math.cos(pi * i / GRID) for i in range(GRID + 1))
    points = [(Fraction(x), Fraction(g(x)), Fraction(weight(x))) for x in (low + (high - low) * step for step in steps)]
    count = degree + 2
    places = [round(GRID * (i + 0.5) / count) for i in range(count)]
    for _ in range(ROUNDS):
        rows = [[points[p][0]**j for j in range(degree + 1)] + [(-1)**i / points[p][2], points[p][1]]
                for i, p in enumerate(places)]
        *c, level = solve(rows)
        errors = [float(w * (sum(a * x**j for j, a in enumerate(c)) - y)) for x, y, w in points]
        worst, places = max(map(abs, errors)), alternation(errors, count)
        if len(places) < count or worst < 1.001 * abs(level):
            break
    return [float(a) for a in c], worst


def atanh_tail(z):
    """(atanh(s) − s) / s³, z = s²."""
    return sum(Fraction(z)**i / (2 * i + 3) for i in range(40))


def atan_tail(z):
    """(atan(t) − t) / t³, z = t²."""
    return (atan(sqrt(z)) / sqrt(z) - 1) / z if z > 1e-3 else sum((-1)**i * z**(i - 1) / (2 * i + 1) for i in range(1, 9))


def log2_tail(z):
    """(log2((1 + s)/(1 − s)) / s − 2·log2 e) / z, z = s²; brief_log2 has 2·log2 e before it."""
    return 2 / log(2) * sum(Fraction(z)**i / (2 * i + 3) for i in range(40))


def third_root(h):
    return (1 - h)**(-1 / 3)


def exp2_ratio(r):
    """(2^r − 1) / r; brief_exp2 has a 1 before it."""
    return expm1(r * log(2)) / r if r else log(2)


def erfc_scaled(t):
    x = 3 * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def minus_log(y):
    """−log(1 − erf(y)²)."""
    return -log1p(-erf(y)**2) if y < 0.5 else -log(erfc(y) * (2 - erfc(y)))


@functools.cache
def erfinv_ratio(w):
    """erfinv(x) / x where −log(1 − x²) is w."""
    low, high = 0.0, 6.0
    for _ in range(60):
        y = (low + high) / 2
        low, high = (y, high) if minus_log(y) < w else (low, y)
    return y / erf(y) if w > 1e-5 else sqrt(pi) / 2 + 0.232013666 * w


def near_two(t):
    """lgamma(2 + t) / t, by a series about 2 in zeta − 1."""
    def zeta_less_one(s):  # Euler and Maclaurin
        return sum(n**-s for n in range(2, 20)) + 20**(1 - s) / (s - 1) + 20**-s / 2 + s * 20**(-s - 1) / 12
    return 0.42278433509846714 + sum((-1)**k * zeta_less_one(k) / k * t**(k - 1) for k in range(2, 60))


def stirling_rest(v):
    x = 1 / sqrt(v)
    return (lgamma(x) - ((x - 0.5) * log(x) - x + log(2 * pi) / 2)) * x if x < 60 else 1 / 12 - v / 360


def digamma(x):
    steps = 0
    while x < 25:
        steps, x = steps - 1 / x, x + 1
    w = 1 / (x * x)
    return steps + log(x) - 0.5 / x - w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w / 132))))


def digamma_rest(w):
    z = 1 / sqrt(w)
    return (log(z) - 0.5 / z - digamma(z)) * z * z if z < 60 else 1 / 12 - w / 120


def over(g):
    return lambda x: 1 / g(x)


def erf_ratio(z):
    return erf(sqrt(z)) / sqrt(z)


FITS = {  # g, weight, from, to, degree
    'atanh_f32': (atanh_tail, lambda z: z, 1e-6, 0.27**2, 3),
    'atanh_f64': (atanh_tail, lambda z: z, 1e-6, 0.27**2, 8),
    'atan_single': (atan_tail, lambda z: z**1.5 / atan(sqrt(z)), 1e-9, 1, 8),
    'brief_log2': (log2_tail, lambda z: z * log(2) / 2, 1e-7, 0.1716**2, 3),
    'brief_exp2': (exp2_ratio, lambda r: (abs(r) + 1e-12) * 2**-r, -0.5, 0.5, 5),
    'third_root': (third_root, over(third_root), -0.1075, 0.1075, 3),
    'erf_single': (lambda z: erf_ratio(z) - 1, over(erf_ratio), 1e-6, 0.85**2, 5),
    'erf_large': (lambda x: -log(erfc(x)) / x - 1, lambda x: x * erfc(x) / erf(x), 0.85, 4, 5),
    'erfc_single': (erfc_scaled, over(erfc_scaled), -2.5 / 3.5, 7.06 / 13.06, 10),
    'erfinv_center': (erfinv_ratio, over(erfinv_ratio), 0, 5.5, 9),
    'erfinv_edge': (lambda v: erfinv_ratio(v + 10), lambda v: 1 / erfinv_ratio(v + 10), -4.5, 6, 9),
    'near_two_single': (near_two, over(near_two), -0.5, 0.5, 8),
    'stirling_single': (stirling_rest, lambda v: sqrt(v) / max(0.3, lgamma(1 / sqrt(v))), 1e-9, 2.5**-2, 3),
    'digamma_single': (digamma_rest, lambda w: w, 1e-9, 4**-2, 2),
}


def main():
    for name in sys.argv[1:] or FITS:
        c, worst = minimax(*FITS[name])
        digits = 17 if name == 'atanh_f64' else 9
        print(f'{name}: 2^{math.log2(worst):.1f}\n   ', ', '.join(f'{a:.{digits}g}' for a in c))


main()
