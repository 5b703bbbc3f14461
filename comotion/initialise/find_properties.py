"""Find static properties as free numbers, before any encoder is asked to give them.

To first order in the properties c of each object, f_s is h₀ + c h₁ and f_b of a pair is
g₀ + c g₁ + c' g₂ + c c' g₃. The rates the data show are then linear in these functions when the
properties are known, and quadratic in each single property when the functions are known: both
have closed forms, and taking turns finds both. Each sequence keeps the best of several tries.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from comotion._types import EXACT, FAST, Key
from comotion.coordinates.layout import Layout
from comotion.data.windows import Dataset, Window
from comotion.encode.differences import finite_differences
from comotion.gp.linalg import safe_cholesky
from comotion.initialise.evidence import CENTRES, Evidence, gather, slots

STARTS = 24
"""Random laws to begin with; the one that explains most by turns is kept."""
FIRST_ROUNDS = 6
"""Turns by which the starts are told apart."""
FEW = 60
"""Sequences on which they are."""
ROUNDS = 8
"""Turns of the best one, on all sequences."""
SETTLING = 4
"""Turns after signs were turned, before both are compared."""
TRIES = 8
"""Random guesses at the properties of each sequence, beside those of before."""
SWEEPS = 3
"""Over all properties of a sequence, each solved for beside the others."""
BATCH = 50
"""Sequences that stand in memory together."""
EVEN = 0.05  # explanations whose misfits differ by less than this share are equally good
TINY = 1e-6
"""Properties that are all zero stay so."""
MOST_NUMBERS = 10**8
"""In the square forms of all sequences: 400 MB."""


class ExpandedLaw(eqx.Module):
    """Weights of the basis for each term of the expansion in properties."""

    alone: Float[Array, "s p"]
    pair: Float[Array, "b m"]


def find_properties(
    dataset: Dataset, smooth: Dataset, layout: Layout, *, key: Key
) -> tuple[Dataset, Dataset]:
    """Both cut to as many sequences as memory allows, the smoothed ones with their properties."""
    objects = smooth.windows.alive.shape[2]
    most = max(MOST_NUMBERS // (objects * slots(layout, objects) ** 2), 1)
    dataset, smooth = jax.tree.map(lambda leaf: leaf[:most], (dataset, smooth))
    if not bool(jnp.any(finite_differences(smooth.windows, layout).known)):
        return dataset, smooth  # whoever needs rates next will say what is wrong
    found = free_properties(smooth.windows, layout, layout.properties, key=key)
    return dataset, eqx.tree_at(lambda d: d.windows.properties, smooth, found)


def free_properties(
    windows: Window, layout: Layout, count: int, *, starts: int = STARTS, key: Key
) -> Float[Array, "P A C"]:
    """`windows` are smoothed. Where turning all signs of a sequence changes no motion, the sum
    of its properties is positive, so that there is one answer for an encoder to learn.
    """
    key_basis, key_law, key_first, key_turns, key_signs = jax.random.split(key, 5)
    evidence = gather(windows, layout, key=key_basis)
    few = jax.tree.map(lambda leaf: leaf[:FEW], evidence)
    law = _likely_law(few, count, starts, key=key_law)
    properties = best_of(evidence, law, _random(evidence, TRIES, count, key=key_first))
    properties = _take_turns(evidence, properties, ROUNDS, tries=TRIES, key=key_turns)
    return _turned(evidence, properties, key=key_signs)


def _likely_law(evidence: Evidence, count: int, starts: int, *, key: Key) -> ExpandedLaw:
    """Of many random starts the one that ends best: most end in a law that explains little."""
    best, lowest = None, math.inf
    for key_start in jax.random.split(key, starts):
        key_first, key_turns = jax.random.split(key_start)
        properties = _random(evidence, 1, count, key=key_first)[:, 0]
        properties = _take_turns(evidence, properties, FIRST_ROUNDS, tries=TRIES, key=key_turns)
        law = regress_law(evidence, properties)
        height = float(total_misfit(evidence, law, properties))
        if best is None or height < lowest:
            best, lowest = law, height
    assert best is not None
    return best


def _take_turns(
    evidence: Evidence, properties: Float[Array, "P A C"], rounds: int, *, tries: int, key: Key
) -> Float[Array, "P A C"]:
    """Properties that have been improved and laws that follow from them, one after the other.

    Each sequence also tries `tries` random properties a round.
    """
    for key_round in jax.random.split(key, rounds):
        law = regress_law(evidence, properties)
        random = _random(evidence, tries, properties.shape[2], key=key_round)
        candidates = jnp.concatenate([properties[:, None], random], axis=1)
        properties = _of_unit_size(evidence, best_of(evidence, law, candidates))
    return properties


@eqx.filter_jit
def regress_law(evidence: Evidence, properties: Float[Array, "P A C"]) -> ExpandedLaw:
    """The law that explains all sequences best, given their properties."""
    zeros, unflatten = ravel_pytree(_blank_law(evidence, properties.shape[2]))
    design_of = jax.jacfwd(lambda weights, c: _slot_weights(unflatten(weights), c))

    def add(
        total: tuple[Array, Array], sequence: tuple[Evidence, Array]
    ) -> tuple[tuple[Array, Array], None]:
        seen, c = sequence
        design = design_of(zeros, c)  # (A, n, weights)
        gram = jnp.einsum("anw,anm,amv->wv", design, seen.gram, design)
        products = jnp.einsum("anw,an->w", design, seen.products)
        return (total[0] + gram.astype(EXACT), total[1] + products.astype(EXACT)), None

    none = (jnp.eye(zeros.size, dtype=EXACT), jnp.zeros(zeros.size, EXACT))
    (precision, products), _ = jax.lax.scan(add, none, (evidence, properties))
    weights = jax.scipy.linalg.cho_solve((safe_cholesky(precision), True), products)
    return unflatten(weights.astype(FAST))


@eqx.filter_jit
def best_of(
    evidence: Evidence, law: ExpandedLaw, tries: Float[Array, "P T A C"]
) -> Float[Array, "P A C"]:
    """Of each sequence the try that explains it best, after each has been improved."""

    def of_sequence(sequence: tuple[Evidence, Array]) -> Float[Array, "A C"]:
        seen, tries = sequence
        forms = _under_law(seen, law)
        improved = jax.vmap(lambda c: _improve(forms, c))(tries)
        return improved[jnp.argmin(jax.vmap(lambda c: misfit(forms, c))(improved))]

    return jax.lax.map(of_sequence, (evidence, tries), batch_size=BATCH)


def misfit(forms: Evidence, properties: Float[Array, "A C"]) -> Float[Array, ""]:
    """How badly properties explain one sequence, `forms` being its evidence under a law."""
    own, pairs = _terms(properties)
    terms = jnp.concatenate([own, pairs.reshape(own.shape[0], -1)], axis=1)
    explained = 2.0 * jnp.sum(terms * forms.products, axis=1)
    explained = explained - jnp.einsum("an,anm,am->a", terms, forms.gram, terms)
    return 0.5 * (jnp.sum(forms.squares - explained) + jnp.sum(properties**2))


@eqx.filter_jit
def total_misfit(
    evidence: Evidence, law: ExpandedLaw, properties: Float[Array, "P A C"]
) -> Float[Array, ""]:
    each = jax.lax.map(lambda s: misfit(_under_law(s[0], law), s[1]), (evidence, properties))
    return jnp.sum(each)


def _improve(forms: Evidence, properties: Float[Array, "A C"]) -> Float[Array, "A C"]:
    """The best value of one number after the other; three points show the whole parabola."""
    A, C = properties.shape

    def better(step: Array, c: Float[Array, "A C"]) -> Float[Array, "A C"]:
        a, k = (step // C) % A, step % C
        low, middle, high = (misfit(forms, c.at[a, k].set(x)) for x in (-1.0, 0.0, 1.0))
        best = 0.5 * (low - high) / (low + high - 2.0 * middle)
        return c.at[a, k].set(jnp.where(forms.exists[a], best, 0.0))

    return jax.lax.fori_loop(0, SWEEPS * A * C, better, properties)


def _under_law(seen: Evidence, law: ExpandedLaw) -> Evidence:
    """The same square forms over the terms of the expansion, the law's weights put in."""
    A = seen.exists.shape[0]
    weights = jax.scipy.linalg.block_diag(law.alone, *[law.pair] * A)  # (n, terms)
    gram = jnp.einsum("nt,anm,mu->atu", weights, seen.gram, weights)
    return Evidence(gram, seen.products @ weights, seen.squares, seen.exists)


