//! Handlers as a file has them.

use std::sync::Arc;
use std::time::Duration;

use headcount_queue::Handler;

use super::error::HandlerError;
#[cfg(unix)]
use super::exec::Exec;
use super::http::Http;
use crate::config::{ExecConfig, HandlerConfig, HandlerRun, HttpConfig};

impl HandlerConfig {
    /// What the file says, ready to run jobs.
    ///
    /// ```
    /// use headcount::config::{Config, Registry};
    ///
    /// let text = "queues: {a: {handlers: {tidy: {exec: [find, /var/cache/shop, -delete]}}}}";
    /// let config = Config::parse("jobs.yaml", text, &Registry::new()).expect("no fault");
    /// let handler = config.jobs.queues[0].handlers[0].handler();
    /// assert!(handler.is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// When it cannot run here at all: a service that cannot be called, a program where there are
    /// no process groups.
    pub fn handler(&self) -> Result<Arc<dyn Handler>, HandlerError> {
        match &self.run {
            HandlerRun::Exec(exec) => program(exec, self.timeout),
            HandlerRun::Http(http) => Ok(Arc::new(service(http, self.timeout)?)),
        }
    }
}

#[cfg(unix)]
fn program(
    config: &ExecConfig,
    timeout: Option<Duration>,
) -> Result<Arc<dyn Handler>, HandlerError> {
    let Some((program, arguments)) = config.program.split_first() else {
        let why = "a program is needed, such as [convert, -]".to_owned();
        return Err(HandlerError::Target(String::new(), why));
    };
    let mut exec = Exec::new(program, arguments)
        .dead_codes(config.dead_codes.iter().copied())
        .snooze(config.snooze)
        .grace(config.grace);
    for (name, value) in &config.env {
        exec = exec.env(name, value);
    }
    if let Some(dir) = &config.dir {
        exec = exec.dir(dir);
    }
    if let Some(timeout) = timeout {
        exec = exec.timeout(timeout);
    }
    Ok(Arc::new(exec))
}

#[cfg(not(unix))]
fn program(config: &ExecConfig, _: Option<Duration>) -> Result<Arc<dyn Handler>, HandlerError> {
    let why = "programs run jobs on Unix only".to_owned();
    Err(HandlerError::Target(config.program.join(" "), why))
}

fn service(config: &HttpConfig, timeout: Option<Duration>) -> Result<Http, HandlerError> {
    let mut http = Http::new(&config.url)?;
    for (name, value) in &config.headers {
        http = http.header(name, value)?;
    }
    Ok(match timeout {
        Some(timeout) => http.timeout(timeout),
        None => http,
    })
}
