//! Checked views of a plugin's matrices, index arrays and texts.

use std::ops::Range;

use gpbench_abi::{Mat, Str};
use ndarray::{ArrayView2, ArrayViewMut2, ShapeBuilder};

/// Longest text that a plugin may pass, in bytes.
const MAX_TEXT: i64 = 1 << 20;

/// Required number of rows or columns of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent {
    /// Exactly this number.
    Exactly(usize),
    /// Any number.
    Any,
}

impl Extent {
    fn admits(self, len: i64) -> bool {
        match self {
            Extent::Exactly(wanted) => usize::try_from(len) == Ok(wanted),
            Extent::Any => len >= 0,
        }
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extent::Exactly(len) => write!(f, "{len}"),
            Extent::Any => f.write_str("any number"),
        }
    }
}

/// A matrix whose shape has been checked: rows, columns, leading dimension, data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checked {
    data: *mut f64,
    rows: usize,
    cols: usize,
    ld: usize,
}

impl Checked {
    /// Checks the matrix behind `mat`, called `name` in errors.
    ///
    /// # Safety
    /// `mat` is null or points to a `Mat`.
    pub(crate) unsafe fn new(
        mat: *const Mat,
        name: &str,
        rows: Extent,
        cols: Extent,
    ) -> Result<Checked, String> {
        // SAFETY: null or valid, by this function's contract.
        let mat = *unsafe { mat.as_ref() }.ok_or_else(|| format!("`{name}` is a null pointer"))?;
        let Mat { data, rows: found_rows, cols: found_cols, ld } = mat;
        if !rows.admits(found_rows) || !cols.admits(found_cols) {
            return Err(format!("`{name}` is {found_rows} x {found_cols}, where {rows} x {cols} is needed"));
        }
        if ld < found_rows {
            return Err(format!("`{name}` has leading dimension {ld} but {found_rows} rows"));
        }
        let bytes = ld.checked_mul(found_cols).and_then(|entries| entries.checked_mul(8));
        if bytes.is_none_or(|bytes| isize::try_from(bytes).is_err()) {
            return Err(format!(
                "`{name}` with {found_cols} columns at a distance of {ld} exceeds any memory"
            ));
        }
        let empty = found_rows == 0 || found_cols == 0;
        if !empty && (data.is_null() || !data.is_aligned()) {
            return Err(format!("`{name}` has {} data", if data.is_null() { "null" } else { "misaligned" }));
        }
        let data = if empty { std::ptr::NonNull::dangling().as_ptr() } else { data };
        Ok(Checked { data, rows: found_rows as usize, cols: found_cols as usize, ld: ld.max(1) as usize })
    }

    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Range of addresses from the first entry to the end of the last.
    fn span(&self) -> Range<usize> {
        let start = self.data as usize;
        if self.rows == 0 || self.cols == 0 {
            return start..start;
        }
        start..start + 8 * ((self.cols - 1) * self.ld + self.rows)
    }

    /// Whether the two matrices share memory.
    fn overlaps(self, other: Checked) -> bool {
        let (a, b) = (self.span(), other.span());
        if a.end <= b.start || b.end <= a.start {
            return false;
        }
        // Parts of the rows of one matrix interleave: each column has its place in the stretch
        // between two columns.
        let stretch = 8 * self.ld;
        let at = (b.start + stretch - a.start % stretch) % stretch;
        let apart = 8 * self.rows <= at && at + 8 * other.rows <= stretch;
        self.ld != other.ld || !apart
    }

    /// # Safety
    /// The memory that the matrix names is initialised and stays unwritten for `'a`.
    pub(crate) unsafe fn view<'a>(self) -> ArrayView2<'a, f64> {
        let shape = (self.rows, self.cols).strides((1, self.ld));
        // SAFETY: aligned, within isize::MAX bytes and with strides that visit each entry once, as
        // checked; readable by this function's contract.
        unsafe { ArrayView2::from_shape_ptr(shape, self.data) }
    }

    /// # Safety
    /// The memory that the matrix names is initialised and not accessed otherwise for `'a`.
    pub(crate) unsafe fn view_mut<'a>(self) -> ArrayViewMut2<'a, f64> {
        let shape = (self.rows, self.cols).strides((1, self.ld));
        // SAFETY: as in `view`; writable by this function's contract.
        unsafe { ArrayViewMut2::from_shape_ptr(shape, self.data) }
    }
}

