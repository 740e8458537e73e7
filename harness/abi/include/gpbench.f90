!> The C interface between gpbench and its solver plugins, for Fortran 2018.
!>
!> Types and constants mirror gpbench.h, where every field and function is documented; a test of gpbench-abi compares
!> the two. Function pointers are `type(c_funptr)`: the host's become callable by `c_f_procpointer` with one of
!> the interfaces below, and a plugin's own are put into a table by `c_funloc`. After the tables come
!> procedures for the most common calls.
module gpbench
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> Values of GpbStatus. Negative ones are errors, and need a text, see `gpb_fail`.
  integer(c_int32_t), parameter :: GPB_STATUS_DONE = 0
  integer(c_int32_t), parameter :: GPB_STATUS_STOPPED = 1
  integer(c_int32_t), parameter :: GPB_STATUS_ITERATE = 2
  integer(c_int32_t), parameter :: GPB_STATUS_ERROR = -1
  integer(c_int32_t), parameter :: GPB_STATUS_INVALID_ARGUMENT = -2
  integer(c_int32_t), parameter :: GPB_STATUS_OUT_OF_MEMORY = -3
  integer(c_int32_t), parameter :: GPB_STATUS_NOT_POSITIVE_DEFINITE = -4
  integer(c_int32_t), parameter :: GPB_STATUS_UNSUPPORTED = -5
  integer(c_int32_t), parameter :: GPB_STATUS_PANIC = -6

  !> Levels of a line in the log, see `gpb_log`.
  integer(c_int32_t), parameter :: GPB_LOG_LEVEL_WARNING = 1
  integer(c_int32_t), parameter :: GPB_LOG_LEVEL_INFO = 2
  integer(c_int32_t), parameter :: GPB_LOG_LEVEL_DEBUG = 3

  !> Bits of a solver's or learner's capabilities.
  integer(c_int64_t), parameter :: GPB_CAPABILITY_EXACT = 1
  integer(c_int64_t), parameter :: GPB_CAPABILITY_RANDOMIZED = 2
  integer(c_int64_t), parameter :: GPB_CAPABILITY_WARM_START = 4
  integer(c_int64_t), parameter :: GPB_CAPABILITY_BLAS_THREADS = 8
  integer(c_int64_t), parameter :: GPB_CAPABILITY_DENSE = 16
  integer(c_int64_t), parameter :: GPB_CAPABILITY_INDUCING = 32
  integer(c_int64_t), parameter :: GPB_CAPABILITY_NETWORK = 64
  integer(c_int64_t), parameter :: GPB_CAPABILITY_FINITE = 128
  integer(c_int64_t), parameter :: GPB_CAPABILITY_KERNEL = 256
  integer(c_int64_t), parameter :: GPB_CAPABILITY_MEAN = 512

  !> Kinds of a parameter's value.
  integer(c_int32_t), parameter :: GPB_VALUE_KIND_NONE = 0
  integer(c_int32_t), parameter :: GPB_VALUE_KIND_BOOL = 1
  integer(c_int32_t), parameter :: GPB_VALUE_KIND_INT = 2
  integer(c_int32_t), parameter :: GPB_VALUE_KIND_FLOAT = 3
  integer(c_int32_t), parameter :: GPB_VALUE_KIND_TEXT = 4

  !> Why a solve ended.
  integer(c_int32_t), parameter :: GPB_REASON_CONVERGED = 0
  integer(c_int32_t), parameter :: GPB_REASON_STOPPED = 1
  integer(c_int32_t), parameter :: GPB_REASON_ITERATIONS = 2
  integer(c_int32_t), parameter :: GPB_REASON_STAGNATED = 3
  integer(c_int32_t), parameter :: GPB_REASON_DIVERGED = 4

  !> Kernel families of GpbInputs.
  integer(c_int32_t), parameter :: GPB_FAMILY_RBF = 1
  integer(c_int32_t), parameter :: GPB_FAMILY_MATERN12 = 2
  integer(c_int32_t), parameter :: GPB_FAMILY_MATERN32 = 3
  integer(c_int32_t), parameter :: GPB_FAMILY_MATERN52 = 4
  integer(c_int32_t), parameter :: GPB_FAMILY_LINEAR = 5

  !> Bits of a fit's flags.
  integer(c_int64_t), parameter :: GPB_FIT_FLAG_SHARED_LENGTH_SCALE = 1
  integer(c_int64_t), parameter :: GPB_FIT_FLAG_TRAINED_MEAN = 2

  !> Bits of the number of a stream of batches.
  integer(c_int32_t), parameter :: GPB_STREAM_SAME_EACH_PASS = 536870912
  integer(c_int32_t), parameter :: GPB_STREAM_INDEPENDENT = 1073741824

  !> Activations of a network.
  integer(c_int32_t), parameter :: GPB_ACTIVATION_RELU = 1

  !> Kinds of models.
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_GP = 1
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_INDUCING = 2
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_FEATURES = 3
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_NETWORK_GP = 4
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_NETWORK_INDUCING = 5
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_EXPERTS = 6
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_NEIGHBOURS = 7
  integer(c_int32_t), parameter :: GPB_MODEL_KIND_ACTIONS = 8

  !> The interface's minor version that this module mirrors.
  integer(c_int32_t), parameter :: GPB_MINOR = 5

  !> Ids of the extensions.
  character(len=*), parameter :: GPB_ID_ROWS = "gpbench.rows/1"
  character(len=*), parameter :: GPB_ID_COLUMNS = "gpbench.columns/1"
  character(len=*), parameter :: GPB_ID_BLOCK = "gpbench.block/1"
  character(len=*), parameter :: GPB_ID_INPUTS = "gpbench.inputs/1"
  character(len=*), parameter :: GPB_ID_FEATURES = "gpbench.features/1"
  character(len=*), parameter :: GPB_ID_MIXED = "gpbench.mixed/1"
  character(len=*), parameter :: GPB_ID_TARGETS = "gpbench.targets/1"
  character(len=*), parameter :: GPB_ID_STATE = "gpbench.state/1"
  character(len=*), parameter :: GPB_ID_VOLATILE = "gpbench.volatile/1"
  character(len=*), parameter :: GPB_ID_TRACE = "gpbench.trace/1"
  character(len=*), parameter :: GPB_ID_FIT_TRACE = "gpbench.fit-trace/1"
  character(len=*), parameter :: GPB_ID_PARALLEL_FOR = "gpbench.parallel_for/1"
  character(len=*), parameter :: GPB_ID_SCRIPT = "gpbench.script/1"
  character(len=*), parameter :: GPB_ID_PROCESS = "gpbench.process/1"
  character(len=*), parameter :: GPB_ID_PARTS = "gpbench.parts/1"

  type, bind(c) :: gpb_str
    type(c_ptr) :: ptr = c_null_ptr
    integer(c_int64_t) :: len = 0
  end type

  type, bind(c) :: gpb_mat
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: rows = 0
    integer(c_int64_t) :: cols = 0
    integer(c_int64_t) :: ld = 0
  end type

  type, bind(c) :: gpb_value
    integer(c_int32_t) :: kind = GPB_VALUE_KIND_NONE
    integer(c_int32_t) :: reserved = 0
    integer(c_int64_t) :: i = 0
    real(c_double) :: f = 0
    type(gpb_str) :: s
  end type

  type, bind(c) :: gpb_param
    type(gpb_str) :: name
    type(gpb_str) :: doc
    type(gpb_value) :: default_
    type(gpb_value) :: min
    type(gpb_value) :: max
    type(c_ptr) :: choices = c_null_ptr
    integer(c_int64_t) :: n_choices = 0
  end type

  type, bind(c) :: gpb_host
    integer(c_int32_t) :: size
    integer(c_int32_t) :: minor
    type(c_ptr) :: ctx
    type(c_funptr) :: set_error
    type(c_funptr) :: log
    type(c_funptr) :: extension
  end type

  type, bind(c) :: gpb_operator
    integer(c_int32_t) :: size
    integer(c_int32_t) :: flags
    type(c_ptr) :: ctx
    integer(c_int64_t) :: n
    integer(c_int64_t) :: m
    type(c_funptr) :: apply
    type(c_funptr) :: diag
    type(c_funptr) :: charge
    type(c_funptr) :: extension
  end type

  type, bind(c) :: gpb_problem
    integer(c_int32_t) :: size
    integer(c_int32_t) :: threads
    integer(c_int64_t) :: seed
    real(c_double) :: tolerance
    real(c_double) :: max_epochs
    type(c_ptr) :: op
    type(c_ptr) :: rhs
    type(c_ptr) :: x
    integer(c_int64_t) :: n_targets
    type(c_ptr) :: ctx
    type(c_funptr) :: observe
    type(c_funptr) :: extension
  end type

  type, bind(c) :: gpb_report
    integer(c_int32_t) :: size
    integer(c_int32_t) :: reason
    integer(c_int64_t) :: iterations
    type(c_ptr) :: claimed
    integer(c_int64_t) :: n_claimed
    type(c_ptr) :: names
    type(c_ptr) :: values
    integer(c_int64_t) :: n_values
  end type

  type, bind(c) :: gpb_facts
    type(gpb_str) :: step
    type(gpb_str) :: memory
    type(gpb_str) :: guarantees
    type(gpb_str) :: advice
  end type

  type, bind(c) :: gpb_solver
    integer(c_int32_t) :: size = 0
    integer(c_int32_t) :: reserved = 0
    integer(c_int64_t) :: capabilities = 0
    type(gpb_str) :: id
    type(gpb_str) :: doc
    type(c_ptr) :: params = c_null_ptr
    integer(c_int64_t) :: n_params = 0
    type(c_funptr) :: create = c_null_funptr
    type(c_funptr) :: prepare = c_null_funptr
    type(c_funptr) :: solve = c_null_funptr
    type(c_funptr) :: estimate = c_null_funptr
    type(c_funptr) :: destroy = c_null_funptr
    type(gpb_str) :: source
    type(c_funptr) :: warm_up = c_null_funptr
    type(gpb_facts) :: facts
  end type

  type, bind(c) :: gpb_learner
    integer(c_int32_t) :: size = 0
    integer(c_int32_t) :: reserved = 0
    integer(c_int64_t) :: capabilities = 0
    type(gpb_str) :: id
    type(gpb_str) :: doc
    type(c_ptr) :: params = c_null_ptr
    integer(c_int64_t) :: n_params = 0
    type(gpb_str) :: source
    type(c_funptr) :: create = c_null_funptr
    type(c_funptr) :: begin = c_null_funptr
    type(c_funptr) :: fit = c_null_funptr
    type(c_funptr) :: predict = c_null_funptr
    type(c_funptr) :: model = c_null_funptr
    type(c_funptr) :: save = c_null_funptr
    type(c_funptr) :: load = c_null_funptr
    type(c_funptr) :: estimate = c_null_funptr
    type(c_funptr) :: destroy = c_null_funptr
    type(c_funptr) :: warm_up = c_null_funptr
    type(gpb_facts) :: facts
  end type

  type, bind(c) :: gpb_plugin
    integer(c_int32_t) :: size = 0
    integer(c_int32_t) :: minor = GPB_MINOR
    type(gpb_str) :: name
    type(gpb_str) :: version
    type(c_ptr) :: solvers = c_null_ptr
    integer(c_int64_t) :: n_solvers = 0
    integer(c_int64_t) :: solver_stride = 0
    type(c_ptr) :: learners = c_null_ptr
    integer(c_int64_t) :: n_learners = 0
    integer(c_int64_t) :: learner_stride = 0
    type(c_ptr) :: parts = c_null_ptr
    integer(c_int64_t) :: n_parts = 0
    integer(c_int64_t) :: part_stride = 0
  end type

  type, bind(c) :: gpb_shape
    integer(c_int32_t) :: size
    integer(c_int32_t) :: family
    integer(c_int64_t) :: n
    integer(c_int64_t) :: m
    integer(c_int64_t) :: d
    integer(c_int64_t) :: s
    integer(c_int32_t) :: threads
    integer(c_int32_t) :: reserved
    integer(c_int64_t) :: batch
  end type

  type, bind(c) :: gpb_rows
    integer(c_int32_t) :: size
    integer(c_int32_t) :: reserved
    type(c_funptr) :: apply
    type(c_funptr) :: fused
  end type

  type, bind(c) :: gpb_columns
    integer(c_int32_t) :: size
    integer(c_int32_t) :: reserved
    type(c_funptr) :: update
  end type

  type, bind(c) :: gpb_block
    integer(c_int32_t) :: size
    integer(c_int32_t) :: reserved
    type(c_funptr) :: get
  end type

  type, bind(c) :: gpb_inputs
    integer(c_int32_t) :: size
    integer(c_int32_t) :: family
    type(gpb_mat) :: x
    type(gpb_mat) :: basis
    real(c_double) :: signal_scale
    real(c_double) :: noise_scale
    type(c_ptr) :: length_scale
    type(c_ptr) :: scales
  end type

  type, bind(c) :: gpb_fit
    integer(c_int32_t) :: size
    integer(c_int32_t) :: threads
    integer(c_int64_t) :: seed
    type(c_ptr) :: inputs
    type(c_ptr) :: y
    real(c_double) :: mean
    integer(c_int64_t) :: flags
    type(c_ptr) :: network
    real(c_double) :: passes
    type(c_ptr) :: ctx
    type(c_funptr) :: batch
    type(c_funptr) :: charge
    type(c_funptr) :: observe
    type(c_funptr) :: extension
  end type

  type, bind(c) :: gpb_network
    integer(c_int32_t) :: size
    integer(c_int32_t) :: activation
    type(c_ptr) :: widths
    integer(c_int64_t) :: n_widths
    integer(c_int64_t) :: random
  end type

  type, bind(c) :: gpb_store
    integer(c_int32_t) :: size
    integer(c_int32_t) :: reserved
    type(c_ptr) :: ctx
    type(c_funptr) :: put
    type(c_funptr) :: get
  end type

  !> The host's functions.
  abstract interface
    subroutine gpb_set_error_fn(host, status, text) bind(c)
      import :: gpb_host, gpb_str, c_int32_t
      type(gpb_host), intent(in) :: host
      integer(c_int32_t), value :: status
      type(gpb_str), intent(in) :: text
    end subroutine

    subroutine gpb_log_fn(host, level, text) bind(c)
      import :: gpb_host, gpb_str, c_int32_t
      type(gpb_host), intent(in) :: host
      integer(c_int32_t), value :: level
      type(gpb_str), intent(in) :: text
    end subroutine

    !> `extension` of host, operator and problem alike; `object` is the address of the table asked.
    function gpb_extension_fn(object, id) bind(c) result(found)
      import :: c_ptr, gpb_str
      type(c_ptr), value :: object
      type(gpb_str), intent(in) :: id
      type(c_ptr) :: found
    end function

    function gpb_apply_fn(op, x, y) bind(c) result(status)
      import :: gpb_operator, gpb_mat, c_int32_t
      type(gpb_operator), intent(in) :: op
      type(gpb_mat), intent(in) :: x
      type(gpb_mat), intent(inout) :: y
      integer(c_int32_t) :: status
    end function

    function gpb_diag_fn(op, out) bind(c) result(status)
      import :: gpb_operator, gpb_mat, c_int32_t
      type(gpb_operator), intent(in) :: op
      type(gpb_mat), intent(inout) :: out
      integer(c_int32_t) :: status
    end function

    function gpb_charge_fn(op, entries) bind(c) result(status)
      import :: gpb_operator, c_int32_t, c_int64_t
      type(gpb_operator), intent(in) :: op
      integer(c_int64_t), value :: entries
      integer(c_int32_t) :: status
    end function

    function gpb_observe_fn(problem, iteration, norms, n_norms) bind(c) result(status)
      import :: gpb_problem, c_int32_t, c_int64_t, c_double
      type(gpb_problem), intent(in) :: problem
      integer(c_int64_t), value :: iteration
      real(c_double), intent(in) :: norms(*)
      integer(c_int64_t), value :: n_norms
      integer(c_int32_t) :: status
    end function

    !> `gpb_rows%apply`. Indices count from 0.
    function gpb_rows_apply_fn(op, rows, n_rows, x, y) bind(c) result(status)
      import :: gpb_operator, gpb_mat, c_int32_t, c_int64_t
      type(gpb_operator), intent(in) :: op
      integer(c_int64_t), intent(in) :: rows(*)
      integer(c_int64_t), value :: n_rows
      type(gpb_mat), intent(in) :: x
      type(gpb_mat), intent(inout) :: y
      integer(c_int32_t) :: status
    end function

    !> `gpb_columns%update`. Indices count from 0.
    function gpb_columns_update_fn(op, cols, n_cols, x, y) bind(c) result(status)
      import :: gpb_operator, gpb_mat, c_int32_t, c_int64_t
      type(gpb_operator), intent(in) :: op
      integer(c_int64_t), intent(in) :: cols(*)
      integer(c_int64_t), value :: n_cols
      type(gpb_mat), intent(in) :: x
      type(gpb_mat), intent(inout) :: y
      integer(c_int32_t) :: status
    end function

    !> `gpb_block%get`. Indices count from 0.
    function gpb_block_get_fn(op, rows, n_rows, cols, n_cols, out) bind(c) result(status)
      import :: gpb_operator, gpb_mat, c_int32_t, c_int64_t
      type(gpb_operator), intent(in) :: op
      integer(c_int64_t), intent(in) :: rows(*)
      integer(c_int64_t), value :: n_rows
      integer(c_int64_t), intent(in) :: cols(*)
      integer(c_int64_t), value :: n_cols
      type(gpb_mat), intent(inout) :: out
      integer(c_int32_t) :: status
    end function

    !> `gpb_fit%batch`. Rows count from 0.
    function gpb_batch_fn(fit, stream, rows, want, got) bind(c) result(status)
      import :: gpb_fit, c_int32_t, c_int64_t
      type(gpb_fit), intent(in) :: fit
      integer(c_int32_t), value :: stream
      integer(c_int64_t), intent(inout) :: rows(*)
      integer(c_int64_t), value :: want
      integer(c_int64_t), intent(out) :: got
      integer(c_int32_t) :: status
    end function

    !> `gpb_fit%charge`.
    function gpb_fit_charge_fn(fit, rows, entries, features) bind(c) result(status)
      import :: gpb_fit, c_int32_t, c_int64_t
      type(gpb_fit), intent(in) :: fit
      integer(c_int64_t), value :: rows, entries, features
      integer(c_int32_t) :: status
    end function

    !> `gpb_fit%observe`.
    function gpb_fit_observe_fn(fit, step, objective) bind(c) result(status)
      import :: gpb_fit, c_int32_t, c_int64_t, c_double
      type(gpb_fit), intent(in) :: fit
      integer(c_int64_t), value :: step
      real(c_double), value :: objective
      integer(c_int32_t) :: status
    end function

    function gpb_put_fn(store, name, value) bind(c) result(status)
      import :: gpb_store, gpb_str, gpb_mat, c_int32_t
      type(gpb_store), intent(in) :: store
      type(gpb_str), intent(in) :: name
      type(gpb_mat), intent(in) :: value
      integer(c_int32_t) :: status
    end function

    function gpb_get_fn(store, name, out, capacity, rows, cols) bind(c) result(status)
      import :: gpb_store, gpb_str, c_int32_t, c_int64_t, c_double
      type(gpb_store), intent(in) :: store
      type(gpb_str), intent(in) :: name
      real(c_double), intent(inout) :: out(*)
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: rows, cols
      integer(c_int32_t) :: status
    end function
  end interface

