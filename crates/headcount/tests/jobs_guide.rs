//! The guide to durable jobs, held against what files may have.

#![cfg(feature = "config")]

use headcount::config::{Config, Registry};

const GUIDE: &str = include_str!("../../../docs/jobs.md");

#[test]
fn the_files_of_the_guide_are_right() {
    let mut queues = 0;
    for block in GUIDE.split("```yaml\n").skip(1) {
        let text = block.split("```").next().expect("a block ends");
        let config = Config::parse("guide.yaml", text, &Registry::new());
        let config = config.unwrap_or_else(|report| panic!("{report}\n{text}"));
        queues += config.jobs.queues.len();
        #[cfg(feature = "handlers")]
        for handler in config.jobs.queues.iter().flat_map(|queue| &queue.handlers) {
            handler.handler().expect("it can run here");
        }
    }
    assert!(7 <= queues, "{queues} queues");
}

#[test]
fn every_link_of_the_guide_leads_to_a_heading() {
    let heading = |title: &str| {
        let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-';
        title.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-")
    };
    let titles = GUIDE.lines().filter_map(|line| line.strip_prefix("## "));
    let headings: Vec<String> = titles.map(heading).collect();
    let links: Vec<&str> =
        GUIDE.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(8 < links.len(), "{} links", links.len());
    for link in links {
        assert!(headings.iter().any(|heading| heading == link), "{link}");
    }
}
