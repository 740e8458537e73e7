"""The heap in the memory that bridge and child share."""

from __future__ import annotations

import gc
import mmap
import os
import weakref

import numpy as np
import pytest

from gpbench_harness._arena import FIRST, Arena
from gpbench_harness._shared import Shared, overlap

SIZE = 8 << 20


@pytest.fixture
def arena() -> Arena:
    return Arena(mmap.mmap(-1, SIZE))


def test_a_block_is_free_when_its_last_view_is_gone(arena):
    array = arena.empty((100, 3))
    first = arena.offset(array)
    view = array[10:, 1:].T
    del array
    gc.collect()
    assert arena.offset(arena.empty((100, 3))) != first, "the view keeps the block"
    del view
    assert arena.offset(arena.empty((100, 3))) == first


def test_an_export_keeps_its_block(arena):
    array = arena.empty((8,))
    first, exported = arena.offset(array), memoryview(array)
    del array
    gc.collect()
    assert arena.offset(arena.empty((8,))) != first
    exported.release()
    if hasattr(np, "from_dlpack"):
        array = arena.empty((64,))
        first, twin = arena.offset(array), np.from_dlpack(array)
        del array
        assert arena.offset(arena.empty((64,))) != first
        del twin
        gc.collect()
        assert arena.offset(arena.empty((64,))) == first


def test_arrays_are_column_major_aligned_and_apart(arena):
    made = [arena.empty(shape) for shape in [(3,), (5, 7), (0, 4), (4, 0), (2, 3, 4), (), (9000, 2), (1,)]]
    made.append(arena.empty((10,), dtype=np.int64))
    made.append(arena.empty((3, 3), dtype=np.float32))
    places = []
    for array in made:
        assert array.flags.f_contiguous or array.size == 0
        assert array.flags.writeable
        offset = array.__array_interface__["data"][0] - arena.address
        assert offset % 64 == 0 and offset >= FIRST
        places.append((offset, offset + max(array.nbytes, 1)))
    places.sort()
    assert all(end <= begin for (_, end), (begin, _) in zip(places, places[1:]))
    assert arena.empty((9000, 2)).__array_interface__["data"][0] % 4096 == 0, "a large one has pages of its own"


def test_a_read_only_array_stays_so(arena):
    array = arena.empty((4, 2), read_only=True)
    for target in (array, array.view(), array[1:], array.T):
        with pytest.raises(ValueError):
            target.flags.writeable = True
    with pytest.raises(ValueError):
        array[0, 0] = 1.0


def test_regions_are_those_of_column_major_matrices(arena):
    array = arena.empty((10, 6))
    offset = arena.offset(array)
    assert arena.region(array) == (offset, 10, 6, 10)
    assert arena.region(array[:, 2:5]) == (offset + 160, 10, 3, 10)
    assert arena.region(array[2:7, 1:3]) == (offset + 96, 5, 2, 10)
    assert arena.region(array[:, ::2]) == (offset, 10, 3, 20)
    assert arena.region(array[3:4, :]) == (offset + 24, 1, 6, 10)
    assert arena.region(array[:, 3:4]) == (offset + 240, 10, 1, 10)
    assert arena.region(array[:, 0][:, np.newaxis]) == (offset, 10, 1, 10)
    assert arena.region(array[:0]) == (FIRST, 0, 6, 1)
    for other in (array.T, array[::2], array[:, ::-1], np.zeros((10, 6), order="F"), array.astype(np.float32)):
        assert arena.region(other) is None
    assert arena.region(arena.empty((4, 2), dtype=np.int64)) is None
    assert arena.region(np.broadcast_to(array[:, :1], (10, 6))) is None


def test_a_full_arena_says_so_and_recovers(arena):
    held = []
    with pytest.raises(MemoryError, match="no room"):
        while True:
            held.append(arena.empty((1000, 10)))
    assert len(held) * 80_000 > SIZE * 0.9
    del held[::2]
    with pytest.raises(MemoryError):
        arena.empty((2000, 10))
    held.clear()
    assert arena.empty((2000, 100)).size == 200_000, "neighbours are joined"


def test_memory_does_not_grow_with_the_number_of_sizes(arena):
    for size in range(1, 2000):
        arena.empty((size, 40))[...] = 1.0
    assert arena.used == 0
    assert arena._top < 2 << 20, "blocks of other sizes are used again"


def test_random_use_never_gives_a_byte_twice(arena):
    random = np.random.default_rng(3)
    held: list[tuple[np.ndarray, float]] = []
    for step in range(3000):
        if held and random.random() < 0.5:
            array, mark = held.pop(int(random.integers(len(held))))
            assert (array == mark).all()
        else:
            shape = (int(random.integers(1, 400)), int(random.integers(1, 30)))
            try:
                array = arena.empty(shape)
            except MemoryError:
                held.clear()
                continue
            array[...] = step
            held.append((array, float(step)))
        if step % 100 == 0:
            arena.trim()
    for array, mark in held:
        assert (array == mark).all()


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="no memfd here")
def test_free_pages_go_back_to_the_system():
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, 256 << 20)
    arena = Arena(mmap.mmap(descriptor, 256 << 20))

    def resident() -> int:
        return os.fstat(descriptor).st_blocks * 512

    kept = arena.empty((1000,))
    kept[...] = 7.0
    for _ in range(100):
        work = [arena.empty((1 << 17,)) for _ in range(8)]
        for array in work:
            array[...] = 1.0
        del work, array
        arena.trim()
    assert resident() < 1 << 20
    assert (kept == 7.0).all()


def test_blocks_of_objects_in_cycles_are_freed_by_the_collector(arena):
    class Node:
        pass

    node = Node()
    node.itself, node.array = node, arena.empty((10,))
    gone = weakref.ref(node)
    del node
    gc.collect()
    assert gone() is None and arena.used == 0


def test_types_of_references_are_refused(arena):
    with pytest.raises(TypeError, match="references"):
        arena.empty((3,), dtype=object)
    with pytest.raises(ValueError, match="negative"):
        arena.empty((-1,))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_copy_of_the_process_gets_nothing(arena):
    arena.empty((3,))
    child = os.fork()
    if child == 0:
        try:
            arena.empty((3,))
        except MemoryError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_private_memory_is_given_before_the_arena_is_full(arena):
    shared = Shared(None, arena)
    held = [shared.empty((1000, 10), float)]
    while arena.region(held[-1]) is not None:
        held.append(shared.empty((1000, 10), float))
    assert SIZE * 0.7 < arena.used < SIZE * 0.8
    assert held[-1].flags.f_contiguous and held[-1].flags.writeable
    assert arena.empty((1000, 100)).size == 100_000, "a quarter is left for copies"
    assert shared.empty((3,), object).dtype == object


def test_overlapping_matrices_are_found():
    whole = (FIRST, 10, 4, 10)
    assert overlap(whole, (FIRST + 312, 1, 1, 1))
    assert not overlap(whole, (FIRST + 320, 10, 4, 10))
    assert not overlap(whole, (FIRST, 0, 4, 1))
