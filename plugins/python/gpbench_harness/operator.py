"""The matrix of a system, known through its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .arrays import Array, Index, indices, matrix, output
from .backend import SolveBackend
from .errors import Error
from .inputs import Inputs
from .link import Link

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

__all__ = ["Operator"]


class Operator:
    """A matrix A with n rows and m columns, known through its products.

    A = K(X, X) + noise_scale^2 I and m = n, except with inducing points Z: then A = K(X, Z), without noise.

    Every call counts the kernel entries that it uses, for any number of columns of its argument; n^2 of them are one
    epoch. A call whose entries do not fit into the budget does nothing and raises `Stop`.

    Arguments may be array-likes of one or two dimensions and any layout; a vector gives a vector. Column-major arrays of
    `Problem.empty`, and whole columns of them, are passed without a copy.
    """

    __slots__ = ("_link", "_m", "_mixed", "_n")

    def __init__(self, link: Link[SolveBackend], n: int, m: int, mixed: bool = False) -> None:
        self._link = link
        self._n = n
        self._m = m
        self._mixed = mixed

    @property
    def shape(self) -> tuple[int, int]:
        """Rows n and columns m."""
        return self._n, self._m

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """float64."""
        return np.dtype(np.float64)

    def __repr__(self) -> str:
        return f"<{'mixed-precision operator' if self._mixed else 'operator'} A, {self._n} x {self._m}>"

    def _input(self, value: npt.ArrayLike, what: str, rows: int) -> tuple[Array, bool]:
        return matrix(value, what, rows, f"A is {self._n} x {self._m}")

    def __matmul__(self, v: npt.ArrayLike) -> Array:
        """A v, in a new array. Counts n m entries, for any number of columns of v."""
        return self.apply(v)

    def apply(self, v: npt.ArrayLike, out: Array | None = None) -> Array:
        """Computes A v. Counts n m entries, for any number of columns of v.

        Parameters
        ----------
        v : array_like, (m,) or (m, k)
        out : Array, (n,) or (n, k), optional
            Where to put the product.

        Returns
        -------
        Array, (n,) or (n, k)
            `out`, or a new array.

        Raises
        ------
        Stop
            If the budget does not allow the product.
        ValueError
            If a shape is wrong, or `out` is read-only.
        """
        backend = self._link.use()
        v, vector = self._input(v, "v", self._m)
        if out is None:
            product = backend.apply(v, None, self._mixed)
            return product[:, 0] if vector else product
        target = output(out, "out", (self._n, v.shape[1]), vector)
        backend.apply(apart(v, target), target, self._mixed)
        return out

    def rows(self, rows: Index, v: npt.ArrayLike, out: Array | None = None) -> Array:
        """Computes A[rows] v. Counts \\|rows\\| m entries.

        Parameters
        ----------
        rows : array_like of int, mask or slice
            Row numbers from 0.
        v : array_like, (m,) or (m, k)
        out : Array, (\\|rows\\|,) or (\\|rows\\|, k), optional

        Returns
        -------
        Array, (\\|rows\\|,) or (\\|rows\\|, k)
            `out`, or a new array.

        Raises
        ------
        Stop
            If the budget does not allow the product.
        ValueError, IndexError
            If a shape or a row number is wrong.
        """
        backend = self._link.use()
        chosen = indices(rows, "rows", self._n)
        v, vector = self._input(v, "v", self._m)
        if out is None:
            product = backend.rows(chosen, v, None, self._mixed)
            return product[:, 0] if vector else product
        target = output(out, "out", (chosen.shape[0], v.shape[1]), vector)
        backend.rows(chosen, apart(v, target), target, self._mixed)
        return out

    def rows_and_back(
        self, rows: Index, v: npt.ArrayLike, transform: Callable[[Array], None] | None, z: Array
    ) -> Array:
        """Computes u = A[rows] v, then ``transform(u)``, then z += A[rows]^T u: a minibatch of a least-squares gradient.

        Counts \\|rows\\| m entries once, not twice.

        Parameters
        ----------
        rows : array_like of int, mask or slice
            Row numbers from 0.
        v : array_like, (m,) or (m, k)
        transform : callable or None
            Changes u in place. It may not call the harness.
        z : Array, (m,) or (m, k)
            What is added to, in place.

        Returns
        -------
        Array, (\\|rows\\|,) or (\\|rows\\|, k)
            u, as `transform` left it.

        Raises
        ------
        Stop
            If the budget does not allow it; z is then unchanged.
        ValueError, IndexError
            If a shape or a row number is wrong.
        """
        backend = self._link.use()
        chosen = indices(rows, "rows", self._n)
        v, vector = self._input(v, "v", self._m)
        target = output(z, "z", (self._m, v.shape[1]), vector)
        function: Callable[[Array], None] | None = None
        if transform is not None:
            given = transform
            inner = (lambda u: given(u[:, 0])) if vector else given
            function = self._link.callback(inner, "the transform of `rows_and_back`")
        u = backend.fused(chosen, apart(v, target), function, target, self._mixed)
        return u[:, 0] if vector else u

    def columns(self, cols: Index, v: npt.ArrayLike, y: Array) -> None:
        """Adds A[:, cols] v to y in place. Counts n \\|cols\\| entries.

        Parameters
        ----------
        cols : array_like of int, mask or slice
            Column numbers from 0.
        v : array_like, (\\|cols\\|,) or (\\|cols\\|, k)
        y : Array, (n,) or (n, k)

        Raises
        ------
        Stop
            If the budget does not allow it; y is then unchanged.
        ValueError, IndexError
            If a shape or a column number is wrong.
        """
        backend = self._link.use()
        chosen = indices(cols, "cols", self._m)
        v, vector = matrix(v, "v", chosen.shape[0], f"{chosen.shape[0]} columns are chosen")
        target = output(y, "y", (self._n, v.shape[1]), vector)
        backend.columns(chosen, apart(v, target), target, self._mixed)

    def block(self, rows: Index, cols: Index) -> Array:
        """Returns the entries A[rows][:, cols]. Counts \\|rows\\| \\|cols\\| entries.

        The noise variance is added where the number of a row equals that of a column, unless there are inducing points.

        Parameters
        ----------
        rows, cols : array_like of int, mask or slice

        Returns
        -------
        Array, \\|rows\\| x \\|cols\\|

        Raises
        ------
        Stop
            If the budget does not allow it.
        """
        backend = self._link.use()
        return backend.block(indices(rows, "rows", self._n), indices(cols, "cols", self._m))

    def diagonal(self) -> Array:
        """Returns the diagonal of A, n numbers. Counts nothing.

        Raises
        ------
        Error
            With inducing points, where A has none.
        """
        return self._link.use().diagonal()

    def features(self, seed: int, count: int, w: npt.ArrayLike) -> Array:
        """Computes Phi w for random Fourier features Phi, m x count, with E[Phi Phi^T] = K at the columns' points.

        Counts no entries. The same seed and count give the same features.

        Parameters
        ----------
        seed : int
            From 0 to 2^64 - 1.
        count : int
            Number of features, even.
        w : array_like, (count,) or (count, k)

        Returns
        -------
        Array, (m,) or (m, k)
        """
        backend = self._link.use()
        count = feature_count(count)
        w, vector = matrix(w, "w", count, f"there are {count} features")
        product = backend.features(checked_seed(seed), count, w)
        return product[:, 0] if vector else product

    def features_transposed(self, seed: int, count: int, y: npt.ArrayLike) -> Array:
        """Computes Phi^T y, see `features`.

        Parameters
        ----------
        seed, count : int
        y : array_like, (m,) or (m, k)

        Returns
        -------
        Array, (count,) or (count, k)
        """
        backend = self._link.use()
        count = feature_count(count)
        y, vector = self._input(y, "y", self._m)
        product = backend.features_transposed(checked_seed(seed), count, y)
        return product[:, 0] if vector else product

    def charge(self, entries: int) -> None:
        """Counts kernel entries that the solver uses in products of its own.

        Parameters
        ----------
        entries : int
            A product with an n x m matrix counts n m, for any number of columns, whether its entries are evaluated, kept
            in memory or in single precision. To be called before the product.

        Raises
        ------
        Stop
            If the budget is spent. They are counted even so.
        """
        backend = self._link.use()
        number = int(entries)
        if number != entries or number < 0:
            raise ValueError(f"`entries` must be a whole number that is not negative, not {entries!r}")
        backend.charge(number)

    @property
    def mixed(self) -> Operator:
        """The same matrix with products in mixed precision: about half the time, relative error about 1e-6.

        It counts entries like the other one. Blocks are in double precision.
        """
        return Operator(self._link, self._n, self._m, True)

    @property
    def inputs(self) -> Inputs:
        """Inputs and hyperparameters of A.

        Raises
        ------
        Error
            If there are none, as in ``Problem.from_dense``.
        """
        inputs = self._link.use().inputs()
        if inputs is None:
            raise Error("A has no known inputs here; `Problem.from_inputs` makes a problem that has")
        return inputs

    def linear(self) -> LinearOperator:
        """This operator as a `scipy.sparse.linalg.LinearOperator`. Each product counts n m entries.

        Products with the transpose are there too; for A with inducing points they cost a product more of time, but count
        once.

        Raises
        ------
        ImportError
            If scipy is not installed.
        """
        try:
            from scipy.sparse.linalg import LinearOperator
        except ImportError as error:
            raise ImportError("`Operator.linear` needs scipy: pip install scipy") from error

        def transposed(w: Any) -> Any:
            w = np.asarray(w, dtype=np.float64)
            if self._n == self._m:
                return self.apply(w)  # A is symmetric
            shape = (self._m,) + w.shape[1:]
            z = np.zeros(shape, order="F")

            def put(u: Array) -> None:
                u[...] = w

            self.rows_and_back(slice(None), np.zeros(shape, order="F"), put, z)
            return z

        return LinearOperator(
            shape=self.shape,
            dtype=self.dtype,
            matvec=self.apply,
            matmat=self.apply,
            rmatvec=transposed,
            rmatmat=transposed,
        )


def apart(v: Array, target: Array) -> Array:
    """Returns `v`, or a copy where the output lies in the same memory."""
    return np.array(v, order="F") if np.may_share_memory(v, target) else v


def feature_count(count: int) -> int:
    """Returns a number of features, which must be even and positive."""
    if int(count) != count or count <= 0 or count % 2:
        raise ValueError(f"`count` must be an even number of features, not {count!r}")
    return int(count)


def checked_seed(seed: int) -> int:
    """Returns a seed, which must fit into 64 bits."""
    if int(seed) != seed or not 0 <= seed < 1 << 64:
        raise ValueError(f"`seed` must be a whole number from 0 to 2^64 - 1, not {seed!r}")
    return int(seed)
