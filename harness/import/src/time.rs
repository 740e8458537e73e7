//! Dates and times, and the numbers that they become.
//!
//! The forms that polars parses are read: dates such as 2020-01-31, 2020/01/31, 31-01-2020 and 31/01/2020 (day first), alone or
//! with a time behind `T` or a blank, and times of day such as 12:30 and 12:30:00.5. A time may end with `Z` or an offset from
//! UTC; without one it counts as of UTC. A date is its first moment. Digits alone are numbers.

use gpbench_record::{ReadOptions, TimeUnit};
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::fault::FileFault;

const SECOND: i128 = 1_000_000_000;

/// What a time is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The calendar, at a place that is not stated.
    Local,
    /// The calendar, at a stated offset from UTC.
    Zoned,
    /// Midnight.
    OfDay,
}

/// A date or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Nanoseconds since the start of 1970 in UTC, or since midnight.
    pub(crate) nanoseconds: i128,
    pub(crate) clock: Clock,
}

/// The date or the time in a cell of text, if it is one.
pub(crate) fn parse(cell: &[u8]) -> Option<Moment> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time.trim_start())),
        None => (text, None),
    };
    let Some(date) = date_of(date) else {
        let nanoseconds = i128::from(time_of_day(text)?);
        return Some(Moment { nanoseconds, clock: Clock::OfDay });
    };
    let since = i128::from(date.duration_since(Date::constant(1970, 1, 1)).as_secs()) * SECOND;
    let Some(time) = time else { return Some(Moment { nanoseconds: since, clock: Clock::Local }) };
    let (time, offset) = offset_of(time)?;
    let nanoseconds = since + i128::from(time_of_day(time)?) - i128::from(offset.unwrap_or(0)) * SECOND;
    Some(Moment { nanoseconds, clock: if offset.is_some() { Clock::Zoned } else { Clock::Local } })
}

/// Year, month and day; or day, month and year.
fn date_of(text: &str) -> Option<Date> {
    let separator = text.chars().find(|c| !c.is_ascii_digit()).filter(|c| "-/.".contains(*c))?;
    let [first, month, last]: [&str; 3] = text.split(separator).collect::<Vec<_>>().try_into().ok()?;
    let (year, day) = if first.len() == 4 { (first, last) } else { (last, first) };
    let number = |text: &str, least: usize, most: usize| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && (least..=most).contains(&text.len())).then(|| text.parse::<i16>().ok()).flatten()
    };
    let (year, month, day) = (number(year, 4, 4)?, number(month, 1, 2)?, number(day, 1, 2)?);
    Date::new(year, month as i8, day as i8).ok()
}

/// Whether a date such as 03/04/2020, which is read day first, may be meant month first; none where that is no other day, and for
/// dates of other forms.
pub(crate) fn may_be_month_first(cell: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    let date = text.split(['T', ' ']).next()?;
    let [day, month, year]: [&str; 3] = date.split(['/', '-']).collect::<Vec<_>>().try_into().ok()?;
    let (day, month): (u8, u8) = (day.parse().ok()?, month.parse().ok()?);
    (year.len() == 4 && day != month).then_some(day <= 12)
}

/// A time and the seconds of its offset from UTC, which it may have.
fn offset_of(text: &str) -> Option<(&str, Option<i64>)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time.trim_end(), Some(0)));
    }
    let Some(place) = text.find(['+', '-']) else { return Some((text, None)) };
    let (time, offset) = text.split_at(place);
    let digits: String = offset[1..].chars().filter(|c| *c != ':').collect();
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part =
        |range: std::ops::Range<usize>| digits.get(range).map_or(Some(0), |text| text.parse::<i64>().ok());
    let (hours, minutes) = (part(0..2)?, part(2..4)?);
    let seconds = 60 * (60 * hours + minutes);
    let is_offset = hours < 24 && minutes < 60;
    is_offset.then(|| (time.trim_end(), Some(if offset.starts_with('-') { -seconds } else { seconds })))
}

/// Nanoseconds since midnight of hours and minutes, with seconds and their fraction or without.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let number = |text: &str| {
        let is_number = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i8>().ok()).flatten()
    };
    let is_fraction = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if parts.next().is_some() || !is_fraction {
        return None;
    }
    let fraction: i32 = format!("{fraction:0<9}").parse().ok()?;
    let time = Time::new(number(hours)?, number(minutes)?, number(seconds)?, fraction).ok()?;
    let since = time.duration_since(Time::midnight());
    Some(since.as_secs() * SECOND as i64 + i64::from(since.subsec_nanos()))
}

/// How times become numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimeScale {
    unit: TimeUnit,
    /// Nanoseconds from the start of 1970 to the time that becomes 0.
    origin: i128,
}

impl TimeScale {
    /// The scale that the options ask for.
    pub(crate) fn new(options: &ReadOptions) -> Result<TimeScale, FileFault> {
        let origin = match &options.time_origin {
            None => 0,
            Some(text) => match parse(text.as_bytes()) {
                Some(Moment { nanoseconds, clock: Clock::Local | Clock::Zoned }) => nanoseconds,
                _ => return Err(FileFault::TimeOrigin { text: text.clone() }),
            },
        };
        Ok(TimeScale { unit: options.time_unit, origin })
    }

    fn nanoseconds(&self) -> i128 {
        i128::from(self.unit.seconds()) * SECOND
    }