/// The argument x, with `rows_x` rows, and the result y of a product, with `rows_y` rows and the same number of
/// columns. They share no memory.
///
/// # Safety
/// As for [`Checked::new`], for both.
pub(crate) unsafe fn product(
    (x, name_x, rows_x): (*const Mat, &str, usize),
    (y, name_y, rows_y): (*const Mat, &str, usize),
) -> Result<(Checked, Checked), String> {
    // SAFETY: by this function's contract.
    let (x, y) = unsafe {
        let x = Checked::new(x, name_x, Extent::Exactly(rows_x), Extent::Any)?;
        (x, Checked::new(y, name_y, Extent::Exactly(rows_y), Extent::Exactly(x.cols()))?)
    };
    disjoint(&[(name_x, x), (name_y, y)])?;
    Ok((x, y))
}

/// A column-major array as a matrix of the interface.
pub(crate) fn mat(array: ArrayView2<f64>) -> Mat {
    let (rows, cols) = array.dim();
    // With one column or none, or empty columns, the array has no distance of its own.
    let distance = if rows == 0 || cols <= 1 { rows as isize } else { array.strides()[1] };
    let by_columns = rows <= 1 || array.strides()[0] == 1;
    assert!(by_columns && distance >= rows as isize, "matrices of the interface are column-major");
    Mat { data: array.as_ptr().cast_mut(), rows: rows as i64, cols: cols as i64, ld: distance as i64 }
}

/// Refuses the matrices if two of them share memory.
pub(crate) fn disjoint(matrices: &[(&str, Checked)]) -> Result<(), String> {
    for (i, (name, matrix)) in matrices.iter().enumerate() {
        for (other_name, other) in &matrices[i + 1..] {
            if matrix.overlaps(*other) {
                return Err(format!("`{name}` and `{other_name}` overlap"));
            }
        }
    }
    Ok(())
}

/// Indices below `bound`; a null array means all of them.
///
/// # Safety
/// `indices` is null or points to `count` integers.
pub(crate) unsafe fn indices(
    indices: *const i64,
    count: i64,
    bound: usize,
    name: &str,
) -> Result<Vec<usize>, String> {
    if indices.is_null() {
        return Ok((0..bound).collect());
    }
    let len = usize::try_from(count).ok().filter(|&len| len <= isize::MAX as usize / 8);
    let len = len.ok_or_else(|| format!("`{name}` has {count} indices"))?;
    if !indices.is_aligned() {
        return Err(format!("`{name}` is a misaligned array"));
    }
    // SAFETY: not null, aligned, of a size that fits, and valid by this function's contract.
    let indices = unsafe { std::slice::from_raw_parts(indices, len) };
    let checked = indices.iter().map(|&index| {
        let index_below = usize::try_from(index).ok().filter(|&index| index < bound);
        index_below.ok_or_else(|| format!("`{name}` holds the index {index}, which is not in 0..{bound}"))
    });
    checked.collect()
}

/// `len` numbers; none if `len` is 0, for any pointer.
///
/// # Safety
/// `data` is null or points to `len` numbers.
pub(crate) unsafe fn numbers(data: *const f64, len: i64, max: usize, name: &str) -> Result<Vec<f64>, String> {
    let count = usize::try_from(len).ok().filter(|&count| count <= max);
    let count = count.ok_or_else(|| format!("`{name}` has {len} numbers, at most {max} are possible"))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if data.is_null() || !data.is_aligned() {
        return Err(format!("`{name}` is a null or misaligned pointer but has {count} numbers"));
    }
    // SAFETY: not null, aligned, small, and valid by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(data, count) }.to_vec())
}

/// A copy of `len` bytes; none if `len` is 0, for any pointer.
///
/// # Safety
/// `data` is null or points to `len` bytes.
pub(crate) unsafe fn bytes(data: *const u8, len: i64, name: &str) -> Result<Vec<u8>, String> {
    let count = isize::try_from(len).ok().and_then(|len| usize::try_from(len).ok());
    let count = count.ok_or_else(|| format!("`{name}` has a length of {len} bytes"))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if data.is_null() {
        return Err(format!("`{name}` is a null pointer but has {count} bytes"));
    }
    // SAFETY: not null, no longer than a slice may be, and valid by this function's contract.
    Ok(unsafe { std::slice::from_raw_parts(data, count) }.to_vec())
}

