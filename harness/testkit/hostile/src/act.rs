//! The list of acts.

use gpbench_sdk::choices;

choices! {
    /// What to do.
    pub enum Act {
        /// Solve, like any other solver.
        SolveWell = "solve_well",

        /// Panic in `solve`.
        Panic = "panic",
        /// Panic in `prepare`.
        PanicInPrepare = "panic_in_prepare",
        /// Panic in a thread that holds a lock, then in the one that wants it.
        PanicInThread = "panic_in_thread",
        /// Call abort.
        Abort = "abort",
        /// Write through a null pointer.
        Segfault = "segfault",
        /// Recurse without end.
        StackOverflow = "stack_overflow",
        /// Exit with status 0.
        Exit0 = "exit0",
        /// Exit while the solver is destroyed, after solving.
        ExitInDestroy = "exit_in_destroy",
        /// Loop forever.
        Hang = "hang",
        /// Sleep forever.
        Sleep = "sleep",
        /// Stop the process, as job control would.
        StopProcess = "stop_process",
        /// Continue for a while after the request to stop, then solve.
        IgnoreStop = "ignore_stop",
        /// Continue forever after the request to stop.
        IgnoreStopForEver = "ignore_stop_for_ever",

        /// Leave NaN as the solution.
        Nan = "nan",
        /// Leave infinity as the solution.
        Infinite = "infinite",
        /// Leave zero as the solution and claim convergence.
        Lie = "lie",
        /// Report impossible numbers after solving.
        WrongReport = "wrong_report",
        /// Return a status that no version has.
        UnknownStatus = "unknown_status",
        /// Return an error.
        Error = "error",
        /// Set the right-hand sides to zero, then solve.
        WriteRhs = "write_rhs",
        /// Move the inputs after solving.
        WriteInputs = "write_inputs",
        /// Return an error of escape sequences, HTML and Markdown, after logging the same.
        ForeignText = "foreign_text",

        /// Take memory without end.
        Allocate = "allocate",
        /// Take four gigabytes in four threads, as fast as the system gives them.
        AllocateFast = "allocate_fast",
        /// Take memory without end in a child.
        AllocateInChild = "allocate_in_child",
        /// Take memory without end in a daemon with an empty environment.
        AllocateInDaemon = "allocate_in_daemon",
        /// Fill a file that has no name and is not mapped.
        AllocateMemfd = "allocate_memfd",
        /// Have four children fill a quarter each of one shared mapping.
        AllocateShared = "allocate_shared",
        /// End the main thread, and take memory in another one.
        AllocateWithoutLeader = "allocate_without_leader",

        /// End the main thread, and loop forever in another one.
        HangWithoutLeader = "hang_without_leader",
        /// Leave a child that holds standard output open, and exit.
        ForkHold = "fork_hold",
        /// Leave a child in a session of its own, and hang.
        ForkAndHang = "fork_and_hang",
        /// Leave a grandchild in a session of its own that outlives the process, then solve.
        Escape = "escape",
        /// Leave a daemon with an empty environment that outlives the process, then solve.
        EscapeUnmarked = "escape_unmarked",
        /// Burn processor time in a child, and wait for it.
        BurnInChild = "burn_in_child",
        /// Burn processor time in a daemon with an empty environment, and sleep for a while.
        BurnInDaemon = "burn_in_daemon",
        /// Fork children that sleep until the system refuses, then solve.
        ExhaustProcesses = "exhaust_processes",
        /// Start threads that sleep, a thousand or until the system refuses, then solve.
        ExhaustThreads = "exhaust_threads",

        /// Write lines that look like records to standard output, then solve.
        PrintStdout = "print_stdout",
        /// Close standard output, then solve.
        CloseStdout = "close_stdout",
        /// Close every descriptor, then solve.
        CloseAll = "close_all",
        /// Write into every descriptor there is, then solve.
        WriteAll = "write_all",
        /// Write eight megabytes to standard output and as many to standard error, then solve.
        Flood = "flood",
        /// Write forged points of the trace into the channel to the engine without end.
        ForgeTrace = "forge_trace",
        /// Write a forged result into the channel to the engine, and exit.
        ForgeResult = "forge_result",
        /// Open files until the system refuses, then solve.
        ExhaustDescriptors = "exhaust_descriptors",

        /// Set the limit on the size of files to 0, then solve.
        RefuseBytes = "refuse_bytes",
        /// Set the limits on memory, files, descriptors and processes to 0, then solve.
        ZeroLimits = "zero_limits",
        /// Change to another working folder, then solve.
        ChangeFolder = "change_folder",
        /// Unlink the files in `/dev/shm` that belong to plugins' tests, then solve.
        UnlinkShm = "unlink_shm",

        /// Make a folder where its solution file is to be, then solve.
        BlockSolution = "block_solution",
        /// Cut the solution file while the solver is destroyed, the first time.
        CutSolution = "cut_solution",
        /// Remove the folder of solution files, the first time, then solve.
        RemoveScratch = "remove_scratch",
        /// Remove its checkpoint, then solve.
        RemoveCheckpoint = "remove_checkpoint",
        /// Cut its checkpoint, then solve.
        CutCheckpoint = "cut_checkpoint",
        /// Remove the exact references, the first time, then solve.
        RemoveExact = "remove_exact",
        /// Cut the exact references, the first time, then solve.
        CutExact = "cut_exact",
        /// Remove the copies of data sets, the first time, then solve.
        RemoveData = "remove_data",
        /// Cut the copies of data sets, the first time, then solve.
        CutData = "cut_data",
        /// Change the last byte of its own library in place, the first time, then solve.
        OverwriteLibrary = "overwrite_library",

        /// Send SIGKILL to itself.
        KillSelf = "kill_self",
        /// Send SIGKILL to two other children of its parent, the first time, then solve.
        KillSiblings = "kill_siblings",
        /// Send SIGKILL to its parent.
        KillParent = "kill_parent",
    }
}

impl Act {
    /// Whether the act is done only once where a folder for marks is given.
    pub(crate) fn is_done_once(self) -> bool {
        use Act::{
            CutData, CutExact, CutSolution, KillSiblings, OverwriteLibrary, RemoveData, RemoveExact,
            RemoveScratch,
        };
        let once = [
            CutSolution,
            RemoveScratch,
            RemoveExact,
            CutExact,
            RemoveData,
            CutData,
            OverwriteLibrary,
            KillSiblings,
        ];
        once.contains(&self)
    }
}