def _terms(c: Float[Array, "A C"]) -> tuple[Float[Array, "A p"], Float[Array, "A A m"]]:
    """The factors of h₀, h₁ for each object, and of g₀ … g₃ for each pair."""
    A, C = c.shape
    one = jnp.ones((A, 1), c.dtype)
    hearing = jnp.broadcast_to(c[:, None], (A, A, C))
    heard = jnp.broadcast_to(c[None], (A, A, C))
    products = (hearing[..., :, None] * heard[..., None, :]).reshape(A, A, C * C)
    ones = jnp.ones((A, A, 1), c.dtype)
    return (
        jnp.concatenate([one, c], axis=1),
        jnp.concatenate([ones, hearing, heard, products], axis=2),
    )


def _slot_weights(law: ExpandedLaw, c: Float[Array, "A C"]) -> Float[Array, "A n"]:
    """The basis weights of every slot of every object."""
    own, pairs = _terms(c)
    heard = jnp.einsum("abm,wm->abw", pairs, law.pair)
    return jnp.concatenate([own @ law.alone.T, heard.reshape(c.shape[0], -1)], axis=1)


def _blank_law(evidence: Evidence, count: int) -> ExpandedLaw:
    alone = evidence.gram.shape[-1] - evidence.exists.shape[-1] * CENTRES
    terms = (1 + count, (1 + count) ** 2)
    return ExpandedLaw(jnp.zeros((alone, terms[0]), FAST), jnp.zeros((CENTRES, terms[1]), FAST))