    /// The number of a time.
    pub(crate) fn number(&self, Moment { nanoseconds, clock }: Moment) -> f64 {
        let since = if clock == Clock::OfDay { nanoseconds } else { nanoseconds - self.origin };
        let unit = self.nanoseconds();
        // Whole units and their rest each have few digits.
        since.div_euclid(unit) as f64 + since.rem_euclid(unit) as f64 / unit as f64
    }

    /// A time that has become a number, for people, to the second.
    pub(crate) fn text(&self, number: f64, clock: Clock) -> String {
        let seconds = (number * self.unit.seconds() as f64).round() as i128;
        let origin = if clock == Clock::OfDay { 0 } else { self.origin };
        let Ok(timestamp) = Timestamp::from_nanosecond(seconds * SECOND + origin) else {
            return number.to_string();
        };
        let shown = Offset::UTC.to_datetime(timestamp);
        match clock {
            Clock::OfDay => shown.time().to_string(),
            _ if shown.time() == Time::midnight() => shown.date().to_string(),
            _ => shown.to_string().replace('T', " "),
        }
    }

    /// What the numbers are, such as `days since 1970-01-01`.
    pub(crate) fn words(&self, clock: Clock) -> String {
        match clock {
            Clock::OfDay => format!("{} since midnight", self.unit),
            Clock::Local | Clock::Zoned => format!("{} since {}", self.unit, self.text(0.0, clock)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanoseconds(text: &str) -> Option<(i128, Clock)> {
        parse(text.as_bytes()).map(|moment| (moment.nanoseconds, moment.clock))
    }

    #[test]
    fn dates_and_times_are_read() {
        let day = 86_400 * SECOND;
        for (text, expected, clock) in [
            ("1970-01-01", 0, Clock::Local),
            ("1970-01-02", day, Clock::Local),
            ("1970/1/2", day, Clock::Local),
            ("02-01-1970", day, Clock::Local),
            ("02/01/1970", day, Clock::Local),
            ("2.1.1970", day, Clock::Local),
            ("1969-12-31", -day, Clock::Local),
            ("1970-01-02T12:30", day + 45_000 * SECOND, Clock::Local),
            ("1970-01-02 12:30:00", day + 45_000 * SECOND, Clock::Local),
            ("02/01/1970 12:30:00.5", day + 45_000 * SECOND + SECOND / 2, Clock::Local),
            ("1970-01-02T00:00:00Z", day, Clock::Zoned),
            ("1970-01-02T00:00:00+01:00", day - 3600 * SECOND, Clock::Zoned),
            ("1970-01-02 00:00:00-0530", day + 19_800 * SECOND, Clock::Zoned),
            (" 00:01 ", 60 * SECOND, Clock::OfDay),
            ("23:59:59.123456789", day - SECOND + 123_456_789, Clock::OfDay),
        ] {
            assert_eq!(nanoseconds(text), Some((expected, clock)), "{text}");
        }
        for text in [
            "",
            "5",
            "1.5",
            "1.2.3",
            "20200131",
            "2020-13-01",
            "2020-02-30",
            "12/31/2020",
            "31/12/20",
            "2020-01",
            "24:00",
            "12:60",
            "12:30:00:00",
            "2020-01-31T",
            "2020-01-31 noon",
            "2020-01-31 12:30+1",
            "-2020-01-31",
            "12",
            "1-2",
            "2020-01-31 12:30 +é",
            "12:30:00.1234567890",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }

    #[test]
    fn some_dates_may_be_meant_month_first() {
        for (text, expected) in [
            ("03/04/2020", Some(true)),
            (" 3-4-2020 12:30", Some(true)),
            ("13/04/2020", Some(false)),
            ("04/04/2020", None),
            ("2020-04-03", None),
            ("2020/04/03T12:30", None),
            ("3.4.2020", None),
            ("12:30", None),
            ("1.5", None),
        ] {
            assert_eq!(may_be_month_first(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn times_become_numbers_in_a_unit_from_an_origin() {
        let scale = |time_unit, origin: Option<&str>| {
            let time_origin = origin.map(str::to_owned);
            TimeScale::new(&ReadOptions { time_unit, time_origin, ..ReadOptions::default() })
        };
        let of = |scale: &TimeScale, text: &str| scale.number(parse(text.as_bytes()).unwrap());
        let days = scale(TimeUnit::Days, None).unwrap();
        assert_eq!(of(&days, "1970-01-02 12:00"), 1.5);
        assert_eq!(of(&days, "1969-12-31 18:00"), -0.25);
        assert_eq!(days.words(Clock::Local), "days since 1970-01-01");
        let hours = scale(TimeUnit::Hours, Some("2020-01-01 06:00")).unwrap();
        assert_eq!(of(&hours, "2020-01-02"), 18.0);
        assert_eq!(of(&hours, "06:00"), 6.0, "a time of day has no origin");
        assert_eq!(hours.words(Clock::Zoned), "hours since 2020-01-01 06:00:00");
        assert_eq!(hours.words(Clock::OfDay), "hours since midnight");
        assert_eq!(
            (hours.text(18.0, Clock::Local), hours.text(6.5, Clock::OfDay)),
            ("2020-01-02".into(), "06:30:00".into())
        );
        let error = scale(TimeUnit::Days, Some("12:30")).unwrap_err().to_string();
        assert_eq!(
            error,
            "`time_origin` is `12:30`, which is no date; write one such as 2020-01-31 or 2020-01-31 12:00"
        );
    }
}
