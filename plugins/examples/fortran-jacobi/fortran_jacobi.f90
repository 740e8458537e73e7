!> Jacobi's iteration with Chebyshev acceleration: a whole gpbench plugin in Fortran 2018.
!>
!> Jacobi's iteration corrects each unknown by its own residual, x = x + (b - A x) / diag(A). Kernel matrices
!> are far from diagonally dominant, so it diverges as it stands; a step has to be damped by the largest eigenvalue of
!> D^-1 A, D = diag(A). It comes from power iterations, with the upper bound of Collatz and Wielandt: no
!> eigenvalue of a matrix without negative entries exceeds max_i (D^-1 A v)_i / v_i, for any v > 0.
!>
!> With a lower bound as well (the noise variance over the largest diagonal entry), Chebyshev's polynomials give the
!> best sequence of steps (Golub and Varga 1961; in the form of Saad 2003, Algorithm 12.1).
!>
!> Where to begin reading: `describe` at the end, then `solve`. What each function of the interface has to do
!> stands in gpbench.h; the types and the `gpb_...` procedures are those of gpbench.f90.
module fortran_jacobi_plugin
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use gpbench
  implicit none
  private

  !> Relative residual that counts as divergence.
  real(c_double), parameter :: DIVERGENCE = 1e10_c_double

  !> Iterations without a new best residual that count as stagnation.
  integer(c_int64_t), parameter :: PATIENCE = 1000

  !> The solver object, which the host holds as an address.
  type :: jacobi
    type(gpb_host), pointer :: host
    !> Parameters, in the order of `params` below.
    integer(c_int64_t) :: power_iterations
    logical :: chebyshev
    integer(c_int64_t) :: max_iterations
    !> Made by `prepare`: the diagonal of A, and bounds on the eigenvalues of D^-1 A. 0: no lower bound is known.
    real(c_double), allocatable :: diagonal(:, :)
    real(c_double) :: smallest
    real(c_double) :: largest
    !> Made by `solve`. The report points to it, so it is kept until the next call.
    real(c_double), allocatable :: norms(:)
  end type

  !> The description. Everything in it lives until the process ends.
  type(gpb_plugin), target, save :: plugin
  type(gpb_solver), target, save :: solvers(1)
  type(gpb_param), target, save :: params(3)
  type(gpb_str), target, save :: accelerations(2)