def _random(evidence: Evidence, tries: int, count: int, *, key: Key) -> Float[Array, "P T A C"]:
    P, A = evidence.exists.shape
    drawn = jax.random.normal(key, (P, tries, A, count), FAST)
    return jnp.where(evidence.exists[:, None, :, None], drawn, 0.0)


def _of_unit_size(evidence: Evidence, properties: Float[Array, "P A C"]) -> Float[Array, "P A C"]:
    """A law can make up for any unit; this is that of the prior."""
    count = jnp.maximum(jnp.sum(evidence.exists), 1).astype(FAST)
    size = jnp.sqrt(jnp.sum(properties**2, axis=(0, 1)) / count)
    return properties / jnp.maximum(size, TINY)[None, None]


def _turned(
    evidence: Evidence, properties: Float[Array, "P A C"], *, key: Key
) -> Float[Array, "P A C"]:
    """Each property positive in sum over a sequence, if a law can be as good after that."""

    def height(properties: Float[Array, "P A C"]) -> float:
        return float(total_misfit(evidence, regress_law(evidence, properties), properties))

    for k in range(properties.shape[2]):
        sign = jnp.where(jnp.sum(properties[:, :, k], axis=1, keepdims=True) < 0, -1.0, 1.0)
        turned = properties.at[:, :, k].multiply(sign.astype(FAST))
        turned = _take_turns(evidence, turned, SETTLING, tries=0, key=key)
        if height(turned) <= (1.0 + EVEN) * height(properties):
            properties = turned
    return properties
