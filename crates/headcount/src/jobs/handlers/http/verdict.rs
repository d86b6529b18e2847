//! What follows from how a service answered.

use std::time::{Duration, SystemTime};

use headcount_queue::JobError;
use hyper::StatusCode;

/// The longest wait that a service can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 3600);

/// What follows from a status; `wait` is what the service asked for, `words` what it said.
pub(super) fn verdict(
    status: StatusCode,
    wait: Option<Duration>,
    words: &str,
) -> Result<(), JobError> {
    if status.is_success() {
        return Ok(());
    }
    let why = match words.is_empty() {
        true => format!("answered {status}"),
        false => format!("answered {status}: {words}"),
    };
    let is_final = status.is_client_error()
        && !matches!(
            status,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
        );
    Err(match (is_final, wait) {
        (true, _) => JobError::dead(why),
        (false, Some(wait)) => JobError::retry_after(wait.min(RETRY_AFTER_MAX)).because(why),
        (false, None) => JobError::failed(why),
    })
}

/// How long a service wants to be left alone: seconds, or a date.
pub(super) fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(header).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, wait: Option<u64>, expected: &str) {
        let status = StatusCode::from_u16(status).expect("a status");
        let told = match verdict(status, wait.map(Duration::from_secs), "oh") {
            Ok(()) => "done".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn the_status_decides() {
        check(200, None, "done");
        check(204, None, "done");
        // A redirect is a mistake of the configuration, and the job outlives its mending.
        check(301, None, "JobError(Retry: answered 301 Moved Permanently: oh)");
        check(400, None, "JobError(Dead: answered 400 Bad Request: oh)");
        check(408, None, "JobError(Retry: answered 408 Request Timeout: oh)");
        check(410, None, "JobError(Dead: answered 410 Gone: oh)");
        check(425, None, "JobError(Retry: answered 425 Too Early: oh)");
        check(429, Some(7), "JobError(RetryAfter(7s): answered 429 Too Many Requests: oh)");
        check(500, None, "JobError(Retry: answered 500 Internal Server Error: oh)");
        let day = "JobError(RetryAfter(86400s): answered 503 Service Unavailable: oh)";
        check(503, Some(u64::MAX), day);
    }

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let wait = |header| retry_after(header, now).map(|wait| wait.as_secs());
        assert_eq!(wait(" 120 "), Some(120));
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(wait("Sun, 06 Nov 1994 08:40:37 GMT"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }
}