contains

  !> A text that lives until the process ends: for descriptions.
  function gpb_permanent(text) result(str)
    character(len=*), intent(in) :: text
    type(gpb_str) :: str
    character(kind=c_char), pointer :: bytes(:)
    integer :: k
    allocate (bytes(len(text)))
    do k = 1, len(text)
      bytes(k) = text(k:k)
    end do
    str = gpb_str(c_loc(bytes), len(text))
  end function

  !> The text that a `gpb_str` points to.
  function gpb_text(str) result(text)
    type(gpb_str), intent(in) :: str
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer :: k
    call c_f_pointer(str%ptr, bytes, [str%len])
    allocate (character(len=str%len) :: text)
    do k = 1, len(text)
      text(k:k) = bytes(k)
    end do
  end function

  !> A matrix as an array of its shape, in place. Nothing is copied, whatever the leading dimension.
  function gpb_array(mat) result(array)
    type(gpb_mat), intent(in) :: mat
    real(c_double), pointer :: array(:, :)
    real(c_double), pointer :: whole(:, :)
    call c_f_pointer(mat%data, whole, [mat%ld, mat%cols])
    array => whole(1:mat%rows, :)
  end function

  !> A whole array as a matrix, in place.
  function gpb_matrix(array) result(mat)
    real(c_double), intent(in), target, contiguous :: array(:, :)
    type(gpb_mat) :: mat
    mat%data = c_loc(array)
    mat%rows = size(array, 1, c_int64_t)
    mat%cols = size(array, 2, c_int64_t)
    mat%ld = mat%rows
  end function

  !> Reports why a call returns `status`, and returns it.
  function gpb_fail(host, status, why) result(same)
    type(gpb_host), intent(in) :: host
    integer(c_int32_t), intent(in) :: status
    character(len=*), intent(in) :: why
    integer(c_int32_t) :: same
    procedure(gpb_set_error_fn), pointer :: set_error
    character(len=len(why), kind=c_char), target :: text
    text = why
    call c_f_procpointer(host%set_error, set_error)
    call set_error(host, status, gpb_str(c_loc(text), len(why)))
    same = status
  end function

  !> Writes a line to the case's log.
  subroutine gpb_log(host, level, line)
    type(gpb_host), intent(in) :: host
    integer(c_int32_t), intent(in) :: level
    character(len=*), intent(in) :: line
    procedure(gpb_log_fn), pointer :: log
    character(len=len(line), kind=c_char), target :: text
    text = line
    call c_f_procpointer(host%log, log)
    call log(host, level, gpb_str(c_loc(text), len(line)))
  end subroutine

  !> y = A x. Counts a whole epoch, whatever the number of columns.
  function gpb_apply(op, x, y) result(status)
    type(gpb_operator), intent(in) :: op
    real(c_double), intent(in), target, contiguous :: x(:, :)
    real(c_double), intent(inout), target, contiguous :: y(:, :)
    integer(c_int32_t) :: status
    procedure(gpb_apply_fn), pointer :: apply
    type(gpb_mat) :: product
    call c_f_procpointer(op%apply, apply)
    product = gpb_matrix(y)
    status = apply(op, gpb_matrix(x), product)
  end function

  !> The diagonal of A, n x 1. Counts nothing.
  function gpb_diag(op, diagonal) result(status)
    type(gpb_operator), intent(in) :: op
    real(c_double), intent(inout), target, contiguous :: diagonal(:, :)
    integer(c_int32_t) :: status
    procedure(gpb_diag_fn), pointer :: diag
    type(gpb_mat) :: out
    call c_f_procpointer(op%diag, diag)
    out = gpb_matrix(diagonal)
    status = diag(op, out)
  end function

  !> What A is made of; null if the host lacks the extension.
  function gpb_inputs_of(op) result(inputs)
    type(gpb_operator), intent(in), target :: op
    type(gpb_inputs), pointer :: inputs
    procedure(gpb_extension_fn), pointer :: extension
    character(len=len(GPB_ID_INPUTS), kind=c_char), target :: id
    type(c_ptr) :: found
    nullify (inputs)
    id = GPB_ID_INPUTS
    call c_f_procpointer(op%extension, extension)
    found = extension(c_loc(op), gpb_str(c_loc(id), len(id)))
    if (c_associated(found)) call c_f_pointer(found, inputs)
  end function

  !> Reports an iteration, whose iterate is in `x`, with one relative residual norm a column. A host that asks for the
  !> iterate is called again at once.
  function gpb_observe(problem, iteration, norms) result(status)
    type(gpb_problem), intent(in) :: problem
    integer(c_int64_t), intent(in) :: iteration
    real(c_double), intent(in) :: norms(:)
    integer(c_int32_t) :: status
    procedure(gpb_observe_fn), pointer :: observe
    call c_f_procpointer(problem%observe, observe)
    status = observe(problem, iteration, norms, size(norms, kind=c_int64_t))
    if (status == GPB_STATUS_ITERATE) status = observe(problem, iteration, norms, size(norms, kind=c_int64_t))
  end function

  !> The next rows of a stream of batches, which count from 0: the first `got` entries of `rows`.
  function gpb_batch(fit, stream, rows, got) result(status)
    type(gpb_fit), intent(in) :: fit
    integer(c_int32_t), intent(in) :: stream
    integer(c_int64_t), intent(inout) :: rows(:)
    integer(c_int64_t), intent(out) :: got
    integer(c_int32_t) :: status
    procedure(gpb_batch_fn), pointer :: batch
    call c_f_procpointer(fit%batch, batch)
    got = 0
    status = batch(fit, stream, rows, size(rows, kind=c_int64_t), got)
  end function

  !> Reports a step, counted from 1, and its objective.
  function gpb_observe_step(fit, step, objective) result(status)
    type(gpb_fit), intent(in) :: fit
    integer(c_int64_t), intent(in) :: step
    real(c_double), intent(in) :: objective
    integer(c_int32_t) :: status
    procedure(gpb_fit_observe_fn), pointer :: observe
    call c_f_procpointer(fit%observe, observe)
    status = observe(fit, step, objective)
  end function

  !> Puts a matrix into a store under a name.
  function gpb_put(store, name, values) result(status)
    type(gpb_store), intent(in) :: store
    character(len=*), intent(in) :: name
    real(c_double), intent(in), target, contiguous :: values(:, :)
    integer(c_int32_t) :: status
    procedure(gpb_put_fn), pointer :: put
    character(len=len(name), kind=c_char), target :: text
    text = name
    call c_f_procpointer(store%put, put)
    status = put(store, gpb_str(c_loc(text), len(name)), gpb_matrix(values))
  end function

end module