/// A copy of the text behind a pointer, called `name` in errors.
///
/// # Safety
/// `text` is null or points to a text, whose pointer is null or points to as many bytes as it says.
pub(crate) unsafe fn text_at(text: *const Str, name: &str) -> Result<String, String> {
    // SAFETY: by this function's contract.
    unsafe { self::text(*text.as_ref().ok_or_else(|| format!("{name} is a null pointer"))?, name) }
}

/// A copy of a text.
///
/// # Safety
/// If `text.ptr` is not null it points to `text.len` bytes.
pub(crate) unsafe fn text(text: Str, name: &str) -> Result<String, String> {
    match text.len {
        0 => return Ok(String::new()),
        1..=MAX_TEXT => {}
        len => return Err(format!("{name} has a length of {len} bytes")),
    }
    if text.ptr.is_null() {
        return Err(format!("{name} is a null pointer"));
    }
    // SAFETY: not null and, by this function's contract, as long as it says.
    let bytes = unsafe { std::slice::from_raw_parts(text.ptr.cast::<u8>(), text.len as usize) };
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mat(data: &mut [f64], rows: i64, cols: i64, ld: i64) -> Mat {
        Mat { data: data.as_mut_ptr(), rows, cols, ld }
    }

    fn error(mat: Mat, rows: Extent, cols: Extent) -> String {
        // SAFETY: a valid reference.
        unsafe { Checked::new(&mat, "x", rows, cols) }.unwrap_err()
    }

    #[test]
    fn leading_dimensions_are_followed() {
        let mut data = [1.0, 2.0, 9.0, 3.0, 4.0, 9.0];
        let mat = mat(&mut data, 2, 2, 3);
        // SAFETY: the matrix lies within `data`.
        let view = unsafe { Checked::new(&mat, "x", Extent::Exactly(2), Extent::Any).unwrap().view() };
        assert_eq!(view, ndarray::array![[1.0, 3.0], [2.0, 4.0]]);
    }

    #[test]
    fn faults_of_a_matrix_are_named() {
        let mut data = [0.0; 6];
        let any = Extent::Any;
        assert_eq!(
            error(mat(&mut data, 3, 2, 3), Extent::Exactly(4), any),
            "`x` is 3 x 2, where 4 x any number is needed"
        );
        assert_eq!(error(mat(&mut data, 3, 2, 2), any, any), "`x` has leading dimension 2 but 3 rows");
        assert!(error(mat(&mut data, -1, 2, 2), any, any).starts_with("`x` is -1 x 2"));
        assert!(error(mat(&mut data, 1, i64::MAX, 1 << 40), any, any).ends_with("exceeds any memory"));
        let null = Mat { data: std::ptr::null_mut(), rows: 1, cols: 1, ld: 1 };
        assert_eq!(error(null, any, any), "`x` has null data");
        let crooked = Mat { data: (data.as_mut_ptr() as usize + 1) as *mut f64, rows: 1, cols: 1, ld: 1 };
        assert_eq!(error(crooked, any, any), "`x` has misaligned data");
        // SAFETY: null is allowed.
        let nothing = unsafe { Checked::new(std::ptr::null(), "x", any, any) };
        assert_eq!(nothing.unwrap_err(), "`x` is a null pointer");
        let empty = Mat { data: std::ptr::null_mut(), rows: 0, cols: 3, ld: 0 };
        // SAFETY: an empty matrix names no memory.
        assert_eq!(unsafe { Checked::new(&empty, "x", any, any).unwrap().view() }.dim(), (0, 3));
    }

    #[test]
    fn every_shape_is_accepted_or_refused() {
        let mut data = [0.0; 4];
        let odd = (data.as_mut_ptr() as usize + 1) as *mut f64;
        let pointers = [data.as_mut_ptr(), odd, std::ptr::null_mut()];
        let sizes =
            [i64::MIN, -1, 0, 1, 2, 3, 1 << 20, 1 << 31, 1 << 32, 1 << 60, 1 << 62, i64::MAX - 1, i64::MAX];
        let (mut tried, mut taken) = (0, Vec::new());
        for data in pointers {
            let pairs = sizes.iter().flat_map(|rows| sizes.iter().map(move |cols| (*rows, *cols)));
            let shapes: Vec<_> = pairs.flat_map(|(rows, cols)| sizes.map(|ld| (rows, cols, ld))).collect();
            for (rows, cols, ld) in shapes {
                tried += 1;
                let mat = Mat { data, rows, cols, ld };
                // SAFETY: a valid reference; what its pointer points to is not read.
                match unsafe { Checked::new(&mat, "x", Extent::Any, Extent::Any) } {
                    Ok(matrix) => {
                        let bytes = matrix.span().len();
                        assert!(
                            bytes <= isize::MAX as usize && (bytes == 0 || data == pointers[0]),
                            "{mat:?}"
                        );
                        taken.push(matrix);
                    }
                    Err(what) => assert!(what.starts_with("`x` "), "{what}"),
                }
            }
        }
        for (a, b) in taken.iter().flat_map(|a| taken.iter().map(move |b| (*a, *b))) {
            assert_eq!(a.overlaps(b), b.overlaps(a));
        }
        eprintln!("{tried} shapes tried, {} accepted", taken.len());
        assert!(taken.len() > 100 && taken.len() < tried / 2);
    }

    #[test]
    fn overlap_is_noticed_and_neighbourhood_allowed() {
        let mut data = [0.0; 8];
        let part = |at: usize, data: &mut [f64]| {
            let mat = mat(&mut data[at..], 2, 2, 2);
            // SAFETY: a valid reference.
            unsafe { Checked::new(&mat, "x", Extent::Any, Extent::Any) }.unwrap()
        };
        let (a, b, c) = (part(0, &mut data), part(3, &mut data), part(4, &mut data));
        assert_eq!(disjoint(&[("a", a), ("b", b)]).unwrap_err(), "`a` and `b` overlap");
        assert!(disjoint(&[("a", a), ("c", c)]).is_ok());
    }

    #[test]
    fn rows_of_one_matrix_do_not_overlap() {
        let mut data = [0.0; 20];
        let part = |at: usize, rows: i64, ld: i64, data: &mut [f64]| {
            let mat = mat(&mut data[at..], rows, 3, ld);
            // SAFETY: a valid reference.
            unsafe { Checked::new(&mat, "x", Extent::Any, Extent::Any) }.unwrap()
        };
        let (upper, lower) = (part(0, 2, 5, &mut data), part(2, 3, 5, &mut data));
        assert!(!upper.overlaps(lower) && !lower.overlaps(upper));
        let (middle, other) = (part(1, 2, 5, &mut data), part(2, 3, 6, &mut data));
        assert!(upper.overlaps(middle) && middle.overlaps(upper));
        assert!(upper.overlaps(other) && other.overlaps(upper));
        // The next column on: row 4 of one column, then rows 0 and 1 of the next.
        let wrapped = part(4, 2, 5, &mut data);
        assert!(upper.overlaps(wrapped) && wrapped.overlaps(upper));
    }

    #[test]
    fn indices_are_checked() {
        let list = [0, 2, 1];
        // SAFETY: pointers to as many integers as said, or null.
        unsafe {
            assert_eq!(indices(list.as_ptr(), 3, 3, "rows").unwrap(), [0, 2, 1]);
            assert_eq!(indices(std::ptr::null(), -7, 2, "rows").unwrap(), [0, 1]);
            let error = indices(list.as_ptr(), 3, 2, "rows").unwrap_err();
            assert_eq!(error, "`rows` holds the index 2, which is not in 0..2");
            assert_eq!(indices(list.as_ptr(), -1, 2, "rows").unwrap_err(), "`rows` has -1 indices");
        }
    }

    #[test]
    fn texts_are_checked() {
        let bad = [0xff_u8, 0xfe];
        let bad = Str { ptr: bad.as_ptr().cast(), len: 2 };
        // SAFETY: pointers to as many bytes as said, or null.
        unsafe {
            assert_eq!(text(Str::new("Matérn"), "its name").unwrap(), "Matérn");
            assert_eq!(text(bad, "its name").unwrap_err(), "its name is not UTF-8");
            let null = Str { ptr: std::ptr::null(), len: 4 };
            assert_eq!(text(null, "its name").unwrap_err(), "its name is a null pointer");
            let negative = Str { len: -4, ..null };
            assert_eq!(text(negative, "its name").unwrap_err(), "its name has a length of -4 bytes");
        }
    }
}
