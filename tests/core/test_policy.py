"""The policy table: a dictionary from any 64-bit code to a weight, with numbers that stay."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playout._core import HashPolicy, PolicyFull

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
SMALLEST_INDEX_BITS = 12

DIRECT = 2**16  # codes below are not hashed

codes = st.one_of(
    st.integers(0, WORD),
    st.integers(0, 40),
    st.integers(DIRECT - 20, DIRECT + 20),
    st.integers(0, 40).map(lambda k: k << 58),
)


def home(code: int) -> int:
    """Where the smallest index looks for a code first."""
    return (((code ^ code >> 32) * GOLDEN) & WORD) >> (64 - SMALLEST_INDEX_BITS)


@given(st.lists(st.tuples(codes, st.floats(-5, 5)), max_size=300))
def test_it_is_a_dictionary(pairs):
    policy, twin = HashPolicy(), {}
    for code, weight in pairs:
        entry = policy.find_or_insert(code, weight, 1.0)
        twin.setdefault(code, weight)
        assert policy.weight(entry) == twin[code]
    assert len(policy) == len(twin)
    assert {code: policy.weight(policy.find(code)) for code in twin} == twin


def test_an_unknown_code_has_weight_zero_and_value_one():
    policy = HashPolicy()
    for code in (0, 1, WORD):
        assert policy.find(code) == 0
    assert (policy.weight(0), policy.value(0)) == (0.0, 1.0)


def test_codes_that_collide_keep_their_own_weights():
    """Forty codes with the same first place in the index."""
    clashing = [code for code in range(DIRECT, 400_000) if home(code) == home(DIRECT)][:40]
    assert len(clashing) == 40
    policy = HashPolicy()
    for weight, code in enumerate(clashing):
        policy.find_or_insert(code, float(weight), 1.0)
    assert [policy.weight(policy.find(code)) for code in clashing] == [float(i) for i in range(40)]


def test_entries_keep_their_numbers_when_the_table_grows_and_in_copies():
    policy = HashPolicy()
    numbers = random.Random(1)
    first = [numbers.getrandbits(bits) for bits in (64, 17) for _ in range(500)]
    first = list(dict.fromkeys([*first, *range(0, DIRECT, 1000)]))
    entries = [policy.find_or_insert(code, 0.0, 1.0) for code in first]
    copy = policy.copy()
    for _ in range(10_000):
        policy.find_or_insert(numbers.getrandbits(64), 0.0, 1.0)
        policy.find_or_insert(numbers.getrandbits(16), 0.0, 1.0)
    assert [policy.find(code) for code in first] == entries == [copy.find(code) for code in first]
    assert len(copy) == len(first)
    policy.clear()
    assert len(policy) == 0
    assert not any(map(policy.find, first))


def test_a_full_policy_says_so():
    policy = HashPolicy()
    for code in range(policy.max_entries):
        policy.find_or_insert(code, 0.0, 1.0)
    with pytest.raises(PolicyFull, match="4194304 move codes"):
        policy.find_or_insert(policy.max_entries, 0.0, 1.0)