contains

  !> Makes a solver. Values come checked against the schema: right kinds, within their ranges.
  function create(host, values, n_values, out) bind(c, name="") result(status)
    type(gpb_host), intent(in), target :: host
    type(gpb_value), intent(in) :: values(*)
    integer(c_int64_t), value :: n_values
    type(c_ptr), intent(out) :: out
    integer(c_int32_t) :: status
    type(jacobi), pointer :: self
    integer :: problem
    if (n_values /= size(params)) then
      status = gpb_fail(host, GPB_STATUS_INVALID_ARGUMENT, "three parameters were expected")
      return
    end if
    allocate (self, stat=problem)
    if (problem /= 0) then
      status = gpb_fail(host, GPB_STATUS_OUT_OF_MEMORY, "no memory for the solver")
      return
    end if
    self%host => host
    self%power_iterations = values(1)%i
    self%chebyshev = gpb_text(values(2)%s) == "chebyshev"
    self%max_iterations = values(3)%i
    out = c_loc(self)
    status = GPB_STATUS_DONE
  end function

  !> Bounds the spectrum. Timed apart from `solve`, but each product counts against the same budget.
  function prepare(solver, problem) bind(c, name="") result(status)
    type(c_ptr), value :: solver
    type(gpb_problem), intent(in) :: problem
    integer(c_int32_t) :: status
    type(jacobi), pointer :: self
    type(gpb_operator), pointer :: op
    type(gpb_inputs), pointer :: inputs
    real(c_double), allocatable :: v(:, :), product(:, :)
    integer(c_int64_t) :: k
    integer :: failed
    call c_f_pointer(solver, self)
    call c_f_pointer(problem%op, op)
    if (op%m /= op%n) then
      status = gpb_fail(self%host, GPB_STATUS_UNSUPPORTED, "A is not square")
      return
    end if
    if (allocated(self%diagonal)) deallocate (self%diagonal)
    allocate (self%diagonal(op%n, 1), v(op%n, 1), product(op%n, 1), stat=failed)
    if (failed /= 0) then
      status = gpb_fail(self%host, GPB_STATUS_OUT_OF_MEMORY, "no memory for three vectors")
      return
    end if
    status = gpb_diag(op, self%diagonal)
    if (status /= GPB_STATUS_DONE) then
      status = gpb_fail(self%host, status, "the diagonal of A could not be had")
      return
    end if
    v = 1
    do k = 1, self%power_iterations
      status = gpb_apply(op, v, product)
      ! The budget does not suffice: not an error.
      if (status == GPB_STATUS_STOPPED) return
      if (status /= GPB_STATUS_DONE) then
        status = gpb_fail(self%host, status, "a product with A failed")
        return
      end if
      product = product/self%diagonal
      if (.not. all(product > 0)) then
        status = gpb_fail(self%host, GPB_STATUS_UNSUPPORTED, &
                          "the bound on the eigenvalues needs a matrix without negative entries")
        return
      end if
      self%largest = maxval(product/v)
      v = product/maxval(product)
    end do
    inputs => gpb_inputs_of(op)
    self%smallest = 0
    if (associated(inputs)) self%smallest = inputs%noise_scale**2/maxval(self%diagonal)
  end function

  function solve(solver, problem, report) bind(c, name="") result(status)
    type(c_ptr), value :: solver
    type(gpb_problem), intent(in) :: problem
    type(gpb_report), intent(inout) :: report
    integer(c_int32_t) :: status
    type(jacobi), pointer :: self
    type(gpb_operator), pointer :: op
    type(gpb_mat), pointer :: mat
    real(c_double), pointer :: b(:, :), x(:, :)
    !> Residual of x, the last step, and the iterate to come.
    real(c_double), allocatable :: r(:, :), d(:, :), y(:, :)
    real(c_double) :: worst, best, center, halfwidth, rho, rho_next
    integer(c_int64_t) :: iteration, best_at
    integer :: failed, j

    call c_f_pointer(solver, self)
    call c_f_pointer(problem%op, op)
    call c_f_pointer(problem%rhs, mat)
    b => gpb_array(mat)
    call c_f_pointer(problem%x, mat)
    x => gpb_array(mat)

    if (allocated(self%norms)) deallocate (self%norms)
    allocate (self%norms(size(b, 2)), stat=failed)
    if (failed == 0) allocate (r, d, y, mold=b, stat=failed)
    if (failed /= 0) then
      status = gpb_fail(self%host, GPB_STATUS_OUT_OF_MEMORY, "no memory for residual, step and iterate")
      return
    end if

    ! The solution to a zero right-hand side is zero.
    do j = 1, size(b, 2)
      if (norm2(b(:, j)) <= 0) x(:, j) = 0
    end do

    ! x holds the start. If it is zero, its residual needs no product.
    r = 0
    status = GPB_STATUS_DONE
    y = x
    if (any(abs(x) > 0)) status = gpb_apply(op, y, r)
    if (status < 0) then
      status = gpb_fail(self%host, status, "a product with A failed")
      return
    end if
    if (status == GPB_STATUS_STOPPED) then
      ! The budget does not suffice for the first residual.
      report%reason = GPB_REASON_STOPPED
      status = GPB_STATUS_DONE
      return
    end if
    r = b - r

    center = (self%largest + self%smallest)/2
    halfwidth = max((self%largest - self%smallest)/2, epsilon(center)*center)
    rho = halfwidth/center
    best = huge(best)
    best_at = 0
    iteration = 0
    do
      worst = measure(problem, b, r, self%norms)
      status = gpb_observe(problem, iteration, self%norms)
      if (status < 0) then
        status = gpb_fail(self%host, status, "`observe` failed")
        return
      end if
      if (worst <= problem%tolerance) then ! without a tolerance, that is 0
        report%reason = GPB_REASON_CONVERGED
        exit
      end if
      if (status == GPB_STATUS_STOPPED) then
        report%reason = GPB_REASON_STOPPED
        exit
      end if
      if (.not. worst <= DIVERGENCE) then
        report%reason = GPB_REASON_DIVERGED
        exit
      end if
      if (worst < best) then
        best = worst
        best_at = iteration
      else if (iteration - best_at >= PATIENCE) then
        report%reason = GPB_REASON_STAGNATED
        exit
      end if
      if (self%max_iterations > 0 .and. iteration >= self%max_iterations) then
        report%reason = GPB_REASON_ITERATIONS
        exit
      end if

      ! The next step d: the residual over D, scaled by Chebyshev's recurrence or by the bound alone.
      do j = 1, size(b, 2)
        y(:, j) = r(:, j)/self%diagonal(:, 1)
      end do
      if (.not. self%chebyshev .or. self%smallest <= 0) then
        d = y/self%largest
      else if (iteration == 0) then
        d = y/center
      else
        rho_next = 1/(2*center/halfwidth - rho)
        d = rho_next*rho*d + (2*rho_next/halfwidth)*y
        rho = rho_next
      end if
      y = x + d
      status = gpb_apply(op, y, r)
      if (status < 0) then
        status = gpb_fail(self%host, status, "a product with A failed")
        return
      end if
      if (status == GPB_STATUS_STOPPED) then
        ! Nothing has changed: x is still the iterate that the norms belong to.
        report%reason = GPB_REASON_STOPPED
        exit
      end if
      r = b - r
      x = y
      iteration = iteration + 1
    end do

    ! The claim is the residual computed from x. The harness computes the true one.
    report%iterations = iteration
    report%claimed = c_loc(self%norms)
    report%n_claimed = size(self%norms)
    status = GPB_STATUS_DONE
  end function

  !> Residual norms relative to the right-hand sides, one a column. The result is the number that is compared
  !> with the tolerance: the largest of the targets or the mean of the probes, whichever is larger; NaN if one of
  !> them is.
  function measure(problem, b, r, norms) result(worst)
    type(gpb_problem), intent(in) :: problem
    real(c_double), intent(in) :: b(:, :), r(:, :)
    real(c_double), intent(out) :: norms(:)
    real(c_double) :: worst, scale
    integer(c_int64_t) :: j, targets
    do j = 1, size(norms)
      norms(j) = norm2(r(:, j))
      scale = norm2(b(:, j))
      if (scale > 0) norms(j) = norms(j)/scale
    end do
    targets = problem%n_targets
    worst = 0
    if (targets > 0) worst = maxval(norms(:targets))
    if (targets < size(norms)) worst = max(worst, sum(norms(targets + 1:))/(size(norms) - targets))
    ! Neither maxval nor max has to keep NaN.
    if (any(ieee_is_nan(norms))) worst = sum(norms)
  end function

  !> Bytes beyond the problem itself, for `gpbench plan`.
  function estimate(solver, n, d, s, bytes) bind(c, name="") result(status)
    type(c_ptr), value :: solver
    integer(c_int64_t), value :: n, d, s
    real(c_double), intent(out) :: bytes
    integer(c_int32_t) :: status
    bytes = 8*3*real(n, c_double)*real(s, c_double)
    status = GPB_STATUS_DONE
  end function

  subroutine destroy(solver) bind(c, name="")
    type(c_ptr), value :: solver
    type(jacobi), pointer :: self
    if (.not. c_associated(solver)) return
    call c_f_pointer(solver, self)
    deallocate (self)
  end subroutine

  !> The function that the host calls first: describes the library.
  function describe(host) bind(c, name="gpbench_plugin_v1") result(description)
    type(gpb_host), intent(in) :: host
    type(c_ptr) :: description
    description = c_null_ptr
    if (host%size < c_sizeof(host)) return

    accelerations = [gpb_permanent("chebyshev"), gpb_permanent("none")]
    params(1)%name = gpb_permanent("power_iterations")
    params(1)%doc = gpb_permanent("Power iterations for the bound on the largest eigenvalue; each costs an epoch")
    params(1)%default_ = whole(10)
    params(1)%min = whole(1)
    params(1)%max = whole(1000)
    params(2)%name = gpb_permanent("acceleration")
    params(2)%doc = gpb_permanent("Whether steps follow Chebyshev's polynomials or are all alike")
    params(2)%default_ = gpb_value(kind=GPB_VALUE_KIND_TEXT, s=accelerations(1))
    params(2)%choices = c_loc(accelerations)
    params(2)%n_choices = size(accelerations)
    params(3)%name = gpb_permanent("max_iterations")
    params(3)%doc = gpb_permanent("Iterations after which to give up; 0 leaves it to the tolerance and the budget")
    params(3)%default_ = whole(0)
    params(3)%min = whole(0)

    solvers(1)%size = c_sizeof(solvers(1))
    solvers(1)%capabilities = GPB_CAPABILITY_WARM_START
    solvers(1)%id = gpb_permanent("fortran-jacobi")
    solvers(1)%doc = gpb_permanent("Jacobi's iteration with Chebyshev acceleration, written in Fortran")
    solvers(1)%params = c_loc(params)
    solvers(1)%n_params = size(params)
    solvers(1)%create = c_funloc(create)
    solvers(1)%prepare = c_funloc(prepare)
    solvers(1)%solve = c_funloc(solve)
    solvers(1)%estimate = c_funloc(estimate)
    solvers(1)%destroy = c_funloc(destroy)
    solvers(1)%source = gpb_permanent("G. H. Golub, R. S. Varga. Chebyshev semi-iterative methods, successive "// &
        "overrelaxation iterative methods, and second order Richardson iterative methods. "// &
        "Numerische Mathematik 3, 1961.")

    plugin%size = c_sizeof(plugin)
    plugin%name = gpb_permanent("fortran-jacobi")
    plugin%version = gpb_permanent("0.1.0")
    plugin%solvers = c_loc(solvers)
    plugin%n_solvers = size(solvers)
    plugin%solver_stride = c_sizeof(solvers(1))
    description = c_loc(plugin)
  end function

  !> A whole number as a parameter's value.
  function whole(number) result(value)
    integer, intent(in) :: number
    type(gpb_value) :: value
    value%kind = GPB_VALUE_KIND_INT
    value%i = number
  end function

end module
